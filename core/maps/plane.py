"""The plane of greatest variance of embeddings, and positions on it.

Embeddings of any length are scaled to length one first.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import eigh

from core.maps.neighbours import row_blocks
from core.types import FloatArray, ScoreArray
from core.vectors import unit_rows


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """Two directions in an embedding space.

    Attributes:
        mean: Mean of the fitted embeddings, (d,) float32.
        axes: The directions, larger variance first, (d, 2) float64; zeros for a missing one.
    """

    mean: FloatArray = field(repr=False)
    axes: ScoreArray = field(repr=False)

    def place(self, embeddings: FloatArray) -> FloatArray:
        """Project embeddings (n, d); (n, 2) float32."""
        return self.place_unit(unit_rows(embeddings))

    def place_unit(self, unit: FloatArray) -> FloatArray:
        """Project unit rows as `place` does, without scaling them again."""
        placed: FloatArray = (unit @ self.axes.astype(np.float32) - self.mean @ self.axes).astype(
            np.float32
        )
        return placed


def fit_plane(embeddings: FloatArray) -> Plane:
    """Find the two directions of greatest variance of embeddings (n, d).

    The largest loading of each axis is positive, so that a map never flips.
    """
    unit = unit_rows(embeddings)
    n, dim = unit.shape
    axes = np.zeros((dim, 2))
    kept = min(2, dim)
    if n == 0 or kept == 0:
        return Plane(np.zeros(dim, dtype=np.float32), axes)
    mean = unit.mean(0, dtype=np.float64).astype(np.float32)
    scatter = np.zeros((dim, dim))
    for part in row_blocks(n):
        centred = unit[part] - mean
        scatter += centred.T @ centred
    _, rising = eigh(scatter, subset_by_index=(dim - kept, dim - 1))
    widest = rising[:, ::-1]
    largest = np.abs(widest).argmax(0)
    axes[:, :kept] = widest * np.where(widest[largest, np.arange(kept)] < 0, -1.0, 1.0)
    return Plane(mean, axes)
