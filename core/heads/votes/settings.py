"""Choose tau and ridge by leave-one-out, and fit votes of any number of exemplars with them."""

from collections.abc import Iterator, Sequence

import numpy as np
from threadpoolctl import threadpool_limits

from core.heads.votes.fit import VoteHead, fit_votes
from core.heads.votes.kernel import kernel_of_cosines
from core.heads.votes.root import inverse_diagonal, inverse_factor
from core.heads.votes.subset import fit_subset_votes, spread_choice
from core.recipes.heads import HeadConfig, VotesConfig
from core.types import FloatArray, ScoreArray, Task
from core.vectors import cosines, unit_rows

TAUS = (0.2, 0.3, 0.4, 0.5, 0.6)
RIDGES = (0.03, 0.1, 0.3)
DEFAULT = (0.4, 0.1)
"""(tau, ridge) for embeddings whose leave-one-out scores flatter, as those of a tuned encoder."""

MULTI_LABEL_DEFAULT = (2.0, 0.1)
"""The same where utterances have several intents: intents add up along lines of the space, which
wide votes see and narrow ones, that look for near twins, do not."""

_SAMPLE = 1_500
_MOST_CARRIERS = 5_000


def choose_votes(
    embeddings: FloatArray, targets: ScoreArray, intents: Sequence[str], config: VotesConfig
) -> VoteHead:
    """Fit votes with the settings of the recipe, choosing those that it leaves open.

    Args:
        embeddings: (m, d), of any length.
        targets: Labels, (m, intents).
        intents: Names of the columns.
        config: tau and ridge where given, and from how many exemplars on a subset votes.
    """
    settings = best_settings(embeddings, targets, config.tau, config.ridge)
    if len(embeddings) <= config.max_exemplars:
        return fit_votes(embeddings, targets, intents, *settings)
    carriers = spread_choice(targets, min(config.max_exemplars, _MOST_CARRIERS))
    return fit_subset_votes(embeddings, targets, intents, settings, carriers)


def settle(config: HeadConfig, task: Task = "single-label") -> HeadConfig:
    """Replace what leave-one-out would choose by the default of the task.

    For a tuned encoder: it has drawn its exemplars together, so leave-one-out finds every
    setting perfect and picks by chance.
    """
    if not isinstance(config, VotesConfig):
        return config
    tau, ridge = _default(task)
    return config.model_copy(update={"tau": config.tau or tau, "ridge": config.ridge or ridge})


def vote_settings(config: HeadConfig, task: Task = "single-label") -> tuple[float, float]:
    """Return tau and ridge for votes on a tuned encoder, whatever head the recipe names."""
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
    """Return the tau and ridge whose leave-one-out scores lie nearest the labels.

    The criterion is the mean squared leave-one-out error (PRESS; Allen 1974). It is the loss that
    the votes themselves minimise, it serves one label, several or soft ones alike, and it is
    smooth: leave-one-out accuracy jumps by chance on a few hundred labels, and log-loss under a
    fixed sharpness merely rewards large scores. Of equal settings the narrower, smoother one wins.

    Args:
        embeddings: (m, d), of any length.
        targets: Labels, (m, intents).
        tau: Given, or None to choose.
        ridge: Given, or None to choose.
    """
    if tau is not None and ridge is not None:
        return tau, ridge
    # One thread: these matrices are too small to gain from more, and where another program keeps
    # the cores busy, threads that wait for each other took 20 s for what one does in 1 s.
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
    """Give the mean squared leave-one-out error of each ridge, from one kernel matrix.

    Two triangular inversions of m^3 / 3 each are cheaper than the one eigendecomposition that
    would serve all ridges, for fewer than about eight of them.
    """
    diagonal = np.diag_indices_from(matrix)
    for ridge in ridges:
        shifted = matrix.copy()
        shifted[diagonal] += ridge
        root = inverse_factor(shifted)
        weights = root.T @ (root @ centred)
        residual = weights / inverse_diagonal(root)[:, None]
        yield float((residual**2).sum(1).mean()), ridge
