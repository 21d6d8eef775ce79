"""Which groups to show, and in which order."""

from collections.abc import Iterator

import numpy as np

from core.discover.grouping import group_texts
from core.discover.showing import ShownGroup, show
from core.discover.taking import Taken
from core.types import FloatArray

CORE = 0.6
"""Share of a group that is taken with it."""

_GROUPS_PER_DECISION = 0.875
"""The other decisions remove texts that were shown."""

_FEWEST = 3
"""A smaller group is no group but a few odd texts."""


def size_for(n_texts: int, decisions: int) -> float:
    """Return how large groups should be on average for so many decisions to reach all texts."""
    return max(_FEWEST, n_texts / (_GROUPS_PER_DECISION * decisions))


def groups_in_order(
    embeddings: FloatArray, taken: Taken, size: float, seed: int = 0
) -> Iterator[ShownGroup]:
    """Yield groups of about `size` of the texts (n, d) that have no label.

    The group with the largest sum of closeness comes first: it is large, and of one meaning.
    """
    pool = np.flatnonzero(~taken.labelled)
    if not len(pool):
        return
    grouping = group_texts(embeddings[pool], size, seed)
    members = grouping.members()
    gain = np.array([grouping.closeness[rows].sum() for rows in members])
    for group in np.argsort(-gain, kind="stable").tolist():
        rows = members[group]
        if len(rows) >= min(_FEWEST, len(pool)):
            yield show(pool[rows], grouping.closeness[rows], CORE)
