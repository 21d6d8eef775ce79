"""The k nearest exemplars vote with their cosine (Vulic et al. 2021, ConvFiT: k = 1)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.types import FloatArray, ScoreArray
from core.vectors import cosines, nearest, unit_rows

_CHUNK = 256
_LEAST = 1e-9
"""Share of a neighbour with cosine 0 or less, so that its intent beats those without any."""


@dataclass(frozen=True, slots=True, eq=False)
class NeighbourHead:
    """The k nearest exemplars, each giving its cosine / k to its intents.

    Exemplars are unit embeddings, (m, d) float32; targets are their labels, (m, intents) float64.
    """

    intents: tuple[str, ...]
    k: int
    exemplars: FloatArray
    targets: ScoreArray

    @property
    def kind(self) -> str:
        """Name in the recipe."""
        return "neighbours"

    @property
    def consistent(self) -> bool:
        """Whether the shapes of the arrays fit together."""
        return self.targets.shape == (len(self.exemplars), len(self.intents)) and self.k >= 1

    def scores(self, embeddings: FloatArray) -> ScoreArray:
        """Sum the votes of the k nearest; (n, intents) float64 in [0, 1] for one-hot labels."""
        unit = unit_rows(embeddings)
        scores = np.empty((len(unit), len(self.intents)))
        for start in range(0, len(unit), _CHUNK):
            part = slice(start, start + _CHUNK)
            similarity = cosines(unit[part], self.exemplars)
            scores[part] = _shares(similarity, self.k) @ self.targets
        return scores


def neighbour_votes(
    head: NeighbourHead, similarity: ScoreArray, columns: NDArray[np.int64]
) -> ScoreArray:
    """Return each exemplar's vote on many texts, for one intent per text; rows sum to its score.

    `similarity` holds the cosines of texts and exemplars, (n, m); `columns` each text's intent,
    (n,).
    """
    votes: ScoreArray = _shares(similarity, head.k) * head.targets.T[columns]
    return votes


def _shares(similarity: ScoreArray, k: int) -> ScoreArray:
    """Give each of the k nearest exemplars its cosine / k, all others 0; (n, m) float64."""
    columns = nearest(similarity, k)
    shares = np.zeros_like(similarity)
    given = np.maximum(np.take_along_axis(similarity, columns, 1), _LEAST)
    np.put_along_axis(shares, columns, given / max(columns.shape[1], 1), 1)
    return shares
