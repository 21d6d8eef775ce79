"""What a model server counts, as Prometheus reads it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from app.prometheus import Sample, measure_lines, one_line
from app.serving.batching import Batcher
from app.serving.model import ServedModel
from app.serving.replies.shapes import Answer
from app.serving.shadow import Shadow
from core.memory import peak_bytes, resident_bytes

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

    def samples(self) -> Iterator[Sample]:
        count = 0
        for place, end in enumerate((*self.bounds, "+Inf")):
            count += self.within[place]
            yield Sample(count, {"le": end}, "_bucket")
        yield Sample(self.total, {}, "_sum")
        yield Sample(count, {}, "_count")


@dataclass(slots=True)
class ServingCounts:
    """Requests by route and status, their seconds, and texts by answer; no text is kept.

    `reloads` are new bundles that answer since, `failed_reloads` those that could not be opened.
    """

    requests: Counter[tuple[str, int]] = field(default_factory=Counter)
    intents: Counter[str] = field(default_factory=Counter)
    outside: int = 0
    reloads: int = 0
    failed_reloads: int = 0
    seconds: _Histogram = field(default_factory=lambda: _Histogram(BOUNDS))
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

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self.requests[route, status] += 1
        self.seconds.add(seconds)


def exposition_of(
    counts: ServingCounts, model: ServedModel, batcher: Batcher, shadow: Shadow | None
) -> str:
    """Write all measures of a model server."""
    about = {key: value or "" for key, value in model.facts.items()}
    about["precision"] = model.engine.precision
    routes = [Sample(n, {"route": r, "status": s}) for (r, s), n in sorted(counts.requests.items())]
    by_intent = [Sample(n, {"intent": name}) for name, n in sorted(counts.intents.items())]
    parts = [
        measure_lines("model_info", "gauge", "The model that answers.", [Sample(1, about)]),
        measure_lines("model_requests_total", "counter", "Requests answered.", routes),
        measure_lines(
            "model_request_seconds", "histogram", "Seconds of a request.", counts.seconds.samples()
        ),
        measure_lines("model_texts_total", "counter", "Texts by their intent.", by_intent),
        one_line("model_texts_outside_total", "counter", "Texts without intent.", counts.outside),
        measure_lines(
            "model_score", "histogram", "Largest score of a text.", counts.scores.samples()
        ),
        one_line("model_waiting_texts", "gauge", "Texts that wait.", batcher.waiting),
        one_line("model_batches_total", "counter", "Batches computed.", batcher.batches),
        one_line("model_batched_texts_total", "counter", "Texts in them.", batcher.texts),
        one_line("model_reloads_total", "counter", "New bundles served.", counts.reloads),
        one_line(
            "model_failed_reloads_total", "counter", "Bundles refused.", counts.failed_reloads
        ),
        *([] if shadow is None else _shadow_parts(shadow)),
        one_line("model_resident_bytes", "gauge", "Memory of the server.", resident_bytes()),
        one_line("model_peak_bytes", "gauge", "Largest memory of the server.", peak_bytes()),
    ]
    return "".join(line + "\n" for part in parts for line in part)


def _shadow_parts(shadow: Shadow) -> list[Iterator[str]]:
    """Write what a shadow model counts."""
    about = {"model_version": shadow.model.model_version or ""}
    differing = [
        Sample(n, {"intent": mine, "shadow": its})
        for (mine, its), n in sorted(shadow.differing.items())
    ]
    words = "Texts that the shadow answers differently."
    return [
        measure_lines("model_shadow_info", "gauge", "The shadow model.", [Sample(1, about)]),
        one_line("model_shadow_texts_total", "counter", "Texts of the shadow.", shadow.texts),
        one_line("model_shadow_left_out_total", "counter", "Texts left out.", shadow.left_out),
        measure_lines("model_shadow_differing_total", "counter", words, differing),
    ]
