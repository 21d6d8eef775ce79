"""The rule for out of scope, the same for answers, previews, maps and benchmarks."""

import numpy as np
from numpy.typing import NDArray

from core.types import ScoreArray


def in_scope(familiarity: ScoreArray, thresholds: ScoreArray) -> NDArray[np.bool_]:
    """Return whether texts are in scope; (n,).

    A text is out of scope if its familiarity, (n,), is below the threshold of its highest-scoring
    intent, (n,). Familiarity is the largest score, or a fence's measure, in the thresholds' unit.
    """
    inside: NDArray[np.bool_] = familiarity >= thresholds
    return inside
