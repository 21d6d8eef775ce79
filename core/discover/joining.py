"""Added texts join the groups that are there, or found new ones; no old text moves."""

import numpy as np
from numpy.typing import NDArray

from core.discover.grouping import Grouping, group_texts
from core.discover.means import closest
from core.discover.newness import FEWEST, NONE, new_subjects
from core.types import FloatArray
from core.vectors import unit_rows

_PART = 10
"""Added texts far from all groups are looked at in parts of about so many."""


def join(
    grouping: Grouping, old: FloatArray, added: FloatArray, size: float, seed: int = 0
) -> Grouping:
    """Add texts (m, d) to a grouping of others (n, d), each to the closest group.

    Eight or more that crowd beyond chance found a group with a new number, or several of about
    `size` texts. Where more texts are added than there are, chance tells little: then those found
    groups, too, that are as far from all groups as these are from each other.
    """
    unit = unit_rows(added)
    of, closeness = closest(unit, grouping.centres)
    subjects = new_subjects(unit, unit_rows(old), seed)
    if len(unit) > len(old):
        rest = np.flatnonzero(subjects == NONE)
        far = rest[_far(grouping, unit[rest], closeness[rest], seed)]
        if len(far) >= FEWEST:
            subjects[far] = subjects.max() + 1
    centres = [grouping.centres]
    for subject in range(int(subjects.max(initial=NONE)) + 1):
        rows = np.flatnonzero(subjects == subject)
        new = group_texts(unit[rows], size, seed)
        of[rows] = new.of + sum(map(len, centres))
        closeness[rows] = new.closeness
        centres.append(new.centres)
    return Grouping(
        np.concatenate([grouping.of, of]),
        np.concatenate(centres),
        np.concatenate([grouping.closeness, closeness]),
    )


def _far(
    grouping: Grouping, unit: FloatArray, closeness: FloatArray, seed: int
) -> NDArray[np.bool_]:
    """Whether each of the added texts is in a part that is far from all groups, (m,).

    A limit for single texts found nothing new: odd texts of old groups are as far away as usual
    ones of new subjects.
    """
    if not len(unit):
        return np.zeros(0, dtype=np.bool_)
    parts = group_texts(unit, _PART, seed)
    between = grouping.centres @ grouping.centres.T
    np.fill_diagonal(between, -1.0)
    is_one = len(between) == 1  # nothing tells how far apart groups are
    apart = grouping.closeness.mean() / 2 if is_one else between.max(1).mean()
    far = (parts.centres @ grouping.centres.T).max(1) < apart
    is_far: NDArray[np.bool_] = far[parts.of] & (parts.closeness > closeness)
    return is_far
