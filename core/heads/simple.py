"""The heads of the papers, kept as named settings: neighbours, prototypes, linear, names."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression

from core.types import FloatArray, ScoreArray
from core.vectors import unit_rows


@dataclass(frozen=True, slots=True, eq=False)
class NeighbourHead:
    """The k nearest exemplars add their cosine to their intents (k = 1 in ConvFiT Section 2.2).

    Attributes:
        intents: Names of the score columns.
        k: How many speak.
        exemplars: Unit embeddings, (m, d) float32.
        targets: Their labels, (m, intents) float64.
    """

    intents: tuple[str, ...]
    k: int
    exemplars: FloatArray
    targets: ScoreArray

    @property
    def kind(self) -> str:
        """Name in the recipe."""
        return "neighbours"

    def scores(self, embeddings: FloatArray) -> ScoreArray:
        """Mean cosine of the k nearest that carry the intent; (n, intents) float64."""
        cosines = (unit_rows(embeddings) @ self.exemplars.T).astype(np.float64)
        k = min(self.k, cosines.shape[1])
        nearest = np.argpartition(-cosines, k - 1, axis=1)[:, :k]
        weights = np.zeros_like(cosines)
        np.put_along_axis(weights, nearest, np.take_along_axis(cosines, nearest, 1), 1)
        scores: ScoreArray = weights @ self.targets / k
        return scores


@dataclass(frozen=True, slots=True, eq=False)
class PointHead:
    """One point per intent, the nearest wins: means of exemplars (`prototypes`) or `names`.

    Attributes:
        kind: `prototypes` or `names`.
        intents: Names of the score columns.
        points: Unit rows, (intents, d) float32.
    """

    kind: str
    intents: tuple[str, ...]
    points: FloatArray

    def scores(self, embeddings: FloatArray) -> ScoreArray:
        """Cosine to each point; (n, intents) float64."""
        return (unit_rows(embeddings) @ self.points.T).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class LinearHead:
    """Logistic regression on unit embeddings.

    Attributes:
        intents: Names of the score columns.
        coefficients: (d, intents) float64.
        intercepts: (intents,) float64.
    """

    intents: tuple[str, ...]
    coefficients: ScoreArray
    intercepts: ScoreArray

    @property
    def kind(self) -> str:
        """Name in the recipe."""
        return "linear"

    def scores(self, embeddings: FloatArray) -> ScoreArray:
        """Logits; (n, intents) float64."""
        scores: ScoreArray = unit_rows(embeddings) @ self.coefficients + self.intercepts
        return scores


def fit_prototypes(
    embeddings: FloatArray, targets: ScoreArray, intents: Sequence[str]
) -> PointHead:
    """Take the mean of each intent's unit embeddings; an intent without a label is never near."""
    sums = targets.T @ unit_rows(embeddings)
    return PointHead("prototypes", tuple(intents), unit_rows(sums.astype(np.float32)))


def fit_linear(
    embeddings: FloatArray, targets: ScoreArray, intents: Sequence[str], inverse_penalty: float
) -> LinearHead:
    """Fit multinomial logistic regression; an intent without a label scores below all others."""
    labels = targets.argmax(1)
    model = LogisticRegression(C=inverse_penalty, max_iter=1_000)
    model.fit(unit_rows(embeddings), labels)
    coefficients = np.zeros((embeddings.shape[1], len(intents)))
    intercepts = np.full(len(intents), -1e3)
    if len(model.classes_) == 2:  # scikit-learn keeps one row for two classes
        pairs = [(-model.coef_[0], -model.intercept_[0]), (model.coef_[0], model.intercept_[0])]
    else:
        pairs = list(zip(model.coef_, model.intercept_, strict=True))
    for column, (slope, offset) in zip(model.classes_, pairs, strict=True):
        coefficients[:, column], intercepts[column] = slope, offset
    return LinearHead(tuple(intents), coefficients, intercepts)
