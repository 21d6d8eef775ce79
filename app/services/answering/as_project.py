"""Apply a project's names and fence to a model: intents without examples, and scope."""

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
from storage.log import versions
from storage.queries import dataset
from storage.records import ModelVersionRecord, ProjectRecord

if TYPE_CHECKING:
    from core.calibration.fence_units import ExemplarSignals
    from core.intent_names import NameCache

_FEWEST = 2


@dataclass(frozen=True, slots=True)
class ProjectNow:
    """The project's state that its answers depend on, read in one transaction.

    `intents` are those that may be answered; `names` include archived ones. Both are by id.
    """

    project: ProjectRecord
    version: ModelVersionRecord | None
    intents: Mapping[str, Intent]
    names: Mapping[str, str]


def read_now(
    connection: Transaction, project: ProjectRecord, version: ModelVersionRecord | None
) -> ProjectNow:
    """Read the state that a project's answers by one of its versions depend on."""
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
    """Apply a project's names and fence to a model version; `cache` is as below."""
    if now.version is None:
        return pipeline
    space = Space(now.project, now.version)
    return with_names_and_fence(
        now, pipeline, columns, lambda: exemplar_signals(studio, space), cache
    )


def with_names_and_fence(
    now: ProjectNow,
    pipeline: IntentPipeline,
    columns: Sequence[str],
    measured: "Callable[[], ExemplarSignals]",
    cache: "NameCache | None" = None,
) -> IntentPipeline:
    """Apply a project's names and fence to a model, which may not be stored yet.

    Intents without an exemplar are answered by their names, beside the votes. Multi-label projects
    do not use names: a name alone would be added to answers that are complete without it. `columns`
    holds the intent id of each score column, "" where the project has no such intent; `cache` holds
    embedded names of earlier calls.
    """
    from core.intent_names import answer_by_name

    if pipeline.task == "multi-label":
        return pipeline
    brought: frozenset[str] = frozenset()
    if now.version and now.version.lineage.get("imported"):  # its unknown names keep their effect
        pairs = zip(pipeline.head.intents, columns, strict=True)
        brought = frozenset(name for name, key in pairs if not key)
    asked = list(now.intents.values())
    head = answer_by_name(pipeline.head, pipeline.encoder, asked, cache, brought)
    ids = {intent.name: key for key, intent in now.intents.items()}
    wide = [*columns, *(ids[name] for name in head.intents[len(columns) :])]
    return fenced(replace(pipeline, head=head), wide, now.project.fence, measured)


def answer_by_names_alone(
    studio: Studio, now: ProjectNow, cache: "NameCache | None" = None
) -> IntentPipeline | None:
    """Return a pipeline that answers with the nearest intent name, for projects without a model.

    None if the project has a model, is multi-label, or has fewer than two intents.
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
    """Apply a project's fence to a model; None keeps the model's own threshold."""
    own, exemplars = pipeline.calibration, (pipeline.embeddings, pipeline.targets)
    if own.task == "multi-label":  # each intent has its own threshold
        return pipeline
    if fence is None:
        brought = own.familiarity_measure
        if brought is None:
            return pipeline
        # The measure is from an imported bundle; labels may have joined since.
        brought = replace(brought, shapes=measured().measure_on(own.measure, *exemplars).shapes)
        return replace(pipeline, calibration=replace(own, familiarity_measure=brought))
    method, limits = fence.get("method", "votes"), fence.get("limits") or {}
    if method != "votes" and not pipeline.exemplars:  # names alone have no distance to exemplars
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
    """Return the threshold of a version without a fence, in the unit of `method`.

    It rejects as many of the examples as the version's own: where labels came with the cores of
    groups, these are fewer than the version was to reject, for they are easier than others.
    """
    if method == calibration.measure:
        return calibration.threshold
    signals, share = measured(), calibration.rejection
    if calibration.measure == "votes":
        share = signals.rejection(calibration.threshold)
    return signals.limit(method, share)


def exemplar_signals(studio: Studio, space: Space) -> "ExemplarSignals":
    """Measure a version's exemplars against each other, held out as in training; cached.

    Raises:
        InvalidInput: It has no exemplar.
    """
    return studio.cache.get(
        ("exemplar signals", *space.key),
        lambda: signals_of(require_pipeline(open_space(studio, space))),
        lambda made: int(made.signals.nbytes + made.columns.nbytes + made.precision.nbytes),
    )


def signals_of(pipeline: IntentPipeline) -> "ExemplarSignals":
    """Measure a pipeline's exemplars against each other, held out as in training.

    Raises:
        InvalidInput: It has no exemplar.
    """
    from core.calibration.fence_units import measure_exemplars
    from core.heads.folds import sources_of

    if not pipeline.exemplars:
        raise InvalidInput("The model has no example to measure by.", "Label some, and train.")
    sources = sources_of(pipeline.exemplars)
    return measure_exemplars(pipeline.head, pipeline.embeddings, pipeline.targets, sources)


def ids_by_name(connection: Transaction, now: ProjectNow) -> dict[str, str]:
    """Map the names at the version's training to intent ids; other intents by current name."""
    ids = {name: key for key, name in now.names.items()}
    if now.version is None:
        return ids
    revision = versions.learned_at(connection, now.version)
    return ids | versions.intent_ids_at(connection, now.project.id, revision)
