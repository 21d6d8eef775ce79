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
    n_texts = len(unit)
    k = max(0, min(k, n_texts - 1))
    rows, cosines = np.zeros((n_texts, k), np.int64), np.zeros((n_texts, k), np.float32)
    for start in range(0, n_texts if k else 0, _CHUNK):
        pause()
        part = unit[start : start + _CHUNK] @ unit.T
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
