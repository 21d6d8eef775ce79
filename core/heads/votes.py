"""Exemplar votes: kernel ridge regression whose score is the sum of signed votes.

With k = exp((cosine - 1) / tau), K the exemplars' kernel matrix, Y their targets and p the mean
target: A = (K + ridge I)^-1 (Y - p), and the score of a text x is p + sum over exemplars of
k(x, i) A_i. Nothing is approximated: prior and votes add up to the score.

For large sets the votes are carried by m chosen exemplars while all n labels are used (subset of
regressors, Rasmussen and Williams 2006, Eq. 8.12): A = (Knm' Knm + ridge Kmm)^-1 Knm' (Y - p).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from core.heads.kernel import kernel
from core.types import FloatArray, ScoreArray
from core.vectors import unit_rows

_CHUNK = 2_048


@dataclass(frozen=True, slots=True, eq=False)
class VoteHead:
    """Fitted votes.

    Attributes:
        intents: Names of the score columns.
        tau: Width of a vote; small lets only near exemplars speak.
        ridge: Smoothing; large distrusts single labels.
        exemplars: Unit embeddings that vote, (m, d) float32.
        targets: Their labels, (m, intents) float64.
        prior: Mean target, (intents,) float64.
        weights: A, (m, intents) float64.
        inverse: (K + ridge I)^-1, (m, m) float64; None where a subset carries the votes.
        carriers: Which rows of the fitted set vote, (m,) int64; None when all do.
    """

    intents: tuple[str, ...]
    tau: float
    ridge: float
    exemplars: FloatArray
    targets: ScoreArray
    prior: ScoreArray
    weights: ScoreArray
    inverse: ScoreArray | None
    carriers: NDArray[np.int64] | None = None

    @property
    def kind(self) -> str:
        """Name in the recipe."""
        return "votes"

    def scores(self, embeddings: FloatArray) -> ScoreArray:
        """Score embeddings (n, d); (n, intents) float64."""
        unit = unit_rows(embeddings)
        parts = [
            kernel(unit[start : start + _CHUNK], self.exemplars, self.tau) @ self.weights
            for start in range(0, len(unit), _CHUNK)
        ]
        sums = np.concatenate(parts) if parts else np.zeros((0, len(self.intents)))
        return sums + self.prior


def fit_votes(
    embeddings: FloatArray, targets: ScoreArray, intents: Sequence[str], tau: float, ridge: float
) -> VoteHead:
    """Fit votes of all exemplars.

    Args:
        embeddings: (m, d), of any length.
        targets: One-hot, multi-hot or soft labels, (m, intents).
        intents: Names of the columns.
        tau: Width of a vote.
        ridge: Smoothing.
    """
    unit = unit_rows(embeddings)
    matrix = kernel(unit, unit, tau)
    inverse = _inverse_of(matrix, ridge)
    return _solved(
        VoteHead(tuple(intents), tau, ridge, unit, targets, targets.mean(0), targets, inverse)
    )


def fit_subset_votes(
    embeddings: FloatArray,
    targets: ScoreArray,
    intents: Sequence[str],
    settings: tuple[float, float],
    chosen: Sequence[int],
) -> VoteHead:
    """Fit votes carried by chosen exemplars, with `settings` (tau, ridge); O(m^2) memory."""
    tau, ridge = settings
    unit = unit_rows(embeddings)
    places = np.asarray(chosen, dtype=np.int64)
    carriers = unit[places]
    prior = targets.mean(0)
    gram = ridge * kernel(carriers, carriers, tau)
    moments = np.zeros((len(carriers), targets.shape[1]))
    for start in range(0, len(unit), _CHUNK):
        part = kernel(unit[start : start + _CHUNK], carriers, tau)
        gram += part.T @ part
        moments += part.T @ (targets[start : start + _CHUNK] - prior)
    jitter = 1e-10 * np.trace(gram) / len(gram)
    factor = cho_factor(gram + jitter * np.eye(len(gram)), lower=True)
    weights = cho_solve(factor, moments)
    return VoteHead(
        tuple(intents), tau, ridge, carriers, targets[places], prior, weights, None, places
    )


def votes(head: VoteHead, embeddings: FloatArray, column: int) -> ScoreArray:
    """Return each exemplar's signed vote for one intent; (n, m) float64.

    A row's votes and the intent's prior sum to its score.
    """
    return kernel(unit_rows(embeddings), head.exemplars, head.tau) * head.weights[:, column]


def leave_one_out(head: VoteHead) -> ScoreArray:
    """Score each exemplar by the others, in closed form; (m, intents) float64.

    score_i = Y_i - A_i / [(K + ridge I)^-1]_ii (Rasmussen and Williams 2006, Eq. 5.12). Equals
    fitting again without exemplar i, at the same tau, ridge and prior.

    Raises:
        ValueError: A subset carries the votes, so the closed form does not hold.
    """
    if head.inverse is None:
        message = "leave-one-out needs votes of all exemplars"
        raise ValueError(message)
    scores: ScoreArray = head.targets - head.weights / np.diagonal(head.inverse)[:, None]
    return scores


def add(head: VoteHead, embeddings: FloatArray, targets: ScoreArray) -> VoteHead:
    """Add exemplars by a block update; equal to fitting again with them, O(m^2) for each."""
    inverse = _whole(head)
    unit = unit_rows(embeddings)
    cross = kernel(head.exemplars, unit, head.tau)
    lifted = inverse @ cross
    corner = kernel(unit, unit, head.tau) + head.ridge * np.eye(len(unit)) - cross.T @ lifted
    schur = np.linalg.inv(corner)
    edge = -lifted @ schur
    grown = np.block([[inverse - edge @ lifted.T, edge], [edge.T, schur]])
    exemplars = np.concatenate([head.exemplars, unit])
    labels = np.concatenate([head.targets, targets])
    return _solved(replace(head, exemplars=exemplars, targets=labels, inverse=grown))


def remove(head: VoteHead, rows: Sequence[int]) -> VoteHead:
    """Remove exemplars by a block downdate; equal to fitting again without them."""
    inverse = _whole(head)
    gone = np.zeros(len(head.exemplars), dtype=bool)
    gone[np.asarray(rows, dtype=np.int64)] = True
    kept = ~gone
    edge = inverse[np.ix_(kept, gone)]
    left = inverse[np.ix_(kept, kept)] - edge @ np.linalg.solve(inverse[np.ix_(gone, gone)], edge.T)
    exemplars, labels = head.exemplars[kept], head.targets[kept]
    return _solved(replace(head, exemplars=exemplars, targets=labels, inverse=left))


def relabel(head: VoteHead, row: int, target: ScoreArray) -> VoteHead:
    """Give one exemplar another label; equal to fitting again, for K does not change."""
    _whole(head)
    targets = head.targets.copy()
    targets[row] = target
    return _solved(replace(head, targets=targets))


def solve_again(head: VoteHead) -> VoteHead:
    """Return the head with its inverse computed from its exemplars, ready for updates."""
    matrix = kernel(head.exemplars, head.exemplars, head.tau)
    return replace(head, inverse=_inverse_of(matrix, head.ridge))


def _whole(head: VoteHead) -> ScoreArray:
    if head.inverse is None:
        message = "updates need votes of all exemplars"
        raise ValueError(message)
    return head.inverse


def _solved(head: VoteHead) -> VoteHead:
    """Return the head with prior and weights that follow from its targets and inverse."""
    prior = head.targets.mean(0)
    return replace(head, prior=prior, weights=_whole(head) @ (head.targets - prior))


def _inverse_of(matrix: ScoreArray, ridge: float) -> ScoreArray:
    factor = cho_factor(matrix + ridge * np.eye(len(matrix)), lower=True)
    inverse: ScoreArray = cho_solve(factor, np.eye(len(matrix)))
    return (inverse + inverse.T) / 2
