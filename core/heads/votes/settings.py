"""Choose tau and ridge by leave-one-out, and fit votes of any number of exemplars with them."""

from collections.abc import Iterator, Sequence

import numpy as np
from threadpoolctl import threadpool_limits

from core.heads.votes.fit import VoteHead, fit_votes
from core.heads.votes.kernel import kernel_of_cosines
from core.heads.votes.root import inverse_diagonal, inverse_factor
from core.heads.votes.subset import fit_subset_votes, spread_choice
from core.recipes.heads import HeadConfig, VotesConfig
from core.types import FloatArray, ScoreArray, Task, Told, told_nobody
from core.vectors import cosines, unit_rows

TAUS = (0.2, 0.3, 0.4, 0.5, 0.6)
RIDGES = (0.03, 0.1, 0.3)
DEFAULT = (0.4, 0.1)
"""(tau, ridge) for embeddings whose leave-one-out scores are too good, as a tuned encoder's are."""

MULTI_LABEL_DEFAULT = (2.0, 0.1)
"""The same where utterances have several intents.

Intents then add up along directions of the space. Wide votes see these; narrow ones, which look for
near twins, do not.
"""

_SAMPLE = 1_500
_MOST_CARRIERS = 5_000


def choose_votes(
    embeddings: FloatArray,
    targets: ScoreArray,
    intents: Sequence[str],
    config: VotesConfig,
    told: Told = told_nobody,
) -> VoteHead:
    """Fit votes with the recipe's settings, choosing those that it leaves open.

    Embeddings (m, d) may have any length. Above `config.max_exemplars` exemplars, a subset votes.
    Only that reports to `told`: the votes of all take half a minute at most.
    """
    settings = best_settings(embeddings, targets, config.tau, config.ridge)
    if len(embeddings) <= config.max_exemplars:
        return fit_votes(embeddings, targets, intents, *settings)
    carriers = spread_choice(targets, min(config.max_exemplars, _MOST_CARRIERS))
    return fit_subset_votes(embeddings, targets, intents, settings, carriers, told)


def settle(config: HeadConfig, task: Task = "single-label") -> HeadConfig:
    """Replace what leave-one-out would choose by the default of the task.

    This serves a tuned encoder: it has drawn its exemplars together, so leave-one-out finds every
    setting perfect and picks by chance.
    """
    if not isinstance(config, VotesConfig):
        return config
    tau, ridge = _default(task)
    return config.model_copy(update={"tau": config.tau or tau, "ridge": config.ridge or ridge})


def vote_settings(config: HeadConfig, task: Task = "single-label") -> tuple[float, float]:
    """Return tau and ridge for votes on a tuned encoder, for any head of the recipe."""
    settled = settle(config, task)
    tau, ridge = _default(task)
    if isinstance(settled, VotesConfig):
        return settled.tau or tau, settled.ridge or ridge
    return tau, ridge


def _default(task: Task) -> tuple[float, float]:
    return MULTI_LABEL_DEFAULT if task == "multi-label" else DEFAULT


def best_settings(
    embeddings: FloatArray, targets: ScoreArray, tau: float | None, ridge: float | None
) -> tuple[float, float]:
    """Return tau and ridge (each as given, or chosen if None) with the least leave-one-out error.

    The criterion is the mean squared leave-one-out error (PRESS; Allen 1974). It is the loss that
    the votes minimise, and it serves one-hot, multi-hot and soft labels. It is smooth, while
    leave-one-out accuracy jumps by chance on a few hundred labels, and log-loss under a fixed
    sharpness merely rewards large scores. Of equal settings the smallest tau wins, then the largest
    ridge.
    """
    if tau is not None and ridge is not None:
        return tau, ridge
    # One thread: these matrices are too small to gain from more. With the cores busy, threads that
    # wait for each other took 20 s for what one does in 1 s.
    with threadpool_limits(limits=1, user_api="blas"):
        return _best_of(
            embeddings,
            targets,
            TAUS if tau is None else (tau,),
            RIDGES if ridge is None else (ridge,),
        )


def _best_of(
    embeddings: FloatArray, targets: ScoreArray, taus: Sequence[float], ridges: Sequence[float]
) -> tuple[float, float]:
    rows = spread_choice(targets, _SAMPLE)
    unit = unit_rows(embeddings[rows])
    similarity = cosines(unit, unit)
    centred = targets[rows] - targets[rows].mean(0)
    found = [
        (error, tau, -ridge)
        for tau in taus
        for error, ridge in _errors(kernel_of_cosines(similarity, tau), centred, ridges)
    ]
    _, best_tau, smoothing = min(found)
    return best_tau, -smoothing


def _errors(
    matrix: ScoreArray, centred: ScoreArray, ridges: Sequence[float]
) -> Iterator[tuple[float, float]]:
    """Yield the mean squared leave-one-out error of each ridge, from one kernel matrix.

    Two triangular inversions of m^3 / 3 each for every ridge are cheaper than one
    eigendecomposition for all, for fewer than about eight ridges.
    """
    diagonal = np.diag_indices_from(matrix)
    for ridge in ridges:
        shifted = matrix.copy()
        shifted[diagonal] += ridge
        root = inverse_factor(shifted)
        weights = root.T @ (root @ centred)
        residual = weights / inverse_diagonal(root)[:, None]
        yield float((residual**2).sum(1).mean()), ridge
