"""The nearest texts of each text, found once for all lists of the review, and their graph."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.types import FloatArray, Pause, no_pause
from core.vectors import nearest

if TYPE_CHECKING:
    from scipy import sparse

_CHUNK = 512


@dataclass(frozen=True, slots=True, eq=False)
class Nearby:
    """The k nearest other texts of each text, the nearest first, equally near ones by row.

    `rows` is (n, k) int64, `cosines` (n, k) float32.
    """

    rows: NDArray[np.int64]
    cosines: FloatArray


def nearby(unit: FloatArray, k: int, pause: Pause = no_pause) -> Nearby:
    """Find the k nearest others of unit rows (n, d), or all if there are fewer; O(n^2 d)."""
    return _nearest(unit, unit, max(0, min(k, len(unit) - 1)), pause, is_own=True)


def nearby_among(unit: FloatArray, others: FloatArray, k: int, pause: Pause = no_pause) -> Nearby:
    """Find the k nearest of unit rows `others` (m, d) to each of unit rows (n, d); O(n m d)."""
    return _nearest(unit, others, min(k, len(others)), pause, is_own=False)


def _nearest(unit: FloatArray, others: FloatArray, k: int, pause: Pause, *, is_own: bool) -> Nearby:
    """Find the k nearest of others; `is_own`: they are the same rows, of which none is its own."""
    rows, cosines = np.zeros((len(unit), k), np.int64), np.zeros((len(unit), k), np.float32)
    for start in range(0, len(unit) if k else 0, _CHUNK):
        pause()
        part = unit[start : start + _CHUNK] @ others.T
        if is_own:
            own = np.arange(len(part))
            part[own, start + own] = -np.inf
        near = nearest(part, k)
        rows[start : start + _CHUNK] = near
        cosines[start : start + _CHUNK] = np.take_along_axis(part, near, 1)
    return Nearby(rows, cosines)


def joined(near: Nearby, width: float) -> "sparse.csr_array":
    """Join neighbours in either direction by exp((cosine - 1) / width), (n, n) float64.

    Each text has at least one neighbour. Over `width` of the cosine an edge loses a factor e.
    """
    from scipy import sparse

    n, k = near.rows.shape
    weights = np.exp((near.cosines.astype(np.float64) - 1.0) / width)
    ends = np.arange(0, n * k + 1, k)
    one_way = sparse.csr_array((weights.ravel(), near.rows.ravel(), ends), shape=(n, n))
    return one_way.maximum(one_way.T).tocsr()
