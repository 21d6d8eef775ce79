"""How near groups are to each other, by their centres."""

from collections.abc import Sequence

import numpy as np

from core.types import FloatArray
from core.vectors import unit_rows
from storage.computed.text_groups import Families
from storage.records import TextGroupRecord

APART = -1.0
"""In place of a cosine where two encoders made the centres: nothing can be said."""


def cosines(families: Families, left: Sequence[int], right: Sequence[int]) -> FloatArray:
    """Return the cosines of the centres of groups, given by their numbers; (left, right)."""
    rows, columns = _by_space(families, left), _by_space(families, right)
    found = np.full((len(left), len(right)), APART, dtype=np.float32)
    for space in rows.keys() & columns.keys():
        some = _centres(families, [left[at] for at in rows[space]])
        others = _centres(families, [right[at] for at in columns[space]])
        found[np.ix_(rows[space], columns[space])] = some @ others.T
    return found


def _by_space(families: Families, numbers: Sequence[int]) -> dict[tuple[str, int], list[int]]:
    """Return the places of groups by the encoder of their centres."""
    places: dict[tuple[str, int], list[int]] = {}
    for at, number in enumerate(numbers):
        places.setdefault(_space(families.groups[number]), []).append(at)
    return places


def _space(group: TextGroupRecord) -> tuple[str, int]:
    """Return what tells the encoder of a centre; an earlier release did not store which it was."""
    return str(group.facts.get("space", "")), len(group.centre)


def _centres(families: Families, numbers: Sequence[int]) -> FloatArray:
    rows = [np.frombuffer(families.groups[one].centre, dtype="<f4") for one in numbers]
    return unit_rows(np.stack(rows))
