"""The gate between training and answering: a candidate passes it, waits for a person, or fails."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.jobs.context import JobContext
from app.jobs.executors.local import LocalExecutor
from app.services.studio import Studio
from app.settings import Settings
from storage import models
from storage.artifacts import ArtifactStore
from storage.records import DatasetVersionRecord, ModelVersionRecord, ProjectRecord


@dataclass(frozen=True, slots=True)
class Gate:
    """What became of a candidate at the gate.

    Attributes:
        beaten: The champion that it was compared with; None where there was none.
        promote: Whether it may answer at once.
        reasons: Why, or why not, in sentences.
    """

    beaten: ModelVersionRecord | None
    promote: bool
    reasons: tuple[str, ...]

    def opens_for(self, champion: ModelVersionRecord | None) -> bool:
        """Whether to promote, now that this one is champion; a person may have changed it."""
        if champion is None:
            return True
        return self.promote and self.beaten is not None and self.beaten.id == champion.id


def judge_candidate(
    context: JobContext,
    data: tuple[ProjectRecord, DatasetVersionRecord],
    pipeline: Any,
    metrics: Mapping[str, Any],
) -> Gate:
    """Compare a fresh pipeline with the champion, in the child process that trained it.

    Args:
        context: Of the job; its payload says whether the gate may promote.
        data: The project, and the dataset version that was learned from.
        pipeline: The candidate.
        metrics: Its figures.
    """
    from app.services.comparing import Contender, compare_contenders, gate, names_since
    from app.services.comparing import stored_contender as stored

    project, version = data
    with context.database.read() as connection:
        champion = models.champion(connection, project.id)
        names = names_since(connection, project.id, version.id)
    if champion is None:
        return Gate(None, promote=True, reasons=("It is the first version.",))
    candidate = Contender("the candidate", metrics, names, lambda: pipeline)
    studio = _studio(context)
    found = compare_contenders(
        studio, project.name, candidate, stored(studio, project.name, champion.number)
    )
    verdict = gate(found)
    if not context.job.payload.get("gate", True):
        return Gate(champion, promote=False, reasons=(*verdict.reasons, "A person decides."))
    return Gate(champion, verdict.promote, verdict.reasons)


def _studio(context: JobContext) -> Studio:
    places = context.places
    return Studio(
        settings=Settings(home=places.home),
        places=places,
        database=context.database,
        artifacts=ArtifactStore(places.artifacts),
        executor=LocalExecutor(places),
    )
