"""Find the texts that moved most between two maps of the same texts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.maps.neighbours import neighbours_of
from core.types import FloatArray
from core.vectors import unit_rows


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """Texts in one embedding space and on its map: (n, d) and (n, 2), row by row the same."""

    embeddings: FloatArray
    layout: FloatArray


@dataclass(frozen=True, slots=True)
class Move:
    """Distance of a row's two positions, and changed share (1 - Jaccard) of its neighbourhood."""

    row: int
    change: float
    distance: float


def moved_most(
    before: Placed, after: Placed, n: int, rows: NDArray[np.int64] | None = None, k: int = 10
) -> list[Move]:
    """Return the n rows whose k nearest neighbours changed most, by distance on ties.

    Neighbours are those of the embeddings, since a map shows only part of them. The second map is
    aligned with the first. `rows` limits the rows to examine, with neighbours among all rows.
    """
    looked_at = np.arange(len(before.layout)) if rows is None else rows
    old, _ = neighbours_of(looked_at, unit_rows(before.embeddings), k)
    new, _ = neighbours_of(looked_at, unit_rows(after.embeddings), k)
    change = _set_change(old, new)
    distance = np.linalg.norm(after.layout[looked_at] - before.layout[looked_at], axis=1)
    order = np.lexsort((looked_at, -distance, -change))[:n]
    return [Move(int(looked_at[at]), float(change[at]), float(distance[at])) for at in order]


def _set_change(old: NDArray[np.int64], new: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return 1 - Jaccard of rows read as sets, (m, k) each without repetition; (m,)."""
    if not old.shape[1]:
        return np.zeros(len(old))
    both = np.zeros(len(old))
    for column in range(old.shape[1]):
        both += (new == old[:, column : column + 1]).any(1)
    changed: NDArray[np.float64] = 1.0 - both / (2 * old.shape[1] - both)
    return changed
