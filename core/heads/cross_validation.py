"""Scores of the exemplars by a head fitted without them."""

from collections.abc import Sequence

import numpy as np

from core.heads.base import Head
from core.heads.build import fit_head
from core.heads.points import PointHead
from core.heads.votes.fit import VoteHead, leave_fold_out, leave_one_out
from core.heads.votes.subset import subset_leave_fold_out, subset_leave_one_out
from core.recipes.heads import HeadConfig, VotesConfig
from core.splits import Rows, stratified_folds
from core.types import FloatArray, ScoreArray, Told, told_nobody

_FOLDS = 5


def cross_validated_scores(
    head: Head, config: HeadConfig, embeddings: FloatArray, targets: ScoreArray
) -> ScoreArray:
    """Score each exemplar without its own label: leave-one-out for votes, else by five folds.

    The labels are held out of the head only: scores are too good if the encoder was tuned on them.
    `head` was fitted with `config` on these embeddings (m, d) and targets (m, intents). Returns (m,
    intents) float64.
    """
    if isinstance(head, VoteHead):
        if head.carriers is not None:
            return subset_leave_one_out(head, embeddings, targets)
        return leave_one_out(head)
    labels = [str(row) for row in targets.argmax(1)]
    folds = stratified_folds(labels, min(_FOLDS, len(labels)), seed=0)
    return fold_scores(head, config, embeddings, targets, folds)


def fold_scores(
    head: Head,
    config: HeadConfig,
    embeddings: FloatArray,
    targets: ScoreArray,
    folds: Sequence[Rows],
    told: Told = told_nobody,
) -> ScoreArray:
    """Score each fold by a head fitted on the other folds, with the settings chosen on all.

    Votes also keep their prior: with few labels, holding out an intent's texts would make it look
    rarer. Votes of a subset keep their carriers, too, and report to `told`. Other arguments as for
    `cross_validated_scores`; each row is in one fold.
    """
    if isinstance(head, PointHead) and head.kind == "names":
        return head.scores(embeddings)  # fitted without labels
    if isinstance(head, VoteHead):
        if head.carriers is not None:
            return subset_leave_fold_out(head, embeddings, targets, folds, told)
        return leave_fold_out(head, folds)
    settled = fixed_config(head, config)
    scores = np.zeros_like(targets)
    for fold in folds:
        seen = np.setdiff1d(np.arange(len(targets)), fold)
        part = fit_head(settled, embeddings[seen], targets[seen], head.intents)
        scores[fold] = part.scores(embeddings[fold])
    return scores


def fixed_config(head: Head, config: HeadConfig) -> HeadConfig:
    """Return the recipe's head with the settings that fitting chose."""
    if isinstance(head, VoteHead) and isinstance(config, VotesConfig):
        return config.model_copy(update={"tau": head.tau, "ridge": head.ridge})
    return config
