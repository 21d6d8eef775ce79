"""K-means of directions: passes over all texts, from a start that is spread over a sample of them.

Spherical k-means (Dhillon and Modha 2001, Section 3.1), started by k-means++ (Arthur and
Vassilvitskii 2007, Section 2). Passes over a few thousand texts at a time stop where groups are
worse: of ten new subjects one more has no group of its own.
"""

import numpy as np
from numpy.typing import NDArray

from core.types import FloatArray
from core.vectors import unit_rows

_SAMPLE = 10_000
"""Texts among which the first centres are chosen; all would take as long as the passes."""

_PASSES = 30
_MOVED = 0.002
"""Share of the texts that change their group in a pass, below which it was the last."""

_CHUNK = 8_192


def divided(unit: FloatArray, k: int, seed: int = 0) -> NDArray[np.int64]:
    """Divide rows of length 1, (n, d), into k groups, 1 <= k <= n; each row's group, (n,).

    Where rows are equal some of the groups may be empty.
    """
    from sklearn.cluster import kmeans_plusplus

    some = np.random.default_rng(seed).permutation(len(unit))[: max(k, _SAMPLE)]
    centres = unit_rows(kmeans_plusplus(unit[np.sort(some)], k, random_state=seed)[0])
    of, closeness = closest(unit, centres)
    for _ in range(_PASSES):
        before = of
        centres = _means(unit, _filled(before, closeness, k), k)
        of, closeness = closest(unit, centres)
        if (of != before).mean() < _MOVED:
            break
    return of


def closest(unit: FloatArray, centres: FloatArray) -> tuple[NDArray[np.int64], FloatArray]:
    """Return the closest of some centres for each row, and its cosine, both (n,)."""
    of = np.empty(len(unit), dtype=np.int64)
    closeness = np.empty(len(unit), dtype=np.float32)
    for start in range(0, len(unit), _CHUNK):
        part = slice(start, start + _CHUNK)
        similarity = unit[part] @ centres.T
        of[part] = similarity.argmax(1)
        closeness[part] = similarity.max(1)
    return of, closeness


def _filled(of: NDArray[np.int64], closeness: FloatArray, k: int) -> NDArray[np.int64]:
    """Give each empty group one of the texts that are farthest from their centre."""
    empty = np.flatnonzero(np.bincount(of, minlength=k) == 0)
    if not len(empty):
        return of
    filled = of.copy()
    filled[np.argsort(closeness, kind="stable")[: len(empty)]] = empty
    return filled


def _means(unit: FloatArray, of: NDArray[np.int64], k: int) -> FloatArray:
    from scipy.sparse import csr_array

    ones, rows = np.ones(len(unit), dtype=np.float32), np.arange(len(unit))
    sums: FloatArray = csr_array((ones, (of, rows)), shape=(k, len(unit))) @ unit
    return unit_rows(sums)
