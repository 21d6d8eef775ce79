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
    return float((_ranks(scores, correct) <= k).mean())


def mean_reciprocal_rank(scores: ScoreArray, correct: NDArray[np.int64]) -> float:
    """Average of 1 / rank of the right candidate (MRR), with ties as in `recall_at`.

    Args:
        scores: Of every candidate for every query, (n, candidates).
        correct: Column of the right one, (n,).

    Raises:
        ValueError: No query.
    """
    return float((1.0 / _ranks(scores, correct)).mean())


def _ranks(scores: ScoreArray, correct: NDArray[np.int64]) -> NDArray[np.int64]:
    if not len(scores):
        message = "no queries to judge"
        raise ValueError(message)
    right = np.take_along_axis(scores, correct[:, None], 1)
    ranks: NDArray[np.int64] = (scores >= right).sum(1)  # counts itself, so the best rank is 1
    return ranks
