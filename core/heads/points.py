"""One point per intent, and the nearest wins: means of exemplars, or embedded intent names."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from core.types import FloatArray, ScoreArray
from core.vectors import cosines, unit_rows

_FARTHEST = -1.0


@dataclass(frozen=True, slots=True, eq=False)
class PointHead:
    """One point per intent; the nearest wins.

    `points` holds rows (intents, d) float32, zeros for an intent without a point. Rows have length
    1; names compared by dot product have lengths up to 1.
    """

    kind: Literal["prototypes", "names"]
    intents: tuple[str, ...]
    points: FloatArray

    @property
    def consistent(self) -> bool:
        """Whether the shapes of the arrays fit together."""
        return self.points.ndim == 2 and len(self.points) == len(self.intents)

    def scores(self, embeddings: FloatArray) -> ScoreArray:
        """Return the cosine to each point, -1 without a point; (n, intents) float64."""
        scores = cosines(unit_rows(embeddings), self.points)
        scores[:, ~self.points.any(1)] = _FARTHEST
        return scores


def fit_prototypes(
    embeddings: FloatArray, targets: ScoreArray, intents: Sequence[str]
) -> PointHead:
    """Average the unit embeddings (m, d) of each intent's exemplars, weighted by targets (m, c)."""
    sums = targets.T @ unit_rows(embeddings)
    return PointHead("prototypes", tuple(intents), unit_rows(sums.astype(np.float32)))


def fit_names(
    names: FloatArray, intents: Sequence[str], similarity: Literal["cosine", "dot"] = "cosine"
) -> PointHead:
    """Use the embedded intent names (intents, d) as points.

    For dot products they keep their lengths, divided by the longest; the utterance's length does
    not change which name is nearest.
    """
    if similarity == "cosine":
        return PointHead("names", tuple(intents), unit_rows(names))
    longest = max(float(np.linalg.norm(names, axis=1).max(initial=0.0)), 1e-12)
    return PointHead("names", tuple(intents), (names / longest).astype(np.float32))
