"""Values of the embedding map: each array has one row for each point."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.types import FloatArray


@dataclass(frozen=True, slots=True)
class Colour:
    """An entry of a legend: its name, its colour as #rrggbb, and what kind of texts it has.

    Texts labelled with no intent are `outside`, those without a label `unlabelled`; every other
    entry has no kind.
    """

    name: str
    colour: str
    kind: Literal["", "outside", "unlabelled"] = ""


@dataclass(frozen=True, slots=True, eq=False)
class MapView:
    """Where a project's texts are in the space of a model version; 0 is the untuned encoder.

    Attributes:
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

    Values are `marked` by a person or `proposed` from the train split. A job has to encode the
    `missing` templates and texts first (`start_layout` with `templates`).
    """

    marked: int
    proposed: int
    total: int
    missing: int
    words: str


@dataclass(frozen=True, slots=True, eq=False)
class ColourView:
    """The colours of the points of a map.

    `codes` are places in the legend, (n,) uint16; `counts` numbers of points of its entries.
    `revision` and `order` are as in `MapView`.
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

    `change` is 1 - Jaccard of its ten nearest neighbours; `distance` is in units of the maps'
    longer side. A text that is `labelled` and has no `intents` is labelled as fitting none.
    """

    id: str
    text: str
    intents: tuple[str, ...]
    change: float
    distance: float
    labelled: bool


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonView:
    """Two maps of the same texts, the second turned and scaled onto the first.

    A silhouette by intent is None where it is not defined; `revision` and `order` are as in
    `MapView`.

    Attributes:
        ids: Ids of the utterances on both maps, ascending.
        before_xy: Places in one unit box, (n, 2) float32.
        moved: Texts whose neighbourhood changed most.
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
