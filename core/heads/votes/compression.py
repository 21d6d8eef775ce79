"""Votes of utterances moved towards their templates (TaDSE Eq. 5, at inference)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.heads.votes.fit import VoteHead, fit_votes
from core.losses.template import compress
from core.splits import Rows
from core.types import FloatArray, ScoreArray
from core.vectors import unit_rows

Voices = Callable[[FloatArray], ScoreArray]
"""What intent names add to the scores of embeddings (n, d); (n, intents)."""


@dataclass(frozen=True, slots=True, eq=False)
class Paired:
    """Utterances and their templates as unit rows (n, d); one without slots is its own template."""

    templates: FloatArray
    utterances: FloatArray

    def at(self, strength: float) -> FloatArray:
        """Move utterances towards their templates by `strength` in [0, 1]; unit rows, (n, d)."""
        return unit_rows(compress(self.templates, self.utterances, strength))


def compressed_votes(head: VoteHead, exemplars: Paired, strength: float) -> VoteHead:
    """Fit a head's votes again on its compressed exemplars, row by row with its targets.

    tau and ridge stay the head's, so that strength (lambda^comp) 0 gives the same head. The root is
    dropped, since heads of many strengths are kept in memory.
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
    """Score each fold's exemplars by the others, at several strengths; return the accuracies.

    The accuracy is the share of labelled rows whose highest intent is one of theirs.

    Args:
        head: Gives settings and labels.
        exemplars: Exemplars as they vote.
        asked: The same texts as queries, with templates proposed without knowing their own.
        folds: Rows of each fold; each row is in one fold.
        strengths: Lambda^comp of each trial.
        voices: Adds intent names to the votes; None for votes alone.
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
    """Return the strength of the highest accuracy; among equals, the smallest."""
    return min(accuracies, key=lambda strength: (-accuracies[strength], strength))
