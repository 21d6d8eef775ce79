"""How a project lets a model answer: silent intents by their names, and scope by its fence."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from app.services.answering.opened import Space, open_space, require_pipeline
from app.services.studio import Studio
from core.calibration.calibration import Calibration
from core.errors import InvalidInput
from core.pipeline import IntentPipeline
from core.types import Intent, Method
from storage.database import Transaction
from storage.log import events, versions
from storage.queries import dataset
from storage.records import ModelVersionRecord, ProjectRecord

if TYPE_CHECKING:
    from core.calibration.fence_units import ExemplarSignals
    from core.intent_names import NameCache

_FEWEST = 2


@dataclass(frozen=True, slots=True)
class ProjectNow:
    """What decides a project's answers, read in one transaction.

    Attributes:
        project: The project, with its fence and its revision.
        version: The model version that is asked; None where there is none.
        intents: The intents that may be answered, by id.
        names: Name of every intent by id; of archived intents, too.
    """

    project: ProjectRecord
    version: ModelVersionRecord | None
    intents: Mapping[str, Intent]
    names: Mapping[str, str]


def read_now(
    connection: Transaction, project: ProjectRecord, version: ModelVersionRecord | None
) -> ProjectNow:
    """Read what decides the answers of a project by one of its versions."""
    records = dataset.intents(connection, project.id)
    intents = {r.id: Intent(r.name, r.description) for r in records if not r.archived}
    return ProjectNow(project, version, intents, {r.id: r.name for r in records})


def answer_as_project(
    studio: Studio,
    now: ProjectNow,
    pipeline: IntentPipeline,
    columns: Sequence[str],
    cache: "NameCache | None" = None,
) -> IntentPipeline:
    """Let a model version answer as its project does.

    Intents without an exemplar are answered by their names, beside the votes. Where a text may
    have several intents they are not: a name alone would join answers that are complete without.

    Args:
        studio: The studio.
        now: The project and the version.
        pipeline: The version as it was trained, or with labels that have joined since.
        columns: Intent id of each score column, "" where the project has no such intent.
        cache: Embedded names of earlier calls.
    """
    from core.intent_names import answer_by_name

    if now.version is None or pipeline.task == "multi-label":
        return pipeline
    brought: frozenset[str] = frozenset()
    if now.version.lineage.get("imported"):  # such names speak as they did where it was made
        pairs = zip(pipeline.head.intents, columns, strict=True)
        brought = frozenset(name for name, key in pairs if not key)
    asked = list(now.intents.values())
    head = answer_by_name(pipeline.head, pipeline.encoder, asked, cache, brought)
    ids = {intent.name: key for key, intent in now.intents.items()}
    wide = [*columns, *(ids[name] for name in head.intents[len(columns) :])]
    space = Space(now.project, now.version)
    named = replace(pipeline, head=head)
    return fenced(named, wide, now.project.fence, lambda: exemplar_signals(studio, space))


def answer_by_names_alone(
    studio: Studio, now: ProjectNow, cache: "NameCache | None" = None
) -> IntentPipeline | None:
    """Answer with the nearest intent name where a project has no model.

    None where it has one, where a text may have several intents, or with fewer than two intents.
    """
    if now.version is not None or now.project.task == "multi-label" or len(now.intents) < _FEWEST:
        return None
    from core.intent_names import names_alone

    encoder = open_space(studio, Space(now.project, None)).encoder
    pipeline = names_alone(encoder, list(now.intents.values()), cache)
    return replace(pipeline, model_version=f"{now.project.name}, names alone")


def fenced(
    pipeline: IntentPipeline,
    columns: Sequence[str],
    fence: Mapping[str, Any] | None,
    measured: "Callable[[], ExemplarSignals]",
) -> IntentPipeline:
    """Let a model answer by a project's fence; None: its own threshold holds."""
    own, exemplars = pipeline.calibration, (pipeline.embeddings, pipeline.targets)
    if own.task == "multi-label":  # its intents have thresholds of their own
        return pipeline
    if fence is None:
        brought = own.familiarity_measure
        if brought is None:
            return pipeline
        # A bundle brought the measure; labels may have joined since.
        brought = replace(brought, shapes=measured().measure_on(own.measure, *exemplars).shapes)
        return replace(pipeline, calibration=replace(own, familiarity_measure=brought))
    method, limits = fence.get("method", "votes"), fence.get("limits") or {}
    if method != "votes" and not pipeline.exemplars:  # names alone answer: there is no distance
        return pipeline
    threshold = fence.get("limit")
    if threshold is None:
        threshold = own_threshold(own, method, measured)
    measure = None if method == "votes" else measured().measure_on(method, *exemplars)
    calibration = replace(
        own,
        threshold=float(threshold),
        thresholds=tuple(float(limits.get(k, threshold)) for k in columns) if limits else (),
        familiarity_measure=measure,
    )
    return replace(pipeline, calibration=calibration)


def own_threshold(
    calibration: Calibration, method: Method, measured: "Callable[[], ExemplarSignals]"
) -> float:
    """Return the threshold of a version without a fence.

    Args:
        calibration: The version's own.
        method: What the threshold is compared with.
        measured: Returns the signals of the version's exemplars.
    """
    if method == calibration.measure:
        return calibration.threshold
    return measured().limit(method, calibration.rejection)


def exemplar_signals(studio: Studio, space: Space) -> "ExemplarSignals":
    """Measure the exemplars of a version by each other, as they were in training; once.

    Raises:
        InvalidInput: It has no exemplar.
    """
    from core.calibration.fence_units import measure_exemplars
    from core.heads.folds import sources_of

    def measure() -> "ExemplarSignals":
        pipeline = require_pipeline(open_space(studio, space))
        if not pipeline.exemplars:
            raise InvalidInput("The model has no example to measure by.", "Label some, and train.")
        sources = sources_of(pipeline.exemplars)
        return measure_exemplars(pipeline.head, pipeline.embeddings, pipeline.targets, sources)

    return studio.cache.get(
        ("exemplar signals", None if space.version is None else space.version.tree_sha256),
        measure,
        lambda made: int(made.signals.nbytes + made.columns.nbytes + made.precision.nbytes),
    )


def ids_by_name(connection: Transaction, now: ProjectNow) -> dict[str, str]:
    """Return intent ids by the names at the version's training; by today's for other intents."""
    ids = {name: key for key, name in now.names.items()}
    if now.version is None:
        return ids
    revision = versions.learned_at(connection, now.version)
    return ids | events.intent_ids_at(connection, now.project.id, revision)
