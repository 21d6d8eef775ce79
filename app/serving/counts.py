"""What a model server counts, as Prometheus reads it."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from app.prometheus import Sample, measure_lines, one_line
from app.serving.batching import Batcher
from app.serving.beside.pushing import DROP_REASONS, Pusher
from app.serving.model import ServedModel
from app.serving.replacing import Reloads
from app.serving.replies.shapes import Answer
from app.serving.shadow import Shadow
from core.memory import peak_bytes, resident_bytes

T = TypeVar("T")
_Plain: TypeAlias = tuple[tuple[str, str, str, Callable[[T], float]], ...]
"""Name, kind, words and value of measures with one value for each model."""

BOUNDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
"""Seconds up to which requests are counted together."""
SCORES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(slots=True)
class _Histogram:
    bounds: tuple[float, ...]
    total: float = 0.0
    within: Counter[int] = field(default_factory=Counter)

    def add(self, value: float) -> None:
        place = sum(value > bound for bound in self.bounds)
        self.within[place] += 1
        self.total += value

    def samples(self, labels: Mapping[str, object]) -> Iterator[Sample]:
        count = 0
        for place, end in enumerate((*self.bounds, "+Inf")):
            count += self.within[place]
            yield Sample(count, {**labels, "le": end}, "_bucket")
        yield Sample(self.total, labels, "_sum")
        yield Sample(count, labels, "_count")


@dataclass(slots=True)
class AnswerCounts:
    """Texts of one model by answer, and its new bundles; no text is kept."""

    intents: Counter[str] = field(default_factory=Counter)
    outside: int = 0
    reloads: Reloads = field(default_factory=Reloads)
    scores: _Histogram = field(default_factory=lambda: _Histogram(SCORES))

    def answered(self, answers: Sequence[Answer]) -> None:
        """Count texts by the intents that they got."""
        for one in answers:
            if one is None or not one.decision.intents:
                self.outside += 1
            else:
                self.intents.update(one.decision.intents)
            if one is not None:
                self.scores.add(one.ranked[0].score)


@dataclass(slots=True)
class ServingCounts:
    """Requests by model, route and status, and their seconds by model; "" stands for none."""

    requests: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    seconds: dict[str, _Histogram] = field(default_factory=dict)

    def request(self, model: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self.requests[model, route, status] += 1
        self.seconds.setdefault(model, _Histogram(BOUNDS)).add(seconds)


@dataclass(frozen=True, slots=True)
class ModelMeasures:
    """What is told of one model."""

    model: ServedModel
    batcher: Batcher
    counts: AnswerCounts
    shadow: Shadow | None
    pusher: Pusher | None


def exposition_of(counts: ServingCounts, models: Sequence[ModelMeasures]) -> str:
    """Write all measures of a model server."""
    parts = [*_of_requests(counts), *_of_models(models), *_of_shadows(models)]
    parts += _of_pushed(models)
    parts += [
        one_line("model_resident_bytes", "gauge", "Memory of the server.", resident_bytes()),
        one_line("model_peak_bytes", "gauge", "Largest memory of the server.", peak_bytes()),
    ]
    return "".join(line + "\n" for part in parts for line in part)


def _of_requests(counts: ServingCounts) -> list[Iterator[str]]:
    requests = [
        Sample(n, {**_named(model), "route": route, "status": status})
        for (model, route, status), n in sorted(counts.requests.items())
    ]
    seconds = [
        sample
        for model, one in sorted(counts.seconds.items())
        for sample in one.samples(_named(model))
    ]
    words = "Seconds of a request."
    return [
        measure_lines("model_requests_total", "counter", "Requests answered.", requests),
        measure_lines("model_request_seconds", "histogram", words, seconds),
    ]


def _named(model: str) -> dict[str, object]:
    return {"model": model} if model else {}


_OF_MODEL: _Plain[ModelMeasures] = (
    ("texts_outside_total", "counter", "Texts without intent.", lambda one: one.counts.outside),
    ("waiting_texts", "gauge", "Texts that wait.", lambda one: one.batcher.waiting),
    ("batches_total", "counter", "Batches computed.", lambda one: one.batcher.done.batches),
    ("batched_texts_total", "counter", "Texts in them.", lambda one: one.batcher.done.texts),
    ("reloads_total", "counter", "New bundles served.", lambda one: one.counts.reloads.taken),
    ("failed_reloads_total", "counter", "Bundles refused.", lambda one: one.counts.reloads.refused),
)
_OF_SHADOW: _Plain[Shadow] = (
    ("shadow_texts_total", "counter", "Texts of the shadow.", lambda one: one.texts),
    ("shadow_left_out_total", "counter", "Texts left out.", lambda one: one.left_out),
    ("shadow_reloads_total", "counter", "Shadows taken.", lambda one: one.reloads.taken),
    ("shadow_failed_reloads_total", "counter", "Shadows refused.", lambda one: one.reloads.refused),
)
_OF_PUSHER: _Plain[Pusher] = (
    ("pushed_texts_total", "counter", "Texts in the studio.", lambda one: one.pushed),
    ("push_waiting_texts", "gauge", "Texts for the studio.", lambda one: one.waiting),
    ("push_failures_total", "counter", "Requests not taken.", lambda one: one.failures),
)


def _plain(measures: _Plain[T], found: Sequence[tuple[str, T]]) -> Iterator[Iterator[str]]:
    """Write measures with one value for each of some models, by name."""
    for name, kind, words, value in measures:
        samples = [Sample(value(one), {"model": model}) for model, one in found]
        yield measure_lines(f"model_{name}", kind, words, samples)


def _of_models(models: Sequence[ModelMeasures]) -> list[Iterator[str]]:
    about = [
        Sample(1, {key: value or "" for key, value in one.model.facts.items()} | _precision(one))
        for one in models
    ]
    texts = [
        Sample(n, {"model": one.model.name, "intent": intent})
        for one in models
        for intent, n in sorted(one.counts.intents.items())
    ]
    scores = [s for one in models for s in one.counts.scores.samples({"model": one.model.name})]
    return [
        measure_lines("model_info", "gauge", "The models that answer.", about),
        measure_lines("model_texts_total", "counter", "Texts by their intent.", texts),
        measure_lines("model_score", "histogram", "Largest score of a text.", scores),
        *_plain(_OF_MODEL, [(one.model.name, one) for one in models]),
    ]


def _precision(one: ModelMeasures) -> dict[str, object]:
    return {"precision": one.model.engine.precision}


def _of_shadows(models: Sequence[ModelMeasures]) -> list[Iterator[str]]:
    """Write what shadow models count."""
    found = [(one.model.name, one.shadow) for one in models if one.shadow is not None]
    if not found:
        return []
    about = [
        Sample(1, {"model": name, "model_version": one.model.model_version or ""})
        for name, one in found
    ]
    differing = [
        Sample(n, {"model": name, "intent": mine, "shadow": its})
        for name, one in found
        for (mine, its), n in sorted(one.differing.items())
    ]
    words = "Texts that the shadow answers differently."
    return [
        measure_lines("model_shadow_info", "gauge", "The shadow model.", about),
        *_plain(_OF_SHADOW, found),
        measure_lines("model_shadow_differing_total", "counter", words, differing),
    ]


def _of_pushed(models: Sequence[ModelMeasures]) -> list[Iterator[str]]:
    """Write what became of the texts for a studio."""
    found = [(one.model.name, one.pusher) for one in models if one.pusher is not None]
    if not found:
        return []
    dropped = [
        Sample(one.dropped[reason], {"model": name, "reason": reason})
        for name, one in found
        for reason in DROP_REASONS
    ]
    words = "Texts that the studio never gets."
    return [
        *_plain(_OF_PUSHER, found),
        measure_lines("model_push_dropped_texts_total", "counter", words, dropped),
    ]
