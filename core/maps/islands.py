"""Where the name of an intent stands on a map: in the densest part of its texts."""

import numpy as np
from numpy.typing import NDArray

from core.types import FloatArray

_SHARE = 3
"""The densest part is the closest third of the texts, so the others may lie anywhere."""
_FEWEST = 3
"""So many texts, or more than half of fewer, make a dense part: never one that lies apart."""
_MOST = 1_500
"""Of larger groups, as many points evenly spaced in their order stand for all."""


def island_centre(places: FloatArray) -> NDArray[np.float64]:
    """Return the middle of the densest part of points (n, 2), n at least 1; (2,).

    It is the mean of the smallest circle around a point that holds a third of the points. Up to
    half of the points may be scattered without moving it off the island, as they would a mean.
    """
    points = places[:: -(-len(places) // _MOST)].astype(np.float64)
    kept = max(min(len(points) // 2 + 1, _FEWEST), -(-len(points) // _SHARE))
    squares = ((points[:, None] - points[None]) ** 2).sum(2)
    reach = np.partition(squares, kept - 1, axis=1)[:, kept - 1]
    middle = int(reach.argmin())
    centre: NDArray[np.float64] = points[squares[middle] <= reach[middle]].mean(0)
    return centre
