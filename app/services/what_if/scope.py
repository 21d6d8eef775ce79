"""Which watched texts are in scope at a moment, by the fence that holds."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.calibration.calibration import Calibration
from core.types import ScoreArray

_UNSURE = 1e-3
"""So near a limit, in scores, a text is scored again in float64."""


@dataclass(frozen=True, slots=True, eq=False)
class MomentScope:
    """A fence at a moment, for limits that are not one of scores for all intents.

    Attributes:
        calibration: With the limits, and what they are limits of.
        beside: Signals of the texts that are no scores, (n, 2); None where scores alone count.
    """

    calibration: Calibration
    beside: ScoreArray | None

    def margins(self, scores: ScoreArray) -> ScoreArray:
        """How far texts are inside, by scores (n, intents); (n,), negative of one out of scope."""
        limits = self.calibration.limits(scores.shape[1])[scores.argmax(1)]
        measure = self.calibration.familiarity_measure
        held: ScoreArray = scores.max(1)
        if measure is not None and self.beside is not None:
            held = measure.fence.familiarity(np.column_stack([held, self.beside]))
        margins: ScoreArray = held - limits
        return margins

    def unsure(self, scores: ScoreArray) -> NDArray[np.bool_]:
        """Whether scores that are off by a little might put a text on the other side; (n,)."""
        measure = self.calibration.familiarity_measure
        per_score = 1.0 if measure is None else measure.fence.slope
        found: NDArray[np.bool_] = np.abs(self.margins(scores)) < _UNSURE * per_score
        return found
