"""Exemplar votes: kernel ridge regression whose score is the sum of signed votes.

With k = exp((cosine - 1) / tau), K the exemplars' kernel matrix, Y their targets and p the mean
target: A = (K + ridge I)^-1 (Y - p), and the score of a text x is p + sum over exemplars of
k(x, i) A_i. Nothing is approximated: prior and votes add up to the score. Sets too large for one
such matrix are fitted in `core.heads.subset`; settings are chosen in `core.heads.selection`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs, dtrtri

from core.heads.kernel import kernel, kernel_of_cosines, square_kernel
from core.types import FloatArray, ScoreArray
from core.vectors import unit_rows

_CHUNK = 1_024
_KEEP_INVERSE = 4_096
"""Up to this many exemplars the inverse (128 MiB) is kept, so that updates are immediate."""


@dataclass(frozen=True, slots=True, eq=False)
class VoteHead:
    """Fitted votes.

    Attributes:
        intents: Names of the score columns.
        tau: Width of a vote; small lets only near exemplars speak.
        ridge: Smoothing; large distrusts single labels.
        exemplars: Unit embeddings that vote, (m, d) float32.
        targets: Their labels, (m, intents) float64.
        prior: Mean target of all labels fitted on, (intents,) float64.
        weights: A, (m, intents) float64.
        diagonal: Of (K + ridge I)^-1, (m,) float64; None where a subset carries the votes.
        inverse: (K + ridge I)^-1, (m, m) float64, or None where it is not kept.
        carriers: Which rows of the fitted set vote, (m,) int64; None when all do.
    """

    intents: tuple[str, ...]
    tau: float
    ridge: float
    exemplars: FloatArray
    targets: ScoreArray
    prior: ScoreArray
    weights: ScoreArray
    diagonal: ScoreArray | None = None
    inverse: ScoreArray | None = None
    carriers: NDArray[np.int64] | None = None

    @property
    def kind(self) -> str:
        """Name in the recipe."""
        return "votes"

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
    """Fit votes of all exemplars; O(m^3) time, one (m, m) float64 matrix of memory.

    Args:
        embeddings: (m, d), of any length.
        targets: One-hot, multi-hot or soft labels, (m, intents).
        intents: Names of the columns.
        tau: Width of a vote.
        ridge: Smoothing.

    Raises:
        ValueError: No exemplar, or shapes that do not belong together.
    """
    if not len(embeddings) or targets.shape != (len(embeddings), len(intents)):
        message = f"{len(embeddings)} embeddings, {len(intents)} intents, targets {targets.shape}"
        raise ValueError(message)
    unit = unit_rows(embeddings)
    prior = targets.mean(0)
    factor = cholesky(square_kernel(unit, tau, ridge))
    weights: ScoreArray = np.ascontiguousarray(dpotrs(factor, targets - prior, lower=1)[0])
    inverse: ScoreArray | None = None
    if len(unit) <= _KEEP_INVERSE:
        inverse = _inverse_of(factor)
        diagonal = np.diagonal(inverse).copy()
    else:
        diagonal = inverse_diagonal(factor)
    return VoteHead(
        tuple(intents), tau, ridge, unit, targets, prior, weights, diagonal, inverse=inverse
    )


def votes(head: VoteHead, embedding: FloatArray) -> ScoreArray:
    """Return each exemplar's signed vote on one text (d,) for every intent; (m, intents) float64.

    Each column and the intent's prior sum to the intent's score.
    """
    weight = kernel(unit_rows(embedding[None, :]), head.exemplars, head.tau)[0]
    signed: ScoreArray = weight[:, None] * head.weights
    return signed


def votes_for(head: VoteHead, similarity: ScoreArray, columns: NDArray[np.int64]) -> ScoreArray:
    """Return each exemplar's signed vote on many texts, for one intent per text.

    Args:
        head: Fitted votes.
        similarity: Cosines of texts and exemplars, (n, m).
        columns: The intent asked about for each text, (n,).

    Returns:
        (n, m) float64; a row and the intent's prior sum to the intent's score.
    """
    signed = kernel_of_cosines(similarity, head.tau)
    signed *= head.weights.T[columns]
    return signed


def leave_one_out(head: VoteHead) -> ScoreArray:
    """Score each exemplar by the others, in closed form; (m, intents) float64.

    score_i = Y_i - A_i / [(K + ridge I)^-1]_ii (Rasmussen and Williams 2006, Eq. 5.12). Equals
    fitting again without exemplar i at the same tau, ridge and prior; the prior is held fixed
    because on a handful of labels an intent would else look rarer for each of its own texts.

    Raises:
        ValueError: A subset carries the votes; `subset_leave_one_out` serves it.
    """
    if head.diagonal is None:
        message = "a subset carries these votes"
        raise ValueError(message)
    scores: ScoreArray = head.targets - head.weights / head.diagonal[:, None]
    return scores


def leave_fold_out(head: VoteHead, folds: Sequence[NDArray[np.int64]]) -> ScoreArray:
    """Score each fold's exemplars by those of the other folds, in closed form; (m, intents).

    With G = (K + ridge I)^-1 and F the rows of a fold, score_F = Y_F - (G_FF)^-1 A_F. Equals
    fitting again without the fold at the same tau, ridge and prior; folds of one row each give
    `leave_one_out`.

    Args:
        head: Fitted votes.
        folds: Rows of each fold; together every row once.

    Raises:
        ValueError: A subset carries the votes.
    """
    inverse = whole_inverse(head)
    scores = np.empty_like(head.targets)
    for fold in folds:
        factor = cholesky(inverse[np.ix_(fold, fold)])
        residual = dpotrs(factor, head.weights[fold], lower=1)[0]
        scores[fold] = head.targets[fold] - residual
    return scores


def add(head: VoteHead, embeddings: FloatArray, targets: ScoreArray) -> VoteHead:
    """Add exemplars at the end by a block update; O(m^2) for each.

    Equals fitting all of them at the same tau and ridge; the prior is that of all labels.
    """
    inverse = whole_inverse(head)
    unit = unit_rows(embeddings)
    cross = kernel(head.exemplars, unit, head.tau)
    lifted = inverse @ cross
    corner = square_kernel(unit, head.tau, head.ridge) - cross.T @ lifted
    schur = _inverse_of(cholesky(corner)) if len(unit) else corner
    edge = -lifted @ schur
    grown = np.block([[inverse - edge @ lifted.T, edge], [edge.T, schur]])
    return _solved(
        head,
        np.concatenate([head.exemplars, unit]),
        np.concatenate([head.targets, targets]),
        grown,
    )


def remove(head: VoteHead, rows: Sequence[int]) -> VoteHead:
    """Remove exemplars by a block downdate.

    Equals fitting the rest at the same tau and ridge; the prior is that of the labels left.

    Raises:
        ValueError: No exemplar would be left.
    """
    inverse = whole_inverse(head)
    gone = np.zeros(len(head.exemplars), dtype=bool)
    gone[np.asarray(rows, dtype=np.int64)] = True
    kept = ~gone
    if not kept.any():
        message = "votes need at least one exemplar"
        raise ValueError(message)
    edge = inverse[np.ix_(kept, gone)]
    left = inverse[np.ix_(kept, kept)] - edge @ np.linalg.solve(inverse[np.ix_(gone, gone)], edge.T)
    return _solved(head, head.exemplars[kept], head.targets[kept], left)


def relabel(head: VoteHead, row: int, target: ScoreArray) -> VoteHead:
    """Give one exemplar another label (intents,); equals fitting again, prior included."""
    targets = head.targets.copy()
    targets[row] = target
    return _solved(head, head.exemplars, targets, whole_inverse(head))


def whole_inverse(head: VoteHead) -> ScoreArray:
    """Return (K + ridge I)^-1, kept or computed anew; (m, m) float64.

    Raises:
        ValueError: A subset carries the votes.
    """
    if head.carriers is not None or head.diagonal is None:
        message = "a subset carries these votes; fit again instead"
        raise ValueError(message)
    if head.inverse is not None:
        return head.inverse
    # LAPACK through SciPy holds the interpreter's lock: of 10,000 exemplars a server that brings
    # its votes up to date would answer nobody for twenty seconds.
    import torch

    factor = torch.linalg.cholesky(
        torch.from_numpy(square_kernel(head.exemplars, head.tau, head.ridge))
    )
    inverse: ScoreArray = torch.cholesky_inverse(factor).numpy()
    return inverse


def _solved(
    head: VoteHead, exemplars: FloatArray, targets: ScoreArray, inverse: ScoreArray
) -> VoteHead:
    """Return the head of these exemplars, with what follows from targets and inverse."""
    prior = targets.mean(0)
    return replace(
        head,
        exemplars=exemplars,
        targets=targets,
        prior=prior,
        weights=inverse @ (targets - prior),
        diagonal=np.diagonal(inverse).copy(),
        inverse=inverse,
    )


def cholesky(matrix: ScoreArray) -> ScoreArray:
    """Factor a symmetric positive definite matrix in its own memory; lower, Fortran order."""
    # The transpose of a C-ordered symmetric matrix is itself in Fortran order: no copy is made.
    factor, failed = dpotrf(matrix.T, lower=1, clean=1, overwrite_a=1)
    if failed:
        message = f"the matrix is not positive definite (row {failed})"
        raise np.linalg.LinAlgError(message)
    result: ScoreArray = factor
    return result


def _inverse_of(factor: ScoreArray) -> ScoreArray:
    """Turn a Cholesky factor into the inverse, in its own memory."""
    inverse, _ = dpotri(factor, lower=1, overwrite_c=1)
    for column in range(len(inverse) - 1):
        inverse[column, column + 1 :] = inverse[column + 1 :, column]
    result: ScoreArray = inverse.T  # symmetric, and so in C order
    return result


def inverse_diagonal(factor: ScoreArray) -> ScoreArray:
    """Turn a Cholesky factor, in its own memory, into the diagonal of the inverse, (m,)."""
    lower, _ = dtrtri(factor, lower=1, overwrite_c=1)
    result: ScoreArray = np.einsum("ij,ij->j", lower, lower)
    return result
