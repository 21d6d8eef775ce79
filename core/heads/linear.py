"""Logistic regression on unit embeddings, stored as coefficients."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.types import FloatArray, ScoreArray
from core.vectors import unit_rows

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression

_NEVER = -1e3
"""Logit of an intent without a label, below every fitted one."""


@dataclass(frozen=True, slots=True, eq=False)
class LinearHead:
    """One hyperplane per intent: coefficients (d, intents) and intercepts (intents,), float64."""

    intents: tuple[str, ...]
    coefficients: ScoreArray
    intercepts: ScoreArray

    @property
    def kind(self) -> str:
        """Name in the recipe."""
        return "linear"

    @property
    def consistent(self) -> bool:
        """Whether the shapes of the arrays fit together."""
        return self.coefficients.shape[1:] == self.intercepts.shape == (len(self.intents),)

    def scores(self, embeddings: FloatArray) -> ScoreArray:
        """Return logits; (n, intents) float64."""
        unit = unit_rows(embeddings).astype(np.float64)
        scores: ScoreArray = unit @ self.coefficients + self.intercepts
        return scores


def fit_linear(
    embeddings: FloatArray, targets: ScoreArray, intents: Sequence[str], inverse_penalty: float
) -> LinearHead:
    """Fit multinomial regression, or one against the rest where a text may have several intents.

    An intent without a label scores below all others. Embeddings (m, d) may have any length; a
    target (m, intents) of 0.5 or more is a label. `inverse_penalty` is C of scikit-learn.
    """
    unit = unit_rows(embeddings).astype(np.float64)
    coefficients = np.zeros((unit.shape[1], len(intents)))
    intercepts = np.full(len(intents), _NEVER)
    carried = targets >= 0.5
    if (carried.sum(1) == 1).all():
        fitted = _one_of_many(unit, carried.argmax(1), inverse_penalty)
    else:
        fitted = {
            column: _yes_or_no(unit, carried[:, column], inverse_penalty)
            for column in np.flatnonzero(carried.any(0)).tolist()
        }
    for column, (slope, offset) in fitted.items():
        coefficients[:, column], intercepts[column] = slope, offset
    return LinearHead(tuple(intents), coefficients, intercepts)


_Plane = tuple[ScoreArray, float]


def _one_of_many(
    unit: ScoreArray, labels: NDArray[np.int64], inverse_penalty: float
) -> dict[int, _Plane]:
    """Fit one multinomial regression; return slope and offset of each label that occurs."""
    kinds = np.unique(labels)
    if len(kinds) == 1:  # with one label there is nothing to fit
        return {int(kinds[0]): (np.zeros(unit.shape[1]), 0.0)}
    model = _regression(inverse_penalty).fit(unit, labels)
    slopes, offsets = model.coef_, model.intercept_
    if len(kinds) == 2:  # scikit-learn stores the second logit only; softmax needs two
        slopes = np.stack([np.zeros_like(slopes[0]), slopes[0]])
        offsets = np.stack([0.0, offsets[0]])
    planes = zip(kinds.tolist(), slopes, offsets.tolist(), strict=True)
    return {kind: (slope, offset) for kind, slope, offset in planes}


def _yes_or_no(unit: ScoreArray, carried: NDArray[np.bool_], inverse_penalty: float) -> _Plane:
    """Fit one intent against its absence; return slope and offset."""
    if carried.all():
        return np.zeros(unit.shape[1]), -_NEVER
    model = _regression(inverse_penalty).fit(unit, carried)
    return model.coef_[0], float(model.intercept_[0])


def _regression(inverse_penalty: float) -> "LogisticRegression":
    from sklearn.linear_model import LogisticRegression  # a fitted head answers without it

    return LogisticRegression(C=inverse_penalty, max_iter=1_000)
