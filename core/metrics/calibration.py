"""Calibration error: how far probabilities are from observed shares."""

import numpy as np
from numpy.typing import NDArray


def expected_calibration_error(
    confidences: NDArray[np.float64], correct: NDArray[np.bool_], bins: int = 15
) -> float:
    """Mean gap between confidence and accuracy over equal bins (Guo et al. 2017, Eq. 3).

    Args:
        confidences: Probability of each answer, (n,), in [0, 1].
        correct: Whether it was right, (n,).
        bins: Bins of equal width.
    """
    if not len(confidences):
        return 0.0
    places = np.minimum((confidences * bins).astype(np.int64), bins - 1)
    counts = np.bincount(places, minlength=bins)
    sums = np.bincount(places, confidences, minlength=bins)
    rights = np.bincount(places, correct.astype(np.float64), minlength=bins)
    return float(np.abs(sums - rights).sum() / counts.sum())
