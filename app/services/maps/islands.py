"""Names on the islands of a map, each in the densest part of its texts.

Intents stand at their labelled texts; groups of Discover at those that wait for a label.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from app.services.answering.opened import find_space
from app.services.embedding import read_points
from app.services.maps.requests import compare_maps, map_points
from app.services.studio import Studio
from core.maps.islands import island_centre
from core.types import FloatArray
from storage import jobs
from storage.computed import text_groups
from storage.queries import dataset

Place = tuple[float, float]


@dataclass(frozen=True, slots=True)
class MapChoice:
    """A map: of one model version, or with `other` its comparison with another version.

    `model` and `method` are as for `map_points`.
    """

    model: int | None = None
    method: str = "pca"
    other: int | None = None


@dataclass(frozen=True, slots=True)
class Island:
    """A name, the number of texts that it stands for, and where it stands in the unit box.

    `before` is its place on the earlier map, if two maps are compared. `kind` tells an intent with
    its labelled texts from a group of texts without a label.
    """

    name: str
    count: int
    at: Place
    before: Place | None = None
    kind: Literal["intent", "group"] = "intent"


@dataclass(frozen=True, slots=True)
class IslandsView:
    """The islands of a map; `order` is as in `MapView`.

    Intents come first; within both kinds the largest, then by name.
    """

    islands: tuple[Island, ...]
    order: str


@dataclass(frozen=True, slots=True, eq=False)
class _Shown:
    """The points of a map; `sides` are their places on it, and on the earlier one if compared."""

    ids: tuple[str, ...]
    order: str
    sides: tuple[FloatArray, ...]


def map_islands(studio: Studio, project: str, choice: MapChoice) -> IslandsView:
    """Return where the names of intents and of groups stand; those without a text have none.

    Raises:
        NotFound: There is no such project or version, or the layout was not computed yet.
    """
    with studio.database.read() as connection:
        space = find_space(connection, project, choice.model)
        ended = jobs.count_ended(connection)  # a job may have replaced a layout, or the groups
        named = text_groups.families(connection, space.project.id)
    revision = space.project.head_revision
    acts = tuple((one.name, one.merged_into, one.set_aside) for one in named.groups.values())
    return studio.cache.get_newest(
        ("islands", space.project.id, *space.key, choice),
        (revision, ended, acts),
        lambda: _islands(studio, project, choice),
        lambda made: 200 * len(made.islands),
    )


def _islands(studio: Studio, project: str, choice: MapChoice) -> IslandsView:
    shown = _shown(studio, project, choice)
    with studio.database.read() as connection:
        record = find_space(connection, project, choice.model).project
        names = dataset.intent_names(connection, record.id)
    columns = read_points(studio, record).columns
    labels = dict(zip(columns.ids, columns.labels, strict=True))
    rows = _rows_of_intents([labels.get(key) for key in shown.ids])
    made = [_island(names[intent], rows[intent], shown.sides) for intent in rows]
    groups = _groups(studio, record.id, shown)
    size_first = [sorted(some, key=lambda one: (-one.count, one.name)) for some in (made, groups)]
    return IslandsView((*size_first[0], *size_first[1]), shown.order)


def _groups(studio: Studio, project_id: int, shown: _Shown) -> list[Island]:
    """Return the groups that Discover lists to be looked at, with their texts that wait."""
    with studio.database.read() as connection:
        families = text_groups.families(connection, project_id)
        place_of = text_groups.waiting_places(connection, project_id)
        texts_of = text_groups.of_families(connection, project_id, families)
    looked_at = {
        number
        for number, texts in texts_of.items()
        if text_groups.standing_of(families.groups[number], texts).is_looked_at
    }
    rows: dict[int, list[int]] = {}
    for row, key in enumerate(shown.ids):
        number = families.shown(place_of[key]) if key in place_of else None
        if number in looked_at:
            rows.setdefault(number, []).append(row)
    return [
        replace(
            _island(families.groups[number].name, np.array(found, dtype=np.int64), shown.sides),
            kind="group",
        )
        for number, found in rows.items()
    ]


def _shown(studio: Studio, project: str, choice: MapChoice) -> _Shown:
    if choice.other is None:
        view = map_points(studio, project, choice.model, choice.method)
        return _Shown(view.ids, view.order, (view.xy,))
    both = compare_maps(studio, project, choice.other, choice.model or 0, choice.method)
    return _Shown(both.ids, both.order, (both.after_xy, both.before_xy))


def _rows_of_intents(labels: Sequence[tuple[str, ...] | None]) -> dict[str, NDArray[np.int64]]:
    rows: dict[str, list[int]] = {}
    for row, intents in enumerate(labels):
        for intent in intents or ():
            rows.setdefault(intent, []).append(row)
    return {intent: np.array(found, dtype=np.int64) for intent, found in rows.items()}


def _island(name: str, rows: NDArray[np.int64], sides: tuple[FloatArray, ...]) -> Island:
    at, *before = (_rounded(island_centre(side[rows])) for side in sides)
    return Island(name, len(rows), at, before[0] if before else None)


def _rounded(place: NDArray[np.float64]) -> Place:
    x, y = place.round(5).tolist()
    return x, y
