"""Estimate positions of new and of moved points on a map without computing it again."""

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
    """Place rows without a position at the mean of their k nearest rows with one; (n, 2) float32.

    Embeddings (n, d) have any length; `layout` (n, 2) is read only where `known` (n,) is True. All
    zero if nothing is known.
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
    """Return the exact move of points on a plane: from (r, d) embeddings to (r, 2) float32."""
    moved: FloatArray = plane.place(after) - plane.place(before)
    return moved


def drift_by_neighbours(
    embeddings: FloatArray, layout: FloatArray, before: FloatArray, after: FloatArray
) -> FloatArray:
    """Estimate by how much points move on a layout without a projection, such as UMAP's.

    Before and after, a point is placed at the mean position of its ten nearest neighbours,
    weighted by similarity. An unchanged embedding does not move. From embeddings (n, d) of all
    points, their layout (n, 2), and `before` and `after`, (r, d) each, to (r, 2) float32.
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
