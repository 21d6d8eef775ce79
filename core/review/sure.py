"""Which answers a model is sure of, by a limit whose expected errors are known."""

import numpy as np
from numpy.typing import NDArray

from core.types import ScoreArray

TOLERANCE = 0.03
"""Largest expected share of wrong answers among those that the model is sure of."""

UNTESTED_LIMIT = 0.99
"""The limit where no judged answers tell the errors; fewer than the tolerance were wrong."""


def sure_limit(shares: ScoreArray, right: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the lowest limit that judged answers allow, and the expected share of errors.

    `shares` are calibrated probabilities of answers that did not see their own label, (n,). The
    expected share is (wrong + 1) / (answers + 1) at or above the limit: one more error than was
    seen, for a mean of one minus the probability promises less than half of the errors. Without a
    limit that keeps it at `TOLERANCE` or less, the limit is above one.
    """
    order = np.argsort(-shares, kind="stable")
    numbers = np.arange(1, len(order) + 1)
    expected = (np.cumsum(~right[order]) + 1) / (numbers + 1)
    ends = np.append(np.diff(shares[order]) < 0, True)[: len(order)]  # equal ones stay together
    allowed = np.flatnonzero((expected <= TOLERANCE) & ends)
    if not len(allowed):
        return 2.0, 0.0
    last = int(allowed[-1])
    return float(shares[order[last]]), float(expected[last])
