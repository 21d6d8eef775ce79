"""How near groups are to each other, by their centres."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from core.types import FloatArray
from core.vectors import unit_rows
from storage.computed.text_groups import Families, GroupMember
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


def cohesion_of(families: Families, members: Sequence[GroupMember]) -> float:
    """Return the mean cosine of texts of some groups and their common centre; 0 without a text.

    Texts of a group add up to its centre, times the sum of their cosines. What two encoders made
    is taken as if it lay in the same direction.
    """
    sums = defaultdict[int, float](float)
    for one in members:
        sums[one.group_id] += one.closeness
    numbers, total = list(sums), 0.0
    for rows in _by_space(families, numbers).values():
        some = [numbers[at] for at in rows]
        weights = np.array([sums[number] for number in some], dtype=np.float32)
        total += float(np.linalg.norm(weights @ _centres(families, some)))
    return total / max(1, len(members))


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
