"""The nearest texts of each text, found once for all lists of the review."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.types import FloatArray, Pause, no_pause

_CHUNK = 512


@dataclass(frozen=True, slots=True, eq=False)
class Nearby:
    """The k nearest other texts of each text, the nearest first.

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
        near = np.argpartition(-part, k - 1, axis=1)[:, :k]
        order = np.lexsort((near, -np.take_along_axis(part, near, 1)), axis=1)
        near = np.take_along_axis(near, order, 1)
        rows[start : start + _CHUNK] = near
        cosines[start : start + _CHUNK] = np.take_along_axis(part, near, 1)
    return Nearby(rows, cosines)
