"""Exemplar votes: kernel ridge regression whose score is the sum of signed votes.

With k = exp((cosine - 1) / tau), K the exemplars' kernel matrix, Y their targets and p the mean
target: A = (K + ridge I)^-1 (Y - p). The score of a text x is p + sum over exemplars of k(x, i)
A_i, exactly. Sets too large for one such matrix are fitted in `subset.py`; `settings.py` chooses
tau and ridge; `amending.py` adds, removes and relabels exemplars.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrs

from core.heads.votes.kernel import kernel, kernel_of_cosines
from core.heads.votes.root import (
    cholesky,
    inverse_columns,
    inverse_diagonal,
    inverse_root,
)
from core.types import FloatArray, Pause, ScoreArray, no_pause
from core.vectors import unit_rows

_CHUNK = 1_024
_NO_LABEL = 1e-9
"""An intent with a smaller share of the labels has none; changes leave rounding errors."""
_KEEP_ROOT = 12_000
"""Up to this many exemplars the inverse root (1.1 GiB) is kept for later changes."""

Corner = Callable[[NDArray[np.int64]], ScoreArray]
"""Reads (K + ridge I)^-1 of n exemplars' rows and columns, (n, n), without solving anew."""


@dataclass(frozen=True, slots=True, eq=False)
class VoteHead:
    """Fitted votes.

    Attributes:
        tau: Width of a vote; a small one gives far exemplars no weight.
        ridge: Smoothing; a large one trusts single labels less.
        exemplars: Unit embeddings that vote, (m, d) float32.
        targets: Labels of the exemplars, (m, intents) float64.
        prior: Mean target of all labels fitted on, (intents,) float64.
        weights: A, (m, intents) float64.
        diagonal: Diagonal of (K + ridge I)^-1, (m,) float64; None where a subset carries the votes.
        root: Lower R with R'R = (K + ridge I)^-1, (m, m) float64, or None where it is not kept.
        carriers: Rows of the fitted set that vote, (m,) int64; None when all do.
    """

    intents: tuple[str, ...]
    tau: float
    ridge: float
    exemplars: FloatArray
    targets: ScoreArray
    prior: ScoreArray
    weights: ScoreArray
    diagonal: ScoreArray | None = None
    root: ScoreArray | None = None
    carriers: NDArray[np.int64] | None = None

    @property
    def kind(self) -> str:
        """Name in the recipe."""
        return "votes"

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Which intents have an exemplar, (intents,)."""
        found: NDArray[np.bool_] = self.prior > _NO_LABEL
        return found

    @property
    def consistent(self) -> bool:
        """Whether the shapes of the arrays fit together."""
        rows, c = (len(self.exemplars), len(self.intents)), len(self.intents)
        return self.targets.shape == self.weights.shape == rows and self.prior.shape == (c,)

    def scores(self, embeddings: FloatArray) -> ScoreArray:
        """Score embeddings (n, d), of any length; (n, intents) float64."""
        unit = unit_rows(embeddings)
        sums = np.empty((len(unit), len(self.intents)))
        for start in range(0, len(unit), _CHUNK):
            part = slice(start, start + _CHUNK)
            sums[part] = kernel(unit[part], self.exemplars, self.tau) @ self.weights
        return sums + self.prior


def fit_votes(
    embeddings: FloatArray, targets: ScoreArray, intents: Sequence[str], tau: float, ridge: float
) -> VoteHead:
    """Fit votes of all exemplars (m, d); O(m^3) time, one (m, m) float64 matrix of memory.

    Embeddings may have any length; targets (m, intents) may be one-hot, multi-hot or soft.

    Raises:
        ValueError: There is no exemplar, or shapes do not fit.
    """
    if not len(embeddings) or targets.shape != (len(embeddings), len(intents)):
        message = f"{len(embeddings)} embeddings, {len(intents)} intents, targets {targets.shape}"
        raise ValueError(message)
    unit = unit_rows(embeddings)
    prior = targets.mean(0)
    root = inverse_root(unit, tau, ridge)
    return VoteHead(
        tuple(intents),
        tau,
        ridge,
        unit,
        targets,
        prior,
        weights=inverse_columns(root, targets - prior),
        diagonal=inverse_diagonal(root),
        root=root if len(unit) <= _KEEP_ROOT else None,
    )


def votes(head: VoteHead, embedding: FloatArray) -> ScoreArray:
    """Return each exemplar's signed vote on one text (d,) for every intent; (m, intents) float64.

    Each column and the intent's prior sum to the intent's score.
    """
    weight = kernel(unit_rows(embedding[None, :]), head.exemplars, head.tau)[0]
    signed: ScoreArray = weight[:, None] * head.weights
    return signed


def votes_for(head: VoteHead, similarity: ScoreArray, columns: NDArray[np.int64]) -> ScoreArray:
    """Return each exemplar's signed vote on many texts, for one intent per text; (n, m) float64.

    A row and the intent's prior sum to the intent's score. `similarity` holds the cosines of texts
    and exemplars, (n, m); `columns` each text's intent, (n,).
    """
    signed = kernel_of_cosines(similarity, head.tau)
    signed *= head.weights.T[columns]
    return signed


def leave_one_out(head: VoteHead) -> ScoreArray:
    """Score each exemplar by the others, in closed form; (m, intents) float64.

    score_i = Y_i - A_i / [(K + ridge I)^-1]_ii (Rasmussen and Williams 2006, Eq. 5.12). Equals
    fitting again without exemplar i at the same tau, ridge and prior. The prior is held fixed
    because, with few labels, holding out an intent's texts would make it look rarer.

    Raises:
        ValueError: A subset carries the votes; use `subset_leave_one_out`.
    """
    if head.diagonal is None:
        message = "a subset carries these votes"
        raise ValueError(message)
    scores: ScoreArray = head.targets - head.weights / head.diagonal[:, None]
    return scores


def leave_fold_out(
    head: VoteHead, folds: Sequence[NDArray[np.int64]], corner: Corner | None = None
) -> ScoreArray:
    """Score each fold's exemplars by those of the other folds, in closed form; (m, intents).

    With G = (K + ridge I)^-1 and F the rows of a fold, score_F = Y_F - (G_FF)^-1 A_F. Equals
    fitting again without the fold at the same tau, ridge and prior. Each row is in one fold; folds
    of one row each give `leave_one_out`. Without a `corner` of these votes, which may have been
    amended, their root is computed if it is not stored.

    Raises:
        ValueError: A subset carries the votes.
    """
    corner = corner or _corner_of(root_of(head))
    scores = np.empty_like(head.targets)
    for fold in folds:
        factor = cholesky(corner(fold))
        residual = dpotrs(factor, head.weights[fold], lower=1)[0]
        scores[fold] = head.targets[fold] - residual
    return scores


def _corner_of(root: ScoreArray) -> Corner:
    def corner(rows: NDArray[np.int64]) -> ScoreArray:
        columns = root[:, rows]
        found: ScoreArray = columns.T @ columns
        return found

    return corner


def root_of(head: VoteHead, pause: Pause = no_pause) -> ScoreArray:
    """Return the stored R with R'R = (K + ridge I)^-1, or compute it; (m, m) float64, lower.

    Raises:
        ValueError: A subset carries the votes.
    """
    if head.carriers is not None or head.diagonal is None:
        message = "a subset carries these votes; fit again instead"
        raise ValueError(message)
    if head.root is not None:
        return head.root
    return inverse_root(head.exemplars, head.tau, head.ridge, pause)
