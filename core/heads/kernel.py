"""The kernel of the votes: how much an exemplar weighs for a text, from their cosine alone."""

import numpy as np

from core.types import FloatArray, ScoreArray


def kernel(left: FloatArray, right: FloatArray, tau: float) -> ScoreArray:
    """Return exp((cosine - 1) / tau) of unit rows; (n, m) float64 in (0, 1]."""
    return kernel_of_cosines((left @ right.T).astype(np.float64), tau)


def kernel_of_cosines(cosines: ScoreArray, tau: float) -> ScoreArray:
    """Return exp((cosine - 1) / tau), elementwise."""
    weights: ScoreArray = np.exp((np.minimum(cosines, 1.0) - 1.0) / tau)
    return weights
