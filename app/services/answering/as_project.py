"""A project's fence as the limits of a model's answers: live, on the command line, in bundles."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from core.errors import InvalidInput
from storage.database import Transaction
from storage.log import events, versions
from storage.queries import utterances
from storage.records import ModelVersionRecord

if TYPE_CHECKING:
    from app.services.studio import Studio
    from core.calibration.calibration import Calibration
    from core.calibration.fence_units import ExemplarSignals
    from core.pipeline import IntentPipeline
    from core.types import Method

    Ask = Callable[[], ExemplarSignals]


def fenced(
    pipeline: "IntentPipeline", columns: Sequence[str], fence: Mapping[str, Any] | None, ask: "Ask"
) -> "IntentPipeline":
    """Let a model answer by a project's fence; several labels have thresholds of their own.

    Args:
        pipeline: As it was trained, or with labels that have joined since.
        columns: Intent id of each score column.
        fence: Of the project; None: there is none, and limits stay the model's own.
        ask: Gives the survey of the version as it was trained.
    """
    own = pipeline.calibration
    if own.task == "multi-label" or (fence is None and own.familiarity_measure is None):
        return pipeline
    exemplars = pipeline.embeddings, pipeline.targets
    brought = own.familiarity_measure
    if fence is None and brought is not None:  # a bundle brought it; labels may have joined
        measure = replace(brought, shapes=ask().measure_on(own.measure, *exemplars).shapes)
        return replace(pipeline, calibration=replace(own, familiarity_measure=measure))
    kept = fence or {}
    method, limit, limits = kept.get("method", "votes"), kept.get("limit"), kept.get("limits") or {}
    if method != "votes" and not pipeline.exemplars:  # names alone answer: there is no distance
        return pipeline
    limit = own_limit(own, method, ask) if limit is None else float(limit)
    calibration = replace(
        own,
        threshold=limit,
        thresholds=tuple(float(limits.get(key, limit)) for key in columns) if limits else (),
        familiarity_measure=None if method == "votes" else ask().measure_on(method, *exemplars),
    )
    return replace(pipeline, calibration=calibration)


def own_limit(calibration: "Calibration", method: "Method", ask: "Ask") -> float:
    """Return the limit that nobody has moved, by a method.

    Args:
        calibration: Of the version, without a fence.
        method: What the limit is one of.
        ask: Gives the survey of the version as it was trained.
    """
    if method == calibration.measure:
        return calibration.threshold
    return ask().limit(method, calibration.rejection)


def exemplar_signals(
    studio: "Studio", version: ModelVersionRecord, as_trained: "Callable[[], IntentPipeline]"
) -> "ExemplarSignals":
    """Measure the exemplars of a version by each other, once.

    Args:
        studio: The studio.
        version: Which.
        as_trained: Gives its pipeline.

    Raises:
        InvalidInput: It has no example.
    """
    return studio.cache.get(
        ("exemplar signals", version.tree_sha256),
        lambda: _measured_exemplars(as_trained()),
        lambda made: int(made.signals.nbytes + made.columns.nbytes + made.precision.nbytes),
    )


def _measured_exemplars(pipeline: "IntentPipeline") -> "ExemplarSignals":
    from core.calibration.fence_units import measure_exemplars
    from core.heads.folds import sources_of

    if not pipeline.exemplars:
        raise InvalidInput("The model has no example to measure by.", "Label some, and train.")
    sources = sources_of(pipeline.exemplars)
    return measure_exemplars(pipeline.head, pipeline.embeddings, pipeline.targets, sources)


def columns_of(
    connection: Transaction, project_id: int, version: ModelVersionRecord, intents: Sequence[str]
) -> tuple[str, ...]:
    """Return the id of each intent that a version answers, "" of those the project has not.

    They are found by the names that they had when it was trained.
    """
    revision = versions.learned_at(connection, version)
    names = utterances.intent_ids(connection, project_id)
    names |= events.intent_ids_at(connection, project_id, revision)
    return tuple(names.get(name, "") for name in intents)
