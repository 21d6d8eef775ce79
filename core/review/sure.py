"""Which answers a model is sure of, by a limit whose expected errors are known."""

import numpy as np
from numpy.typing import NDArray

from core.types import ScoreArray

TOLERANCES = (0.02, 0.05, 0.1)
"""Largest expected share of wrong answers; a later one where wrong labels rule out the earlier."""

_FEWEST_SHARE = 0.1
"""Of the judged answers that a tolerance must let pass; else the next tolerance is tried."""

UNTESTED = (0.99, 0.02)
"""Limit and expected share of errors where there are no judged answers."""


def sure_limit(shares: ScoreArray, right: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the lowest limit that judged answers allow, and the expected share of errors.

    `shares` are calibrated probabilities of answers that did not see their own label, (n,). The
    expected share is (wrong + 1) / (answers + 1) at or above the limit: one more error than was
    seen, for a mean of one minus the probability promises less than half of the errors. Without a
    limit that keeps it at the last of `TOLERANCES` or less, the limit is above one.
    """
    order = np.argsort(-shares, kind="stable")
    numbers = np.arange(1, len(order) + 1)
    expected = (np.cumsum(~right[order]) + 1) / (numbers + 1)
    ends = np.append(np.diff(shares[order]) < 0, True)[: len(order)]  # equal ones stay together
    for tolerance in TOLERANCES:
        allowed = np.flatnonzero((expected <= tolerance) & ends)
        if len(allowed) and allowed[-1] + 1 >= _FEWEST_SHARE * len(order):
            last = int(allowed[-1])
            return float(shares[order[last]]), float(expected[last])
    return 2.0, 0.0
