"""The rule for out of scope, the same for answers, previews, maps and benchmarks."""

import numpy as np
from numpy.typing import NDArray

from core.types import ScoreArray


def in_scope(familiarity: ScoreArray, thresholds: ScoreArray) -> NDArray[np.bool_]:
    """Return whether texts are in scope; (n,).

    A text whose familiarity is below the threshold of its highest-scoring intent is out of scope.

    Args:
        familiarity: Of each text, (n,): its largest score, or what a fence measures.
        thresholds: Of each text's highest-scoring intent, (n,), in the same unit.
    """
    inside: NDArray[np.bool_] = familiarity >= thresholds
    return inside
