"""How high the right one of many candidates is ranked."""

import numpy as np
from numpy.typing import NDArray

from core.types import ScoreArray


def recall_at(scores: ScoreArray, correct: NDArray[np.int64], k: int) -> float:
    """Share of queries whose right candidate is among the k highest (R@k).

    Candidates that score the same as the right one count as ranked before it, so that a scorer
    without an opinion earns nothing.

    Args:
        scores: Of every candidate for every query, (n, candidates).
        correct: Column of the right one, (n,).
        k: How many of the first count.

    Raises:
        ValueError: No query.
    """
    if not len(scores):
        message = "no queries to judge"
        raise ValueError(message)
    right = np.take_along_axis(scores, correct[:, None], 1)
    rank = (scores >= right).sum(1)  # the right one counts itself, so the best rank is 1
    return float((rank <= k).mean())
