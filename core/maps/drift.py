"""Where points of a map go when their embeddings move, though the map cannot be computed anew."""

from typing import Any

import numpy as np

from core.maps.plane import Plane
from core.types import FloatArray
from core.vectors import unit_rows

_NEIGHBOURS = 10
_SHARPNESS = 20.0
"""A neighbour that is 0.05 farther by cosine weighs e times less."""
_BLOCK = 4_096


def drift_on_plane(plane: Plane, before: FloatArray, after: FloatArray) -> FloatArray:
    """Return by how much points move on a plane, exactly; both (r, d), the answer (r, 2) float32.

    Rows may have any length.
    """
    moved: FloatArray = plane.place(after) - plane.place(before)
    return moved


def drift_by_neighbours(
    embeddings: FloatArray, layout: FloatArray, before: FloatArray, after: FloatArray
) -> FloatArray:
    """Estimate by how much points move on a layout that has no projection, as UMAP's has none.

    Before and after, a point is held to lie at the mean place of its ten nearest neighbours,
    the nearer ones weighing more; it moves by the difference. So nothing moves whose embedding
    stays.

    Args:
        embeddings: Of all points, (n, d), of any length.
        layout: Their places, (n, 2).
        before: Embeddings of those that move, (r, d).
        after: The same, moved.

    Returns:
        (r, 2) float32.
    """
    import faiss  # a map by PCA needs no search

    index = faiss.IndexFlatIP(embeddings.shape[1])
    index.add(unit_rows(embeddings))
    moved: FloatArray = _among(index, layout, after) - _among(index, layout, before)
    return moved


def _among(index: Any, layout: FloatArray, asked: FloatArray) -> FloatArray:
    unit, k = unit_rows(asked), min(_NEIGHBOURS, len(layout))
    places = np.zeros((len(unit), 2), dtype=np.float32)
    for start in range(0, len(unit), _BLOCK):
        part = slice(start, start + _BLOCK)
        cosines, near = index.search(unit[part], k)
        weights = np.exp(_SHARPNESS * (cosines - cosines.max(1, keepdims=True)))
        weights /= weights.sum(1, keepdims=True)
        places[part] = (weights[:, :, None] * layout[near]).sum(1)
    return places
