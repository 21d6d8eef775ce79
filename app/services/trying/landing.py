"""Where a typed text is among the examples of the model that answers."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from app.services.explaining.words import landing_words
from core.maps.plane import Plane
from core.types import FloatArray, Prediction
from core.vectors import nearest, unit_rows

if TYPE_CHECKING:
    from core.pipeline import IntentPipeline

_MOST_POINTS = 2_000
_NEAREST = 10
Place = tuple[float, float]


class Mapped(Protocol):
    """A model with the plane on which it is shown."""

    @property
    def pipeline(self) -> "IntentPipeline":
        """Its pipeline."""
        ...

    @property
    def plane(self) -> Plane:
        """The plane fitted to its exemplars."""
        ...


@dataclass(frozen=True, slots=True)
class AnsweredBy:
    """The rule behind an answer, and the intent that the votes speak most for."""

    rule: str
    intent: str


@dataclass(frozen=True, slots=True)
class ExampleMap:
    """The examples of a model on its plane; `codes` index their distinct labels."""

    model: str
    total: int
    labels: tuple[tuple[str, ...], ...]
    codes: tuple[int, ...] = field(repr=False)
    points: tuple[Place, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class SimilarExample:
    """An example with its cosine to a text, in [-1, 1]."""

    id: str
    text: str
    intents: tuple[str, ...]
    cosine: float


@dataclass(frozen=True, slots=True)
class Landing:
    """Where a text and its nearest examples are.

    `words` say which intents those have, and whether the plane shows the text near them. `nearest`
    is the most similar example; None without examples.
    """

    place: Place
    neighbours: tuple[Place, ...]
    words: str
    nearest: SimilarExample | None = None


def example_map(live: Mapped, model: str, most: int | None = None) -> ExampleMap:
    """Place the examples of a model; of more than `most` (2,000), a random sample."""
    pipeline = live.pipeline
    rows = np.arange(len(pipeline.exemplars))
    shown = _MOST_POINTS if most is None else most
    if len(rows) > shown:
        rows = np.sort(np.random.default_rng(0).choice(rows, shown, replace=False))
    labels = sorted({exemplar.intents for exemplar in pipeline.exemplars})
    code = {label: at for at, label in enumerate(labels)}
    return ExampleMap(
        model=model,
        total=len(pipeline.exemplars),
        labels=tuple(labels),
        codes=tuple(code[pipeline.exemplars[row].intents] for row in rows.tolist()),
        points=_places(live, pipeline.embeddings[rows]),
    )


def landing_of(live: Mapped, prediction: Prediction, embedding: FloatArray) -> Landing:
    """Place an answered text, embedded (d,), among the examples."""
    decided = AnsweredBy(prediction.decision.rule, prediction.reason.intent)
    return land(live, embedding, decided)


def land(live: Mapped, embedding: FloatArray, decided: AnsweredBy) -> Landing:
    """Place a text, embedded (d,), and its nearest examples in the whole embedding space."""
    pipeline = live.pipeline
    cosines = pipeline.embeddings @ unit_rows(embedding[None])[0]
    flat = live.plane.place_unit(pipeline.embeddings) - live.plane.place(embedding[None])
    near, drawn = (
        nearest(closeness[None], min(_NEAREST, len(cosines)))[0].tolist()
        for closeness in (cosines, -(flat**2).sum(1))
    )
    labels, beside = ([pipeline.exemplars[row].intents for row in rows] for rows in (near, drawn))
    return Landing(
        place=_places(live, embedding[None])[0],
        neighbours=_places(live, pipeline.embeddings[near]),
        words=landing_words(
            labels,
            beside,
            outside=decided.rule == "out-of-scope",
            leading="" if decided.rule == "exact" else decided.intent,
        ),
        nearest=_similar(live, near[0], float(cosines[near[0]])) if near else None,
    )


def _similar(live: Mapped, row: int, cosine: float) -> SimilarExample:
    exemplar = live.pipeline.exemplars[row]
    return SimilarExample(exemplar.id, exemplar.text, exemplar.intents, cosine)


def _places(live: Mapped, embeddings: FloatArray) -> tuple[Place, ...]:
    return tuple((round(x, 4), round(y, 4)) for x, y in live.plane.place(embeddings).tolist())
