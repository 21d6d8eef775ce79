"""The intents' columns that scores decide for."""

import numpy as np
from numpy.typing import NDArray

from core.types import ScoreArray

Columns = NDArray[np.int64]
"""Columns of intents, (n,) int64."""

OUT_OF_SCOPE = -1
"""The column of a text whose largest score is below the threshold."""


def decided(scores: ScoreArray, limit: float | None = None) -> Columns:
    """Return the column of each row's largest score (n, intents), or `OUT_OF_SCOPE`; (n,) int64.

    Of equal scores the first column wins, as everywhere. A row whose largest score is below the
    limit is out of scope.
    """
    best: Columns = scores.argmax(1).astype(np.int64)
    if limit is not None:
        best[scores.max(1) < limit] = OUT_OF_SCOPE
    return best


def leads(scores: ScoreArray, columns: Columns, limit: float | None = None) -> ScoreArray:
    """Return how far each row is from another verdict; (n,), negative where it already has another.

    For an intent: its score minus the best other score, or minus the limit where that is larger.
    For `OUT_OF_SCOPE`: the limit minus the best score.
    """
    floor = -np.inf if limit is None else limit
    outside = columns == OUT_OF_SCOPE
    rows = np.arange(len(scores))
    own = np.where(outside, floor, scores[rows, np.maximum(columns, 0)])
    others = scores.copy()
    others[rows[~outside], columns[~outside]] = -np.inf
    rival = others.max(1, initial=-np.inf)
    rival[~outside] = np.maximum(rival[~outside], floor)
    margin: ScoreArray = own - rival
    return margin
