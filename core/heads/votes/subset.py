"""Votes for large sets: chosen exemplars (carriers) vote, fitted to all labels.

Subset of regressors (Rasmussen and Williams 2006, Section 8.3.1) in a well-conditioned form: with L
L' = Kmm and Z = Knm L^-T, ridge regression on the rows of Z, (Z'Z + ridge I) u = Z'(Y - p), gives
the carriers' weights A = L^-T u. The score is still p + sum over carriers of k(x, i) A_i; with
every exemplar a carrier it is the full solution.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from core.heads.votes.fit import VoteHead
from core.heads.votes.kernel import kernel, square_kernel
from core.heads.votes.root import cholesky
from core.types import FloatArray, ScoreArray
from core.vectors import unit_rows

_CHUNK = 1_024
_JITTER = 1e-10
"""Added to the carriers' kernel, because two carriers with the same text would make it singular."""


@dataclass(frozen=True, slots=True)
class _System:
    """The carriers' factor L and the factor R of Z'Z + ridge I; both (m, m), lower."""

    carriers: FloatArray
    tau: float
    outer: ScoreArray
    inner: ScoreArray
    moments: ScoreArray

    def features(self, unit: FloatArray) -> Iterator[tuple[slice, ScoreArray]]:
        """Yield Z' by chunks of rows, (m, chunk)."""
        yield from _features(unit, self.carriers, self.tau, self.outer)


def fit_subset_votes(
    embeddings: FloatArray,
    targets: ScoreArray,
    intents: Sequence[str],
    settings: tuple[float, float],
    carriers: NDArray[np.int64],
) -> VoteHead:
    """Fit votes carried by the exemplars of rows `carriers` (m,), from the labels of all n.

    Memory is O(m^2 + n d), time O(n m^2). Embeddings (n, d) may have any length; `settings` are tau
    and ridge; no carrier occurs twice.
    """
    tau, ridge = settings
    unit = unit_rows(embeddings)
    system = _system(unit, targets, settings, carriers)
    inner = solve_triangular(system.inner, system.moments, lower=True)
    inner = solve_triangular(system.inner, inner, lower=True, trans="T")
    weights = solve_triangular(system.outer, inner, lower=True, trans="T")
    return VoteHead(
        tuple(intents),
        tau,
        ridge,
        unit[carriers],
        targets[carriers],
        targets.mean(0),
        np.ascontiguousarray(weights),
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
    scores = np.empty_like(targets)
    for part, rows in system.features(unit):
        lifted = solve_triangular(system.inner, rows, lower=True)
        own = np.einsum("ij,ij->j", lifted, lifted)
        residual = targets[part] - head.scores(unit[part])
        scores[part] = targets[part] - residual / (1.0 - own)[:, None]
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
) -> _System:
    tau, ridge = settings
    points = unit[carriers]
    outer = cholesky(square_kernel(points, tau, _JITTER))
    gram = ridge * np.eye(len(points))
    moments = np.zeros((len(points), targets.shape[1]))
    prior = targets.mean(0)
    for part, rows in _features(unit, points, tau, outer):
        gram += rows @ rows.T
        moments += rows @ (targets[part] - prior)
    return _System(points, tau, outer, cholesky(gram), moments)


def _features(
    unit: FloatArray, carriers: FloatArray, tau: float, outer: ScoreArray
) -> Iterator[tuple[slice, ScoreArray]]:
    for start in range(0, len(unit), _CHUNK):
        part = slice(start, start + _CHUNK)
        cross = kernel(carriers, unit[part], tau)
        yield part, solve_triangular(outer, cross, lower=True, overwrite_b=True)
