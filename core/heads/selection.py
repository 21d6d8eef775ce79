"""Choose tau and ridge by leave-one-out, and the carriers of a large set."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.heads.kernel import kernel_of_cosines
from core.heads.votes import VoteHead, fit_subset_votes, fit_votes
from core.recipes import HeadConfig, VotesConfig
from core.types import FloatArray, ScoreArray
from core.vectors import unit_rows

TAUS = (0.2, 0.3, 0.4)
RIDGES = (0.05, 0.1, 0.2)
DEFAULT = (0.4, 0.1)
"""(tau, ridge) for embeddings whose leave-one-out scores flatter, as those of a tuned encoder."""

_SAMPLE = 3_000
_SHARPNESS = 10.0


def choose_votes(
    embeddings: FloatArray, targets: ScoreArray, intents: Sequence[str], config: VotesConfig
) -> VoteHead:
    """Fit votes with the settings of the recipe, choosing those that it leaves open."""
    tau, ridge = config.tau, config.ridge
    if tau is None or ridge is None:
        best = best_settings(embeddings, targets, tau, ridge)
        tau, ridge = best
    if len(embeddings) <= config.max_exemplars:
        return fit_votes(embeddings, targets, intents, tau, ridge)
    chosen = spread_choice(targets, config.max_exemplars // 4)
    return fit_subset_votes(embeddings, targets, intents, (tau, ridge), chosen.tolist())


def settle(config: HeadConfig) -> HeadConfig:
    """Replace what leave-one-out would choose by `DEFAULT`.

    For a tuned encoder: it has drawn its exemplars together, so leave-one-out finds every
    setting perfect and picks by chance.
    """
    if not isinstance(config, VotesConfig):
        return config
    tau, ridge = DEFAULT
    return config.model_copy(update={"tau": config.tau or tau, "ridge": config.ridge or ridge})


def best_settings(
    embeddings: FloatArray, targets: ScoreArray, tau: float | None, ridge: float | None
) -> tuple[float, float]:
    """Return the tau and ridge whose leave-one-out scores explain the labels best.

    The criterion is the log-loss of softmax(scores x 10): smoother than accuracy, which on a few
    hundred labels jumps by chance. One eigendecomposition for each tau serves all ridges.
    """
    rows = np.arange(len(embeddings))
    if len(rows) > _SAMPLE:
        rows = spread_choice(targets, _SAMPLE)
    unit = unit_rows(embeddings[rows])
    cosines = (unit @ unit.T).astype(np.float64)
    centred = targets[rows] - targets[rows].mean(0)
    found: list[tuple[float, float, float]] = []
    for one_tau in (tau,) if tau else TAUS:
        values, vectors = np.linalg.eigh(kernel_of_cosines(cosines, one_tau))
        turned = vectors.T @ centred
        for one_ridge in (ridge,) if ridge else RIDGES:
            scale = 1.0 / (np.maximum(values, 0.0) + one_ridge)
            diagonal = (vectors**2) @ scale
            residual = (vectors @ (scale[:, None] * turned)) / diagonal[:, None]
            found.append((_log_loss(targets[rows] - residual, targets[rows]), one_tau, one_ridge))
    _, best_tau, best_ridge = min(found)
    return best_tau, best_ridge


def _log_loss(scores: ScoreArray, targets: ScoreArray) -> float:
    logits = scores * _SHARPNESS
    logits = logits - logits.max(1, keepdims=True)
    log_share = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    share = targets / np.maximum(targets.sum(1, keepdims=True), 1.0)
    return float(-(share * log_share).sum(1).mean())


def spread_choice(targets: ScoreArray, n: int) -> NDArray[np.int64]:
    """Choose n rows so that small intents keep all and large ones share the rest evenly."""
    labels = targets.argmax(1)
    rank = np.empty(len(labels), dtype=np.int64)
    generator = np.random.default_rng(0)
    for label in np.unique(labels):
        rows = generator.permutation(np.flatnonzero(labels == label))
        rank[rows] = np.arange(len(rows))
    order = np.lexsort((labels, rank))
    return np.sort(order[:n])
