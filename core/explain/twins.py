"""Examples that say nearly the same: they share one vote, so they are told together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.types import FloatArray, ScoreArray

ALIKE = 0.97
"""Cosine from which on two examples with the same label are told together."""
_LOOKED_AT = 100
"""This many examples by vote, and as many by cosine, are looked at."""


@dataclass(frozen=True, slots=True)
class Together:
    """An example, and others with its label that say nearly the same.

    Attributes:
        row: The one of them that is most similar to the text.
        others: Rows of the others, by falling cosine to the text.
        vote: The sum of all their votes.
    """

    row: int
    others: tuple[int, ...]
    vote: float

    @property
    def rows(self) -> tuple[int, ...]:
        """All rows, that most similar to the text first."""
        return self.row, *self.others


def told_together(
    unit: FloatArray,
    labels: Sequence[tuple[str, ...]],
    cosines: ScoreArray,
    votes: ScoreArray,
) -> list[Together]:
    """Join the votes of examples that say nearly the same, by falling size of their sum.

    `unit` are the embeddings of all examples, unit rows (m, d), with their `labels`; `cosines` and
    `votes`, (m,), are those of one text. Each example is in one group at most.
    """
    left = _looked_at(cosines, votes)
    alike = unit[left] @ unit[left].T >= ALIKE
    free = np.ones(len(left), dtype=bool)
    found = []
    for place, row in enumerate(left.tolist()):
        if not free[place]:
            continue
        same = [
            other
            for other in np.flatnonzero(alike[place] & free).tolist()
            if other != place and labels[left[other]] == labels[row]
        ]
        free[[place, *same]] = False
        others = tuple(int(left[other]) for other in same)
        found.append(Together(row, others, float(votes[[row, *others]].sum())))
    return sorted(found, key=lambda one: -abs(one.vote))


def _looked_at(cosines: ScoreArray, votes: ScoreArray) -> NDArray[np.int64]:
    """Return the heaviest and the most similar rows that vote, by falling cosine."""
    heavy = np.argsort(-np.abs(votes), kind="stable")[:_LOOKED_AT]
    near = np.argsort(-cosines, kind="stable")[:_LOOKED_AT]
    rows = np.union1d(heavy, near)
    rows = rows[votes[rows] != 0]
    falling: NDArray[np.int64] = rows[np.argsort(-cosines[rows], kind="stable")]
    return falling
