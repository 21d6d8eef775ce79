"""Votes for large sets: chosen exemplars (carriers) vote, fitted to all labels.

Subset of regressors (Rasmussen and Williams 2006, Section 8.3.1) in a well-conditioned form: with L
L' = Kmm and Z = Knm L^-T, ridge regression on the rows of Z, (Z'Z + ridge I) u = Z'(Y - p), gives
the carriers' weights A = L^-T u. The score is still p + sum over carriers of k(x, i) A_i; with
every exemplar a carrier it is the full solution.

`gram` below is Z'Z + ridge I. It is a sum over rows, so that a fold is left out by subtraction.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.blas import dsyrk

from core.heads.votes.fit import VoteHead
from core.heads.votes.kernel import kernel, square_kernel
from core.heads.votes.root import cholesky
from core.types import FloatArray, ScoreArray, Told, told_nobody
from core.vectors import unit_rows

_CHUNK = 1_024
_JITTER = 1e-10
"""Added to the carriers' kernel, because two carriers with the same text would make it singular."""


@dataclass(frozen=True, slots=True)
class _System:
    """The carriers' factor L, `outer`, (m, m), and sums over rows.

    `gram` is Z'Z, (m, m), in Fortran order and of it the lower triangle alone, with ridge I where
    it stands for all rows; `moments` is Z'(Y - p), (m, intents).
    """

    carriers: FloatArray
    tau: float
    prior: ScoreArray
    outer: ScoreArray
    gram: ScoreArray
    moments: ScoreArray

    def features(self, unit: FloatArray) -> Iterator[tuple[slice, ScoreArray]]:
        """Yield Z' by chunks of rows, (m, chunk)."""
        for start in range(0, len(unit), _CHUNK):
            part = slice(start, start + _CHUNK)
            cross = kernel(self.carriers, unit[part], self.tau)
            yield part, solve_triangular(self.outer, cross, lower=True, overwrite_b=True)

    def add(self, unit: FloatArray, targets: ScoreArray, told: Told = told_nobody) -> None:
        """Add rows (n, d) with their labels, (n, intents), to the sums."""
        for part, rows in self.features(unit):
            # Half the products of a sum of matrices, and no second matrix of this size.
            dsyrk(1.0, rows, beta=1.0, c=self.gram, lower=1, overwrite_c=1)
            np.add(self.moments, rows @ (targets[part] - self.prior), out=self.moments)
            told(min(1.0, part.stop / len(unit)))

    def emptied(self) -> "_System":
        """Return the same system without a row."""
        return replace(
            self, gram=np.zeros_like(self.gram, order="F"), moments=np.zeros_like(self.moments)
        )

    def weights(self) -> ScoreArray:
        """Solve for the carriers' weights A, (m, intents); overwrites `gram`."""
        factor = cholesky(self.gram.T)
        inner = solve_triangular(factor, self.moments, lower=True)
        inner = solve_triangular(factor, inner, lower=True, trans="T")
        return np.ascontiguousarray(solve_triangular(self.outer, inner, lower=True, trans="T"))


def fit_subset_votes(
    embeddings: FloatArray,
    targets: ScoreArray,
    intents: Sequence[str],
    settings: tuple[float, float],
    carriers: NDArray[np.int64],
    told: Told = told_nobody,
) -> VoteHead:
    """Fit votes carried by the exemplars of rows `carriers` (m,), from the labels of all n.

    Memory is O(m^2 + n d), time O(n m^2). Embeddings (n, d) may have any length; `settings` are tau
    and ridge; no carrier occurs twice.
    """
    tau, ridge = settings
    unit = unit_rows(embeddings)
    system = _system(unit, targets, settings, carriers, told)
    return VoteHead(
        tuple(intents),
        tau,
        ridge,
        unit[carriers],
        targets[carriers],
        targets.mean(0),
        system.weights(),
        carriers=carriers,
    )


def subset_leave_one_out(head: VoteHead, embeddings: FloatArray, targets: ScoreArray) -> ScoreArray:
    """Score each of the n labelled texts without its own label; (n, intents) float64.

    Closed form of ridge regression: score_i = Y_i - (Y_i - f_i) / (1 - z_i'(Z'Z + ridge I)^-1 z_i).
    tau, ridge, the prior and the carriers are held fixed; a carrier left out still carries, without
    its label. `head` was fitted by `fit_subset_votes` on these embeddings and targets.

    Raises:
        ValueError: All exemplars vote; use `leave_one_out`.
    """
    if head.carriers is None:
        message = "no subset carries these votes"
        raise ValueError(message)
    unit = unit_rows(embeddings)
    system = _system(unit, targets, (head.tau, head.ridge), head.carriers)
    factor = cholesky(system.gram.T)
    scores = np.empty_like(targets)
    for part, rows in system.features(unit):
        lifted = solve_triangular(factor, rows, lower=True)
        own = np.einsum("ij,ij->j", lifted, lifted)
        residual = targets[part] - head.scores(unit[part])
        scores[part] = targets[part] - residual / (1.0 - own)[:, None]
    return scores


def subset_leave_fold_out(
    head: VoteHead,
    embeddings: FloatArray,
    targets: ScoreArray,
    folds: Sequence[NDArray[np.int64]],
    told: Told = told_nobody,
) -> ScoreArray:
    """Score each fold's texts without their labels; (n, intents) float64.

    Equals fitting again on the rows of the other folds at the same tau, ridge, prior and carriers;
    a carrier left out still carries, without its label. Each row is in one fold. Takes twice the
    time of `fit_subset_votes`, and 2 m^2 float64 of memory more, for m carriers.

    Raises:
        ValueError: All exemplars vote; use `leave_fold_out`.
    """
    if head.carriers is None:
        message = "no subset carries these votes"
        raise ValueError(message)
    unit = unit_rows(embeddings)
    settings = (head.tau, head.ridge)
    system = _system(unit, targets, settings, head.carriers, lambda share: told(share / 2))
    scores = np.empty_like(targets)
    for place, fold in enumerate(folds):
        rest = system.emptied()
        rest.add(unit[fold], targets[fold])
        np.subtract(system.gram, rest.gram, out=rest.gram)
        np.subtract(system.moments, rest.moments, out=rest.moments)
        scores[fold] = replace(head, weights=rest.weights()).scores(unit[fold])
        told(0.5 + 0.5 * (place + 1) / len(folds))
    return scores


def spread_choice(targets: ScoreArray, n: int) -> NDArray[np.int64]:
    """Choose n rows so that small intents keep all rows and large ones share the rest evenly.

    Returns rows, ascending, (min(n, m),) int64, the same for the same targets (m, intents). A row
    counts for its first largest column.
    """
    labels = targets.argmax(1)
    rank = np.empty(len(labels), dtype=np.int64)
    generator = np.random.default_rng(0)
    for label in np.unique(labels):
        rows = generator.permutation(np.flatnonzero(labels == label))
        rank[rows] = np.arange(len(rows))
    order = np.lexsort((labels, rank))
    return np.sort(order[:n]).astype(np.int64)


def _system(
    unit: FloatArray,
    targets: ScoreArray,
    settings: tuple[float, float],
    carriers: NDArray[np.int64],
    told: Told = told_nobody,
) -> _System:
    tau, ridge = settings
    points = unit[carriers]
    outer = cholesky(square_kernel(points, tau, _JITTER))
    moments = np.zeros((len(points), targets.shape[1]))
    gram = ridge * np.eye(len(points), order="F")
    system = _System(points, tau, targets.mean(0), outer, gram, moments)
    system.add(unit, targets, told)
    return system
