"""Which exemplars are held out together, and which of them are evaluated.

Synthetic exemplars are never evaluated. They are held out with the exemplar they were made from,
because they repeat its words.
"""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from core.heads.votes.fit import Corner, VoteHead, leave_fold_out
from core.heads.votes.settings import best_settings
from core.recipes.heads import HeadConfig, VotesConfig
from core.splits import Rows, stratified_folds
from core.text import normalise
from core.types import Exemplar, FloatArray, ScoreArray


def sources_of(exemplars: Sequence[Exemplar]) -> Rows:
    """Return the row of each exemplar's source, (m,) int64; -1 if the source is missing.

    The source of a real exemplar is itself. Where all are synthetic, all count as real.
    """
    own = np.arange(len(exemplars), dtype=np.int64)
    if all(exemplar.synthetic for exemplar in exemplars):
        return own
    row = {e.id: place for place, e in enumerate(exemplars) if not e.synthetic}
    found = [row.get(e.synthetic, -1) if e.synthetic else at for at, e in enumerate(exemplars)]
    return np.array(found, dtype=np.int64)


def said_rows(sources: Rows) -> Rows:
    """Return the rows of real exemplars, ascending."""
    return np.flatnonzero(sources == np.arange(len(sources))).astype(np.int64)


def with_made(rows: Rows, sources: Rows) -> Rows:
    """Return rows together with the synthetic ones made from them, ascending."""
    return np.flatnonzero(np.isin(sources, rows)).astype(np.int64)


def judged_folds(exemplars: Sequence[Exemplar], n_folds: int, seed: int) -> list[Rows]:
    """Divide real exemplars evenly for each (first) intent; at most one fold per exemplar."""
    said = said_rows(sources_of(exemplars))
    labels = [exemplars[row].intents[0] if exemplars[row].intents else "" for row in said]
    folds = stratified_folds(labels, min(n_folds, len(labels)), seed)
    return [said[fold] for fold in folds]


def judged_part(exemplars: Sequence[Exemplar], n_parts: int) -> Rows:
    """Hold out one in `n_parts` real exemplars, evenly for each (first) intent, ascending.

    Of each intent these are the texts with the lowest digests: the same for each seed, and nearly
    the same once there are more labels. Versions that are judged by other texts have other
    thresholds by chance alone.
    """
    said = said_rows(sources_of(exemplars))
    labels = np.array([exemplars[row].intents[0] if exemplars[row].intents else "" for row in said])
    digests = [blake2b(normalise(exemplars[row].text).encode()).digest() for row in said]
    held_out, dealt = list[int](), 0
    for name in np.unique(labels):
        places = np.flatnonzero(labels == name).tolist()
        count = len(range(-dealt % n_parts, len(places), n_parts))
        held_out += sorted(places, key=lambda place: digests[place])[:count]
        dealt += len(places)
    return np.sort(said[held_out])


def left_with_source(
    head: object, scores: ScoreArray, sources: Rows, corner: Corner | None = None
) -> ScoreArray:
    """Score each exemplar by votes without it and without the synthetic ones made from it.

    `scores` are those of a head that leaves out the exemplar alone, (m, intents); for other heads
    than votes of all exemplars they are returned unchanged. `sources` is the result of
    `sources_of`; `corner` is as for `leave_fold_out`.
    """
    if not isinstance(head, VoteHead) or head.carriers is not None:
        return scores
    said, counts = np.unique(sources[sources >= 0], return_counts=True)
    groups = [with_made(np.array([row]), sources) for row in said[counts > 1]]
    if not groups:
        return scores
    rows = np.concatenate(groups)
    together = leave_fold_out(head, groups, corner)
    found = scores.copy()
    found[rows] = together[rows]
    return found


def settled_on_said(
    config: HeadConfig, embeddings: FloatArray, targets: ScoreArray, sources: Rows
) -> HeadConfig:
    """Choose the settings that a recipe leaves open for votes by real exemplars alone.

    Near copies would choose votes so narrow that they find nothing but copies. `sources` is the
    result of `sources_of`.
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
