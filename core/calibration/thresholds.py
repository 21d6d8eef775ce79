"""Multi-label thresholds: one per intent, drawn towards a common one if labels are few."""

import numpy as np
from numpy.typing import NDArray

from core.calibration.calibration import Calibration
from core.splits import Rows
from core.types import ScoreArray

PULLS = (np.inf, 80.0, 20.0)
"""Positives at which an intent's own threshold weighs half; of equally good ones the first wins."""

_FOLDS = 5
_SHARPEST, _BLUNTEST = 1e-3, 10.0
_Marks = NDArray[np.bool_]


def fit_multi_label_calibration(
    scores: ScoreArray, targets: ScoreArray, theta: float | None = None
) -> Calibration:
    """Fit probabilities and thresholds of several labels on held-out scores (n, intents).

    The common threshold is the score whose probability is half the largest expected F1 (Lipton et
    al. 2014, Theorem 1). Probabilities need two numbers, fitted on all pairs of text and intent, so
    the common threshold is stable where the best threshold of a few dozen texts is not. An intent's
    own threshold is drawn towards it, the more, the fewer texts have the intent. Cross-validation
    on these texts chooses how much.

    Rows of `targets` (n, intents) without any label count, too. `theta` sets the common threshold
    and drops the intents' own.

    Raises:
        ValueError: There is no text, or shapes differ.
    """
    if not len(scores) or scores.shape != targets.shape:
        message = f"cannot calibrate scores {scores.shape} on targets {targets.shape}"
        raise ValueError(message)
    marks = targets > 0
    temperature, offset = _fit_sigmoid(scores.ravel(), marks.ravel().astype(np.float64))
    if theta is not None:
        return Calibration(temperature, theta, 0.0, "multi-label", (), offset)
    common = best_threshold(scores.ravel(), marks.ravel())
    if marks.any():
        common = expected_threshold(scores, temperature, offset)
    own = own_thresholds(scores, marks, common, _best_pull(scores, marks, common))
    limits = tuple(own.tolist())
    return Calibration(temperature, common, 0.0, "multi-label", limits, offset)


def expected_threshold(scores: ScoreArray, temperature: float, offset: float) -> float:
    """Return the score whose probability is half the largest expected F1 of all pairs.

    `scores` may have any shape; temperature and offset are those of the sigmoid.
    """
    logits = (np.sort(scores, axis=None)[::-1] - offset) / temperature
    shares = 0.5 * (1.0 + np.tanh(0.5 * logits))
    expected = 2.0 * np.cumsum(shares) / (np.arange(1, len(shares) + 1) + shares.sum())
    half = float(expected.max()) / 2.0
    return offset + temperature * float(np.log(half / (1.0 - half)))


def best_threshold(scores: ScoreArray, marks: _Marks) -> float:
    """Return the threshold of the largest F1, midway between two scores; (n,) and (n,) bool.

    Of equal ones the highest wins. Without any positive it is above all scores.
    """
    order = np.argsort(-scores, kind="stable")
    falling, right = scores[order], np.cumsum(marks[order])
    answered = np.arange(1, len(falling) + 1)
    f1 = 2.0 * right / (answered + marks.sum())
    f1[:-1][falling[:-1] == falling[1:]] = -1.0  # no threshold separates equal scores
    best = int(f1.argmax())
    if f1[best] <= 0:
        return float(falling[0]) + 1.0
    below = falling[best + 1] if best + 1 < len(falling) else falling[best] - 1.0
    return float((falling[best] + below) / 2)


def own_thresholds(scores: ScoreArray, marks: _Marks, common: float, pull: float) -> ScoreArray:
    """Return each column's best threshold, drawn towards the common one; (intents,) float64.

    Scores and marks are (n, intents). An intent without a positive has the common threshold. At
    `pull` positives both weigh the same; an infinite pull gives the common one.
    """
    limits = np.full(scores.shape[1], common)
    if np.isinf(pull):
        return limits
    for column in np.flatnonzero(marks.any(0)):
        n_positive = int(marks[:, column].sum())
        best = best_threshold(scores[:, column], marks[:, column])
        limits[column] += (best - common) * n_positive / (n_positive + pull)
    return limits


def _best_pull(scores: ScoreArray, marks: _Marks, common: float) -> float:
    folds = _folds(len(scores))
    if len(folds) < 2:
        return np.inf
    found: list[float] = []
    for pull in PULLS:
        answers = np.zeros_like(marks)
        for fold in folds:
            seen = np.setdiff1d(np.arange(len(scores)), fold)
            limits = own_thresholds(scores[seen], marks[seen], common, pull)
            answers[fold] = scores[fold] >= limits
        n_marks = max(1.0, float(answers.sum() + marks.sum()))
        found.append(2.0 * float((answers & marks).sum()) / n_marks)
    return PULLS[int(np.argmax(found))]


def _folds(n_rows: int) -> list[Rows]:
    order = np.random.default_rng(0).permutation(n_rows)
    return [part for part in np.array_split(order, _FOLDS) if len(part) and len(part) < n_rows]


def _fit_sigmoid(scores: ScoreArray, labels: ScoreArray) -> tuple[float, float]:
    """Return temperature and offset of the likeliest sigmoid (Platt 1999), always rising.

    As in Platt, one doubtful case of each kind moves the targets inwards, so that both stay finite
    where every score is right.
    """
    from scipy.optimize import minimize  # takes half a second, which only training needs

    n_positive, n_negative = labels.sum(), (1.0 - labels).sum()
    high, low = (n_positive + 1.0) / (n_positive + 2.0), 1.0 / (n_negative + 2.0)
    goals = np.where(labels > 0, high, low)

    def loss(parameters: ScoreArray) -> float:
        logits = (scores - parameters[1]) / np.exp(parameters[0])
        return float(np.logaddexp(0.0, logits).sum() - (goals * logits).sum())

    bounds = [(np.log(_SHARPEST), np.log(_BLUNTEST)), (scores.min() - 10.0, scores.max() + 10.0)]
    start = np.array([np.log(0.1), 0.5 * (scores.min() + scores.max())])
    found = minimize(loss, start, method="L-BFGS-B", bounds=bounds).x
    return float(np.exp(found[0])), float(found[1])
