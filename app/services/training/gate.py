"""The gate between training and answering: promote a candidate, or let a person decide."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from app.services.answering.as_project import read_now, signals_of, with_names_and_fence
from app.services.answering.pinned import broken_by, open_pins
from app.services.answering.stored import called_now, columns_of
from app.services.studio import Studio
from core.errors import ArtifactDamaged
from core.pipeline import IntentPipeline
from storage import models, projects
from storage.log import versions
from storage.queries import dataset
from storage.records import DatasetVersionRecord, ModelVersionRecord, ProjectRecord

if TYPE_CHECKING:
    from app.services.versions.comparison import Contender


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

    def left_to_a_person(self) -> "Gate":
        """Return one that promotes nothing, whatever it found."""
        if not self.promote:
            return self
        return replace(self, promote=False, reasons=(*self.reasons, "A person decides."))


def as_it_would_answer(
    studio: Studio,
    project: ProjectRecord,
    version: DatasetVersionRecord,
    trained: IntentPipeline,
) -> IntentPipeline:
    """Return a new pipeline as it would answer: with the names and limits that the project has now.

    `version` is the dataset version that it learned from.
    """
    with studio.database.read() as connection:
        now = read_now(connection, projects.get(connection, project.id), None)
        ids = versions.intent_ids_at(connection, project.id, version.revision)
    columns = columns_of(trained, ids)
    present = called_now(trained, columns, now.names)
    return with_names_and_fence(now, present, columns, lambda: signals_of(trained))


def judge_pins(
    studio: Studio,
    project: ProjectRecord,
    version: DatasetVersionRecord,
    answering: IntentPipeline,
) -> dict[str, Any]:
    """Test the pins whose intents were there when the data were frozen; others are ignored."""
    with studio.database.read() as connection:
        frozen = set(versions.intent_ids_at(connection, project.id, version.revision).values())
        intents = dataset.open_intents(connection, project.id)
        names = {one.name for key, one in intents.items() if key in frozen}
        pins = [pin for pin in open_pins(connection, project.id) if names.issuperset(pin.names)]
    if not pins:
        return {"kept": 0, "broken": []}
    answers = [one.decision for one in answering.predict([pin.text for pin in pins])]
    found = broken_by(pins, answers, answering.task)
    broken = [
        {"text": pin.text, "expected": list(pin.names), "answer": list(answer.intents)}
        for pin, answer in zip(pins, answers, strict=True)
        if pin in found
    ]
    return {"kept": len(pins) - len(broken), "broken": broken}


def judge_candidate(
    studio: Studio,
    project: ProjectRecord,
    version: DatasetVersionRecord,
    answering: IntentPipeline,
    facts: Mapping[str, Any],
    *,
    may_promote: bool,
) -> Gate:
    """Compare a new pipeline with the champion, in the child process that trained it.

    `version` is the dataset version that it learned from, whose labels vote in the champion, too;
    `answering` is how it would answer in use; `facts` hold its metrics and the pins that it breaks.
    Unless `may_promote`, a person decides which of the two to use; a first version needs no such
    decision.
    """
    from app.services.versions.comparison import Contender, compare_contenders, gate

    with studio.database.read() as connection:
        champion = models.champion(connection, project.id)
    if champion is None:
        return _first(facts)
    candidate = Contender("the candidate", facts["metrics"], lambda: answering, version.sha256)
    try:
        answers = _in_use(studio, project, champion, version)
        found = compare_contenders(studio, project.name, candidate, answers)
    except ArtifactDamaged as error:
        return _instead_of_damaged(champion, facts, error.message, may_promote=may_promote)
    verdict = gate(found)
    if not may_promote:
        return Gate(champion, promote=False, reasons=(*verdict.reasons, "A person decides."))
    return Gate(champion, verdict.promote, verdict.reasons)


def _in_use(
    studio: Studio,
    project: ProjectRecord,
    champion: ModelVersionRecord,
    version: DatasetVersionRecord,
) -> "Contender":
    """Return a version to compare, as it answers in use, with the labels of a dataset version.

    It is compared as it was trained where so many labels vote that joining them takes long.
    """
    from app.services.live.catching_up import is_large
    from app.services.live.models import LiveModels
    from app.services.versions.comparison import stored_contender

    stored = stored_contender(studio, project.name, champion.number)
    if is_large(champion):
        return stored
    opened = LiveModels(studio).as_champion(project.name, champion.number, version.revision)
    if opened is None:
        return stored
    pipeline = opened[1].pipeline
    return replace(stored, open=lambda: pipeline)


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
