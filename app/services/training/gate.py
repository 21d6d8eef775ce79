"""The gate between training and answering: promote a candidate, or let a person decide."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.services.answering.as_project import fenced, signals_of
from app.services.studio import Studio
from core.errors import ArtifactDamaged
from core.pipeline import IntentPipeline
from storage import models, projects
from storage.log import versions
from storage.records import DatasetVersionRecord, ModelVersionRecord, ProjectRecord


@dataclass(frozen=True, slots=True)
class Gate:
    """Whether a candidate may answer at once, why, and the champion that it was compared with."""

    beaten: ModelVersionRecord | None
    promote: bool
    reasons: tuple[str, ...]

    def opens_for(self, champion: ModelVersionRecord | None) -> bool:
        """Whether to promote, given the current champion, which a person may have changed since."""
        same = (self.beaten and self.beaten.id) == (champion and champion.id)
        return self.promote and same


def judge_candidate(
    studio: Studio,
    project: ProjectRecord,
    version: DatasetVersionRecord,
    pipeline: IntentPipeline,
    facts: Mapping[str, Any],
    *,
    may_promote: bool,
) -> Gate:
    """Compare a new pipeline with the champion, in the child process that trained it.

    `version` is the dataset version that it learned from; `facts` hold its metrics and the pins
    that it breaks. Both answer with the project's limits for out of scope, as they would in use.
    Unless `may_promote`, a person decides.
    """
    from app.services.versions.comparison import Contender, compare_contenders, gate, names_since
    from app.services.versions.comparison import stored_contender as stored

    with studio.database.read() as connection:
        champion = models.champion(connection, project.id)
        names = names_since(connection, project.id, version.id)
        fence = projects.get(connection, project.id).fence  # a person may have set it meanwhile
        ids = versions.intent_ids_at(connection, project.id, version.revision)
    if champion is None:
        return _first(facts)
    candidate = Contender(
        "the candidate",
        facts["metrics"],
        names,
        lambda: _as_in_use(pipeline, fence, ids),
        version.sha256,
    )
    try:
        found = compare_contenders(
            studio, project.name, candidate, stored(studio, project.name, champion.number)
        )
    except ArtifactDamaged as error:
        return _instead_of_damaged(champion, facts, error.message, may_promote=may_promote)
    verdict = gate(found)
    if not may_promote:
        return Gate(champion, promote=False, reasons=(*verdict.reasons, "A person decides."))
    return Gate(champion, verdict.promote, verdict.reasons)


def _as_in_use(
    pipeline: IntentPipeline, fence: Mapping[str, Any] | None, ids: Mapping[str, str]
) -> IntentPipeline:
    """Apply a project's fence; `ids` holds the intents' ids by the names that were learned."""
    if fence is None:
        return pipeline
    columns = [ids.get(name, "") for name in pipeline.head.intents]
    return fenced(pipeline, columns, fence, lambda: signals_of(pipeline))


def _instead_of_damaged(
    champion: ModelVersionRecord, facts: Mapping[str, Any], damage: str, *, may_promote: bool
) -> Gate:
    """Judge a version by the pins alone, since the champion cannot answer."""
    alone = _first(facts)
    broken = alone.reasons if not alone.promote else ()
    asks = () if may_promote else ("A person decides.",)
    return Gate(champion, alone.promote and may_promote, (damage, *broken, *asks))


def _first(facts: Mapping[str, Any]) -> Gate:
    """Judge a first version by the pins alone, since there is no champion."""
    broken = facts["pins"]["broken"]
    reasons = [f"It breaks the pin '{pin['text']}'." for pin in broken]
    return Gate(None, not broken, tuple(reasons) or ("It is the first version.",))
