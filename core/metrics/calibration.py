"""Calibration error: the gap between probabilities and observed shares."""

import numpy as np
from numpy.typing import NDArray


def expected_calibration_error(
    confidences: NDArray[np.float64], correct: NDArray[np.bool_], bins: int = 15
) -> float:
    """Mean gap between confidence and accuracy over bins of equal width (Guo et al. 2017, Eq. 3).

    `confidences` (n,) are the answers' probabilities in [0, 1]; `correct` (n,) whether they are
    right.
    """
    if not len(confidences):
        return 0.0
    places = np.minimum((confidences * bins).astype(np.int64), bins - 1)
    counts = np.bincount(places, minlength=bins)
    sums = np.bincount(places, confidences, minlength=bins)
    rights = np.bincount(places, correct.astype(np.float64), minlength=bins)
    return float(np.abs(sums - rights).sum() / counts.sum())
