"""Where a typed text is among the examples of the model that answers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from app.services.explaining.words import landing_words
from core.maps.plane import Plane
from core.types import FloatArray, Prediction
from core.vectors import nearest, unit_rows

_MOST_POINTS = 2_000
_NEAREST = 10
Place = tuple[float, float]


class Mapped(Protocol):
    """A model with the plane on which it is shown."""

    @property
    def pipeline(self) -> Any:
        """Its pipeline."""
        ...

    @property
    def plane(self) -> Plane:
        """The plane fitted to its exemplars."""
        ...


@dataclass(frozen=True, slots=True)
class ExampleMap:
    """The examples of a model on its plane; `codes` index their distinct labels."""

    model: str
    total: int
    labels: tuple[tuple[str, ...], ...]
    codes: tuple[int, ...] = field(repr=False)
    points: tuple[Place, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Landing:
    """Where a text and its neighbours are; `words` go by the whole embedding space."""

    place: Place
    neighbours: tuple[Place, ...]
    words: str


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
    voted = [neighbour.exemplar_id for neighbour in prediction.reason.neighbours]
    return land(live, embedding, voted, outside=prediction.decision.rule == "out-of-scope")


def land(live: Mapped, embedding: FloatArray, voted: Sequence[str], *, outside: bool) -> Landing:
    """Place a text, embedded (d,), and the examples, by id, that voted on it."""
    pipeline = live.pipeline
    cosines = pipeline.embeddings @ unit_rows(embedding[None])[0]
    near = nearest(cosines[None], min(_NEAREST, len(cosines)))[0].tolist()
    labels = [pipeline.exemplars[row].intents for row in near]
    row_of = {exemplar.id: row for row, exemplar in enumerate(pipeline.exemplars)}
    return Landing(
        place=_places(live, embedding[None])[0],
        neighbours=_places(live, pipeline.embeddings[[row_of[key] for key in voted]]),
        words=landing_words(labels, outside=outside),
    )


def _places(live: Mapped, embeddings: FloatArray) -> tuple[Place, ...]:
    return tuple((round(x, 4), round(y, 4)) for x, y in live.plane.place(embeddings).tolist())
