"""Which exemplars are held out together, and which of them are evaluated.

Synthetic exemplars are never evaluated. They are held out with the exemplar they were made from,
because they repeat its words.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.heads.votes.fit import VoteHead, leave_fold_out
from core.heads.votes.settings import best_settings
from core.recipes.heads import HeadConfig, VotesConfig
from core.splits import Rows, stratified_folds
from core.types import Exemplar, FloatArray, ScoreArray


def sources_of(exemplars: Sequence[Exemplar]) -> Rows:
    """Return the row of each exemplar's source: its own for a real one, -1 if the source is gone.

    Where all exemplars are synthetic, all count as real.

    Returns:
        (m,) int64.
    """
    own = np.arange(len(exemplars), dtype=np.int64)
    if all(exemplar.synthetic for exemplar in exemplars):
        return own
    row = {e.id: place for place, e in enumerate(exemplars) if not e.synthetic}
    found = [row.get(e.synthetic, -1) if e.synthetic else at for at, e in enumerate(exemplars)]
    return np.array(found, dtype=np.int64)


def said_rows(sources: Rows) -> Rows:
    """Return the rows of real exemplars, rising."""
    return np.flatnonzero(sources == np.arange(len(sources))).astype(np.int64)


def with_made(rows: Rows, sources: Rows) -> Rows:
    """Return rows together with the synthetic ones made from them, rising."""
    return np.flatnonzero(np.isin(sources, rows)).astype(np.int64)


def judged_folds(exemplars: Sequence[Exemplar], n_folds: int, seed: int) -> list[Rows]:
    """Divide real exemplars evenly for each (first) intent; a handful gives fewer folds."""
    said = said_rows(sources_of(exemplars))
    labels = [exemplars[row].intents[0] if exemplars[row].intents else "" for row in said]
    folds = stratified_folds(labels, min(n_folds, len(labels)), seed)
    return [said[fold] for fold in folds]


def left_with_source(head: object, scores: ScoreArray, sources: Rows) -> ScoreArray:
    """Score each exemplar by votes without it and without the synthetic ones made from it.

    Args:
        head: Fitted. For other heads than votes of all exemplars the scores stay as they are.
        scores: Of each exemplar without its own label, (m, intents).
        sources: As `sources_of` gives them.

    Returns:
        (m, intents) float64.
    """
    if not isinstance(head, VoteHead) or head.carriers is not None:
        return scores
    said, counts = np.unique(sources[sources >= 0], return_counts=True)
    groups = [with_made(np.array([row]), sources) for row in said[counts > 1]]
    if not groups:
        return scores
    rows = np.concatenate(groups)
    together = leave_fold_out(head, groups)
    found = scores.copy()
    found[rows] = together[rows]
    return found


def settled_on_said(
    config: HeadConfig, embeddings: FloatArray, targets: ScoreArray, sources: Rows
) -> HeadConfig:
    """Choose the settings that votes leave open by real exemplars alone.

    Near copies would choose votes so narrow that nothing but a copy is found.

    Args:
        config: The recipe's head.
        embeddings: Of the exemplars, (m, d).
        targets: Their labels, (m, intents).
        sources: As `sources_of` gives them.
    """
    said = said_rows(sources)
    if not isinstance(config, VotesConfig) or len(said) == len(sources):
        return config
    tau, ridge = best_settings(embeddings[said], targets[said], config.tau, config.ridge)
    return config.model_copy(update={"tau": tau, "ridge": ridge})


def is_said(exemplars: Sequence[Exemplar]) -> NDArray[np.bool_]:
    """Tell which exemplars are evaluated, (m,)."""
    sources = sources_of(exemplars)
    return np.asarray(sources == np.arange(len(sources)))
