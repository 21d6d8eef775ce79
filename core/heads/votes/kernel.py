"""The kernel of the votes: an exemplar's weight for a text, from their cosine alone."""

import numpy as np

from core.types import FloatArray, ScoreArray
from core.vectors import cosines

_CHUNK = 1_024


def kernel(left: FloatArray, right: FloatArray, tau: float) -> ScoreArray:
    """Return exp((cosine - 1) / tau) of unit rows; (n, m) float64 in (0, 1]."""
    return kernel_of_cosines(cosines(left, right), tau)


def kernel_of_cosines(similarity: ScoreArray, tau: float | ScoreArray) -> ScoreArray:
    """Return exp((cosine - 1) / tau), elementwise, as a new array."""
    weights: ScoreArray = similarity - 1.0
    weights /= tau
    return np.exp(weights, out=weights)


def square_kernel(unit: FloatArray, tau: float, ridge: float) -> ScoreArray:
    """Return K + ridge I of unit rows (m, d); (m, m) float64, built by blocks of rows.

    It holds nothing larger than the result. Both triangles are computed separately, so the result
    need not be symmetric to the last bit; LAPACK reads one triangle.
    """
    matrix = np.empty((len(unit), len(unit)))
    for start in range(0, len(unit), _CHUNK):
        matrix[start : start + _CHUNK] = kernel(unit[start : start + _CHUNK], unit, tau)
    matrix[np.diag_indices_from(matrix)] += ridge
    return matrix
