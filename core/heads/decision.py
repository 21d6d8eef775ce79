"""From scores to probabilities and to the verdict "out of scope"."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from core.types import ScoreArray

_SHARPEST, _BLUNTEST = 1e-3, 10.0


@dataclass(frozen=True, slots=True)
class Calibration:
    """How scores are read.

    Attributes:
        temperature: Probabilities are softmax(scores / temperature).
        threshold: A largest score below it means out of scope.
        rejection: Share of in-scope texts that the threshold was chosen to send away.
    """

    temperature: float
    threshold: float
    rejection: float


def fit_calibration(scores: ScoreArray, targets: ScoreArray, rejection: float) -> Calibration:
    """Fit temperature and threshold on honest scores of in-scope texts.

    Args:
        scores: By a pipeline that has not seen the texts, (n, intents).
        targets: Their labels, (n, intents).
        rejection: Share of these texts whose largest score may lie below the threshold.
    """
    share = targets / np.maximum(targets.sum(1, keepdims=True), 1.0)
    # One extra wrong answer keeps the temperature finite where every honest score is right.
    floor = 1.0 / (len(scores) + 1) / scores.shape[1]
    share = (1 - floor) * share + floor / scores.shape[1]

    def loss(log_temperature: float) -> float:
        return float(-(share * _log_softmax(scores / np.exp(log_temperature))).sum(1).mean())

    bounds = (np.log(_SHARPEST), np.log(_BLUNTEST))
    best = minimize_scalar(loss, bounds=bounds, method="bounded")
    threshold = float(np.quantile(scores.max(1), rejection))
    return Calibration(float(np.exp(best.x)), threshold, rejection)


def probabilities(scores: ScoreArray, calibration: Calibration) -> ScoreArray:
    """Turn scores into probabilities; (n, intents) float64, rows sum to one."""
    result: ScoreArray = np.exp(_log_softmax(scores / calibration.temperature))
    return result


def _log_softmax(logits: ScoreArray) -> ScoreArray:
    shifted = logits - logits.max(1, keepdims=True)
    result: ScoreArray = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    return result
