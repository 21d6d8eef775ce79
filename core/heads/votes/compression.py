"""Votes among utterances that were moved towards their templates (TaDSE Eq. 5, at inference)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.heads.votes.fit import VoteHead, fit_votes
from core.losses.template import compress
from core.splits import Rows
from core.types import FloatArray, ScoreArray
from core.vectors import unit_rows

Voices = Callable[[FloatArray], ScoreArray]
"""What names add to the scores of embeddings (n, d); (n, intents)."""


@dataclass(frozen=True, slots=True, eq=False)
class Paired:
    """Utterances and their templates, row by row; unit rows, each (n, d) float32.

    An utterance without slots is its own template, and stays where it is.
    """

    templates: FloatArray
    utterances: FloatArray

    def at(self, strength: float) -> FloatArray:
        """Move utterances so far towards their templates, in [0, 1]; unit rows, (n, d)."""
        return unit_rows(compress(self.templates, self.utterances, strength))


def compressed_votes(head: VoteHead, exemplars: Paired, strength: float) -> VoteHead:
    """Fit a head's votes again among its compressed exemplars.

    The settings stay those of the head, so that at strength 0 it is the same head; its root is
    let go, since many strengths of one head are kept side by side.

    Args:
        head: Its targets belong to the exemplars, row by row.
        exemplars: Where they lie, and their templates.
        strength: Lambda^comp.
    """
    rows = exemplars.at(strength)
    fitted = fit_votes(rows, head.targets, head.intents, head.tau, head.ridge)
    return replace(fitted, root=None)


def held_out_accuracies(
    head: VoteHead,
    exemplars: Paired,
    asked: Paired,
    folds: Sequence[Rows],
    strengths: Sequence[float],
    voices: Voices | None = None,
) -> dict[float, float]:
    """Let the exemplars of each fold be answered by those of the others, at several strengths.

    Args:
        head: Gives settings and labels.
        exemplars: As they vote.
        asked: The same texts as queries: with templates that were proposed without knowing
            their own.
        folds: Rows of each fold; together every row once.
        strengths: Lambda^comp of each trial.
        voices: Of names beside the votes; None: they have none.

    Returns:
        For each strength the share of labelled rows whose highest intent is one of theirs.
    """
    found = {}
    for strength in strengths:
        moved = asked.at(strength)
        scores = _held_out(head, exemplars.at(strength), moved, folds)
        found[strength] = _accuracy(scores if voices is None else scores + voices(moved), head)
    return found


def _held_out(
    head: VoteHead, known: FloatArray, asked: FloatArray, folds: Sequence[Rows]
) -> ScoreArray:
    scores = np.zeros_like(head.targets)
    for fold in folds:
        seen = np.setdiff1d(np.arange(len(known)), fold)
        part = fit_votes(known[seen], head.targets[seen], head.intents, head.tau, head.ridge)
        scores[fold] = part.scores(asked[fold])
    return scores


def _accuracy(scores: ScoreArray, head: VoteHead) -> float:
    labelled = head.targets.sum(1) > 0
    best = head.targets[np.arange(len(scores)), scores.argmax(1)] > 0
    return float(best[labelled].mean()) if labelled.any() else 0.0


def choose_strength(accuracies: Mapping[float, float]) -> float:
    """Return the strength of the highest accuracy; the smallest one of equals."""
    return min(accuracies, key=lambda strength: (-accuracies[strength], strength))
