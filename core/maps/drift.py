"""Estimate places on a map that is not computed again: of new points, and of moved ones."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.maps.neighbours import cosine_index, row_blocks
from core.maps.plane import Plane
from core.types import FloatArray
from core.vectors import unit_rows

_NEIGHBOURS = 10
_SHARPNESS = 20.0
"""A neighbour whose cosine is 0.05 lower weighs e times less."""


def carry_over(
    embeddings: FloatArray, layout: FloatArray, known: NDArray[np.bool_], k: int = 5
) -> FloatArray:
    """Place rows that have no place at the mean of their k nearest rows that have one.

    Args:
        embeddings: (n, d), of any length.
        layout: (n, 2); rows that are not `known` are ignored.
        known: Which rows have a place, (n,).
        k: How many neighbours vote.

    Returns:
        (n, 2) float32; all zero where nothing is known.
    """
    placed = np.where(known[:, None], layout, 0.0).astype(np.float32)
    if known.all() or not known.any():
        return placed
    unit = unit_rows(embeddings)
    index, rows = cosine_index(unit[known]), np.flatnonzero(~known)
    for part in row_blocks(len(rows)):
        _, near = index.search(unit[rows[part]], min(k, int(known.sum())))
        placed[rows[part]] = layout[known][near].mean(1)
    return placed


def drift_on_plane(plane: Plane, before: FloatArray, after: FloatArray) -> FloatArray:
    """Return by how much points move on a plane, exactly: from (r, d) embeddings to (r, 2) float32.

    Rows may have any length.
    """
    moved: FloatArray = plane.place(after) - plane.place(before)
    return moved


def drift_by_neighbours(
    embeddings: FloatArray, layout: FloatArray, before: FloatArray, after: FloatArray
) -> FloatArray:
    """Estimate by how much points move on a layout that has no projection, such as UMAP's.

    Before and after, a point is taken to lie at the mean place of its ten nearest neighbours,
    weighted by similarity; it moves by the difference. A point whose embedding stays does not move.

    Args:
        embeddings: Embeddings of all points, (n, d), of any length.
        layout: Their places, (n, 2).
        before: Embeddings of the points that move, (r, d).
        after: Where these embeddings move to, (r, d).

    Returns:
        (r, 2) float32.
    """
    index = cosine_index(unit_rows(embeddings))
    moved: FloatArray = _places(index, layout, after) - _places(index, layout, before)
    return moved


def _places(index: Any, layout: FloatArray, embeddings: FloatArray) -> FloatArray:
    unit, k = unit_rows(embeddings), min(_NEIGHBOURS, len(layout))
    places = np.zeros((len(unit), 2), dtype=np.float32)
    for part in row_blocks(len(unit)):
        cosines, near = index.search(unit[part], k)
        weights = np.exp(_SHARPNESS * (cosines - cosines.max(1, keepdims=True)))
        weights /= weights.sum(1, keepdims=True)
        places[part] = (weights[:, :, None] * layout[near]).sum(1)
    return places
