"""Turn scores into probabilities and into an answer: one intent, several, or none."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.calibration.fence import FamiliarityMeasure
from core.calibration.out_of_scope import in_scope
from core.errors import MALFORMED, ArtifactDamaged
from core.types import FloatArray, Method, ScoreArray, Task

_SHARPEST, _BLUNTEST = 1e-3, 10.0


@dataclass(frozen=True, slots=True)
class Calibration:
    """How scores become probabilities and answers.

    Attributes:
        temperature: Probabilities are softmax(scores / temperature), or for several labels
            sigmoid((scores - offset) / temperature); positive.
        threshold: A largest score below it is out of scope. For several labels, the threshold of an
            intent without its own, and the one towards which own thresholds are drawn.
        rejection: Share of in-scope texts that the threshold was chosen to reject.
        task: Whether an answer holds one intent, or each whose score reaches its own threshold.
        thresholds: One per score column for several labels, except for intents added later. For one
            label, empty unless intents have limits of their own.
        offset: For several labels, the score whose probability is 0.5.
        familiarity_measure: For one label, the familiarity that thresholds apply to; None: the
            largest score.
    """

    temperature: float
    threshold: float
    rejection: float
    task: Task = "single-label"
    thresholds: tuple[float, ...] = field(default=(), repr=False)
    offset: float = 0.0
    familiarity_measure: FamiliarityMeasure | None = field(default=None, repr=False)

    @property
    def measure(self) -> Method:
        """The quantity that the thresholds apply to."""
        by = self.familiarity_measure
        return "votes" if by is None else by.fence.method

    def limits(self, n_intents: int) -> ScoreArray:
        """Return each column's threshold; (n_intents,) float64."""
        limits = np.full(n_intents, self.threshold)
        limits[: len(self.thresholds)] = self.thresholds
        return limits

    def has_one_limit(self, n_intents: int) -> bool:
        """Whether one limit holds for all columns, or each label is decided by its own alone.

        By a familiarity no column has one.
        """
        if self.familiarity_measure is not None:
            return True
        return self.task == "multi-label" or len(set(self.limits(n_intents).tolist())) < 2

    def familiarity(self, embeddings: FloatArray, scores: ScoreArray) -> ScoreArray:
        """Return how familiar texts are, by embeddings (n, d) and scores (n, intents); (n,)."""
        if self.familiarity_measure is None:
            largest: ScoreArray = scores.max(1)
            return largest
        return self.familiarity_measure.familiarity(embeddings, scores)

    def inside(self, embeddings: FloatArray, scores: ScoreArray) -> NDArray[np.bool_]:
        """Return whether single-label texts are in scope, by their best intent's limit; (n,)."""
        limits = self.limits(scores.shape[1])[scores.argmax(1)]
        return in_scope(self.familiarity(embeddings, scores), limits)


def fit_calibration(scores: ScoreArray, targets: ScoreArray, rejection: float) -> Calibration:
    """Fit temperature and threshold on held-out scores (n, intents) of in-scope texts.

    The temperature minimises the negative log-likelihood (Guo et al. 2017, Section 4.2). The
    threshold is the `rejection` quantile of the texts' largest scores.

    Raises:
        ValueError: There is no text, or shapes differ.
    """
    if not len(scores) or scores.shape != targets.shape:
        message = f"cannot calibrate scores {scores.shape} on targets {targets.shape}"
        raise ValueError(message)
    labelled = targets.sum(1) > 0
    logits, share = scores[labelled], targets[labelled]
    share = share / share.sum(1, keepdims=True)
    # An added text with equal shares for all intents keeps the temperature finite where every score
    # is right.
    doubt = 1.0 / (len(share) + 1)
    share = (1.0 - doubt) * share + doubt / scores.shape[1]

    def loss(log_temperature: float) -> float:
        log_share = _log_softmax(logits / np.exp(log_temperature))
        return float(-(share * log_share).sum())

    bounds = (float(np.log(_SHARPEST)), float(np.log(_BLUNTEST)))
    temperature = 1.0
    if len(logits) and np.ptp(logits, axis=1).any():  # else all temperatures fit alike
        from scipy.optimize import minimize_scalar  # takes half a second, which only training needs

        temperature = float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))
    threshold = float(np.quantile(scores.max(1), rejection))
    return Calibration(temperature, threshold, rejection)


def probabilities(scores: ScoreArray, calibration: Calibration) -> ScoreArray:
    """Turn scores into probabilities; (n, intents) float64.

    Rows sum to one where a text has one intent, else the values are independent.
    """
    if calibration.task == "multi-label":
        return _sigmoid((scores - calibration.offset) / calibration.temperature)
    result: ScoreArray = np.exp(_log_softmax(scores / calibration.temperature))
    return result


def calibration_to_json(calibration: Calibration) -> dict[str, Any]:
    """Return the values by name, for JSON; those for several labels only where they are used.

    The familiarity measure is stored separately, because it depends on the exemplars.
    """
    values = asdict(replace(calibration, familiarity_measure=None))
    values["thresholds"] = list(calibration.thresholds)
    del values["familiarity_measure"]
    if calibration.task == "multi-label":
        return values
    kept = ["temperature", "threshold", "rejection"]
    if calibration.thresholds:
        kept.append("thresholds")
    return {name: values[name] for name in kept}


def calibration_from_json(values: Mapping[str, Any]) -> Calibration:
    """Read what `calibration_to_json` wrote, among other values.

    Raises:
        ArtifactDamaged: A value is missing or not usable.
    """
    try:
        found = Calibration(
            float(values["temperature"]),
            float(values["threshold"]),
            float(values["rejection"]),
            _read_task(values.get("task", "single-label")),
            tuple(float(limit) for limit in values.get("thresholds", ())),
            float(values.get("offset", 0.0)),
        )
    except MALFORMED as error:
        raise ArtifactDamaged(
            f"The stored calibration cannot be read: {error}.", "Export it again."
        ) from error
    numbers = (found.temperature, found.threshold, found.rejection, found.offset)
    if not (found.temperature > 0 and all(map(isfinite, (*numbers, *found.thresholds)))):
        raise ArtifactDamaged(f"The calibration {found} is not usable.", "Export it again.")
    return found


def _read_task(name: object) -> Task:
    if name == "single-label":
        return "single-label"
    if name == "multi-label":
        return "multi-label"
    message = f"no task is called {name}"
    raise ValueError(message)


def _sigmoid(logits: ScoreArray) -> ScoreArray:
    result: ScoreArray = 0.5 * (1.0 + np.tanh(0.5 * logits))
    return result


def _log_softmax(logits: ScoreArray) -> ScoreArray:
    shifted = logits - logits.max(1, keepdims=True)
    result: ScoreArray = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    return result
