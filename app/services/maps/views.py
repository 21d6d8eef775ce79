"""What the embedding map shows: frozen values, one row of each array for each point."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.types import FloatArray


@dataclass(frozen=True, slots=True)
class Colour:
    """An entry of a legend: what it stands for, and #rrggbb."""

    name: str
    colour: str


@dataclass(frozen=True, slots=True, eq=False)
class MapView:
    """Where a project's texts lie in the space of a model version.

    Attributes:
        project: Its name.
        model: Number of the model version; 0 is the untuned encoder.
        method: pca, umap or tsne.
        ids: Of the utterances, rising.
        xy: Their places in the unit box, (n, 2) float32.
        stored: Whether a job computed it; else it was computed now.
        missing: Utterances without a place, for a job to compute (`start_layout`).
        revision: Of the project, when it was read.
        order: Stands for `ids`: colours of the same `order` belong to these points.
    """

    project: str
    model: int
    method: str
    ids: tuple[str, ...]
    xy: FloatArray
    stored: bool
    missing: int
    revision: int
    order: str


@dataclass(frozen=True, slots=True)
class DriftView:
    """Which points of a map move when texts are compressed towards their templates.

    Attributes:
        marked: Points with values that somebody marked.
        proposed: Points with values that the train split knows.
        total: Points in all.
        missing: Templates that a job has to encode first (`start_layout` with `templates`).
        words: How the places come about.
    """

    marked: int
    proposed: int
    total: int
    missing: int
    words: str


@dataclass(frozen=True, slots=True, eq=False)
class ColourView:
    """How the points of a map are coloured.

    Attributes:
        by: What by.
        codes: Places in the legend, (n,) uint16.
        legend: Names and colours.
        counts: How many points each entry of the legend has.
        revision: Of the project, when it was read.
        order: Stands for the points, as in `MapView`.
    """

    by: str
    codes: NDArray[np.uint16]
    legend: tuple[Colour, ...]
    counts: tuple[int, ...]
    revision: int
    order: str


@dataclass(frozen=True, slots=True)
class MovedText:
    """A text whose neighbourhood changed.

    Attributes:
        id: Of the utterance.
        text: As it is now.
        intents: Names of its label; empty when it has none.
        change: Share of its ten nearest neighbours that others replaced, 1 - Jaccard.
        distance: Between its places on the two maps, in units of the maps' longer side.
    """

    id: str
    text: str
    intents: tuple[str, ...]
    change: float
    distance: float


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonView:
    """Two maps of the same texts, the second turned and scaled onto the first.

    Attributes:
        project: Its name.
        before: Number of the first model version; 0 is the untuned encoder.
        after: Number of the second.
        method: pca, umap or tsne.
        ids: Of the utterances on both, rising.
        before_xy: Places in one unit box, (n, 2) float32.
        after_xy: The same of the second map.
        moved: Texts whose neighbourhood changed most.
        silhouettes: By intent, in each of the two spaces; None where it is not defined.
        judged: How many labelled texts the silhouettes are of.
        missing: Utterances that are not on both maps.
        revision: Of the project, when it was read.
        order: Stands for `ids`, as in `MapView`.
    """

    project: str
    before: int
    after: int
    method: str
    ids: tuple[str, ...]
    before_xy: FloatArray
    after_xy: FloatArray
    moved: tuple[MovedText, ...]
    silhouettes: tuple[float | None, float | None]
    judged: int
    missing: int
    revision: int
    order: str
