"""The texts nearest to each of many texts by cosine, exactly, in blocks of texts.

Maps, whose searches are the largest, use FAISS: docs/decisions/0007-no-index-package.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.types import FloatArray, Pause, no_pause
from core.vectors import nearest

NOWHERE = -1
"""In place of a row: the text is not among those that it is compared with."""

_CHUNK = 512
"""Texts between two pauses."""

_CELLS = 1 << 24
"""Cosines that are held at once where nobody pauses."""


@dataclass(frozen=True, slots=True, eq=False)
class Nearby:
    """The k nearest other texts of each text, the nearest first, equally near ones by row.

    `rows` is (n, k) int64, `cosines` (n, k) float32.
    """

    rows: NDArray[np.int64]
    cosines: FloatArray


def nearby(unit: FloatArray, k: int, pause: Pause = no_pause) -> Nearby:
    """Find the k nearest others of unit rows (n, d), or all if there are fewer; O(n^2 d)."""
    k, own = max(0, min(k, len(unit) - 1)), np.arange(len(unit))
    return _nearest(unit, unit, own, k, _blocks(len(unit), _CHUNK, pause))


def nearby_among(unit: FloatArray, others: FloatArray, k: int, pause: Pause = no_pause) -> Nearby:
    """Find the k nearest of unit rows `others` (m, d) to each of unit rows (n, d); O(n m d)."""
    k, own = min(k, len(others)), np.full(len(unit), NOWHERE)
    return _nearest(unit, others, own, k, _blocks(len(unit), _CHUNK, pause))


def nearby_but_own(unit: FloatArray, others: FloatArray, own: NDArray[np.int64], k: int) -> Nearby:
    """Find the k nearest of unit rows `others` (m, d), m above k, to each of unit rows (n, d).

    `own` has each text's own row of `others`, which is no neighbour of it, or `NOWHERE`, (n,).
    """
    blocks = _blocks(len(unit), max(1, _CELLS // len(others)), no_pause)
    return _nearest(unit, others, own, k, blocks)


def _nearest(
    unit: FloatArray,
    others: FloatArray,
    own: NDArray[np.int64],
    k: int,
    blocks: Iterator[slice],
) -> Nearby:
    rows, cosines = np.zeros((len(unit), k), np.int64), np.zeros((len(unit), k), np.float32)
    if not k:
        return Nearby(rows, cosines)
    for block in blocks:
        part = unit[block] @ others.T
        some = np.flatnonzero(own[block] != NOWHERE)
        part[some, own[block][some]] = -np.inf
        rows[block] = nearest(part, k)
        cosines[block] = np.take_along_axis(part, rows[block], 1)
    return Nearby(rows, cosines)


def _blocks(n: int, size: int, pause: Pause) -> Iterator[slice]:
    """Split n rows into blocks, with a pause before each."""
    for start in range(0, n, size):
        pause()
        yield slice(start, start + size)
