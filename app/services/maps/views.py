"""Values of the embedding map: each array has one row for each point."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.types import FloatArray


@dataclass(frozen=True, slots=True)
class Colour:
    """An entry of a legend: its name, and its colour as #rrggbb."""

    name: str
    colour: str


@dataclass(frozen=True, slots=True, eq=False)
class MapView:
    """Where a project's texts are in the space of a model version.

    Attributes:
        model: Number of the model version; 0 is the untuned encoder.
        method: pca, umap or tsne.
        ids: Ids of the utterances, ascending.
        xy: Places in the unit box, (n, 2) float32.
        stored: Whether a job computed it; else it was computed now.
        missing: Number of utterances without a place, which a job can compute (`start_layout`).
        revision: Revision of the project at the time of reading.
        order: Digest of `ids`; colours of the same `order` belong to these points.
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
        marked: Points with values that a person marked.
        proposed: Points with values that are known from the train split.
        total: All points.
        missing: Templates that a job has to encode first (`start_layout` with `templates`).
        words: How the places are computed.
    """

    marked: int
    proposed: int
    total: int
    missing: int
    words: str


@dataclass(frozen=True, slots=True, eq=False)
class ColourView:
    """The colours of the points of a map.

    Attributes:
        by: What they show.
        codes: Places in the legend, (n,) uint16.
        counts: Number of points of each entry of the legend.
        revision: Revision of the project at the time of reading.
        order: Digest of the points' ids, as in `MapView`.
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
        intents: Names of the intents of its label; empty without one.
        change: Change of its ten nearest neighbours, 1 - Jaccard.
        distance: Distance of its places on the two maps, in units of the maps' longer side.
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
        before: Number of the first model version; 0 is the untuned encoder.
        after: Number of the second.
        method: pca, umap or tsne.
        ids: Ids of the utterances on both maps, ascending.
        before_xy: Places in one unit box, (n, 2) float32.
        after_xy: The same for the second map.
        moved: Texts whose neighbourhood changed most.
        silhouettes: By intent, in each of the two spaces; None where it is not defined.
        judged: Number of labelled texts in the silhouettes.
        missing: Number of utterances that are not on both maps.
        revision: Revision of the project at the time of reading.
        order: Digest of `ids`, as in `MapView`.
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
