"""Labels for the texts that nobody saw: by the votes of those that were taken."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from core.discover.taking import Taken
from core.heads.votes.fit import fit_votes, leave_one_out
from core.types import FloatArray

SETTINGS = (0.3, 0.1)
"""tau and ridge of the votes."""

MOST_VOTERS = 4_000
"""Texts that vote; those that a person saw come first."""


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """A label for each text, and how sure it is.

    Attributes:
        columns: Each text's intent, (n,) int64.
        sureness: Margin of the best score over the second; infinite for a label a person saw, (n,).
    """

    columns: NDArray[np.int64] = field(repr=False)
    sureness: NDArray[np.float64] = field(repr=False)

    def surest(self, count: int) -> NDArray[np.int64]:
        """Return the `count` rows of the surest labels, the surest first."""
        return np.argsort(-self.sureness, kind="stable")[:count]


def spread(embeddings: FloatArray, taken: Taken, seed: int = 0) -> Spread:
    """Let the taken texts vote on all texts (n, d).

    A label that a person saw stays. A text of a core that was not shown gets the label that the
    others' votes give it, without its own: they correct more of such labels than they break.

    Raises:
        ValueError: Nothing is taken.
    """
    voters = _voters(taken, seed)
    names = [str(column) for column in range(taken.n_intents)]
    targets = np.eye(taken.n_intents)[taken.columns[voters]]
    head = fit_votes(embeddings[voters], targets, names, *SETTINGS)
    scores = head.scores(embeddings)
    scores[voters] = leave_one_out(head)
    columns = scores.argmax(1)
    best = scores[np.arange(len(scores)), columns]
    if taken.n_intents > 1:
        best = best - np.partition(scores, -2, axis=1)[:, -2]
    return Spread(np.where(taken.seen, taken.columns, columns), np.where(taken.seen, np.inf, best))


def _voters(taken: Taken, seed: int) -> NDArray[np.int64]:
    """Choose at most `MOST_VOTERS` labelled rows: those seen first, the others at random."""
    rows = np.random.default_rng(seed).permutation(np.flatnonzero(taken.labelled))
    rows = rows[np.argsort(~taken.seen[rows], kind="stable")]
    return np.sort(rows[:MOST_VOTERS])
