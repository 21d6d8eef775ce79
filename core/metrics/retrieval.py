"""Rank of the right one among many candidates.

`scores` are (n, candidates); `correct` is the column of the right candidate, (n,).
"""

import numpy as np
from numpy.typing import NDArray

from core.types import ScoreArray


def recall_at(scores: ScoreArray, correct: NDArray[np.int64], k: int) -> float:
    """Share of queries whose right candidate is among the k highest (R@k).

    Candidates with the right one's score rank before it, so that constant scores earn nothing.

    Raises:
        ValueError: No query.
    """
    return float((_ranks(scores, correct) <= k).mean())


def mean_reciprocal_rank(scores: ScoreArray, correct: NDArray[np.int64]) -> float:
    """Average of 1 / rank of the right candidate (MRR); ties and errors as in `recall_at`."""
    return float((1.0 / _ranks(scores, correct)).mean())


def _ranks(scores: ScoreArray, correct: NDArray[np.int64]) -> NDArray[np.int64]:
    if not len(scores):
        message = "no queries to judge"
        raise ValueError(message)
    right = np.take_along_axis(scores, correct[:, None], 1)
    ranks: NDArray[np.int64] = (scores >= right).sum(1)  # counts itself, so the best rank is 1
    return ranks
