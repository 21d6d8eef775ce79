"""Scores of one text without some exemplars or with more of them.

With k the kernel of text and exemplars, g = G k, S = G Y and o = G 1, the score is k'S + (1 - k'o)
p for the prior p. Without the exemplars D and with their prior p' it is

    k'S - x'S_D + (1 - k'o + x'o_D) p',    x = G_DD^-1 g_D.

Removing or adding (`with_more`) r exemplars solves r equations, and equals fitting again.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.explain.solved_votes import SolvedVotes
from core.heads.votes.kernel import kernel
from core.types import FloatArray, ScoreArray
from core.vectors import unit_rows


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """One text, prepared for what-if questions.

    Attributes:
        unit: The text's embedding, of length one, (d,) float32.
        kernel: k, (m,).
        lifted: G k, (m,).
        solved: k'S plus the voices, (intents,).
        ones: k'o.
        open: 1 - k'G k, positive: how much of the text the exemplars do not explain.
        voices: What intent names add to the scores, (intents,); no exemplar changes it.
    """

    votes: SolvedVotes
    unit: FloatArray
    kernel: ScoreArray
    lifted: ScoreArray
    solved: ScoreArray
    ones: float
    open: float
    scores: ScoreArray
    voices: ScoreArray


def ask(votes: SolvedVotes, embedding: FloatArray, voices: ScoreArray | None = None) -> Question:
    """Prepare questions about one text, embedded (d,) at any length; O(m^2) once.

    `voices` is what intent names add to its scores, (intents,); None for nothing.
    """
    beside = np.zeros(len(votes.head.intents)) if voices is None else voices
    unit = unit_rows(embedding[None, :])
    weight = votes.kernel(unit)
    lifted = votes.times(weight)[:, 0]
    found = weight[:, 0]
    solved = found @ votes.solved + beside
    ones = float(found @ votes.ones)
    scores = solved + (1.0 - ones) * votes.head.prior
    return Question(
        votes, unit[0], found, lifted, solved, ones, 1.0 - float(found @ lifted), scores, beside
    )


def without_each(question: Question) -> ScoreArray:
    """Score the text without each single exemplar; (m, intents), equal to fitting again.

    Raises:
        ValueError: There is one exemplar only.
    """
    votes, n_exemplars = question.votes, len(question.kernel)
    if n_exemplars < 2:
        message = "votes need at least one exemplar"
        raise ValueError(message)
    share = question.lifted / votes.diagonal
    scores: ScoreArray = votes.solved * -share[:, None]
    scores += question.solved
    prior = votes.head.targets * (-1.0 / (n_exemplars - 1))
    prior += votes.head.prior * (n_exemplars / (n_exemplars - 1))
    prior *= (1.0 - question.ones + share * votes.ones)[:, None]
    scores += prior
    return scores


def without_sets(question: Question, sets: NDArray[np.int64]) -> ScoreArray:
    """Score the text without each of several equally large sets of exemplars; (n, intents).

    A row of `sets` (n, r) holds r < m different exemplars. The scores equal those of fitting again.
    """
    votes, size = question.votes, sets.shape[1]
    rows, places = np.unique(sets, return_inverse=True)
    corner = votes.corner(rows)
    places = places.reshape(sets.shape)
    inner = corner[places[:, :, None], places[:, None, :]]
    share = np.linalg.solve(inner, question.lifted[sets][:, :, None])[:, :, 0]
    targets = votes.head.targets
    left = len(targets) - size
    scores = np.tile(question.solved, (len(sets), 1))
    prior = np.tile(votes.head.prior * (len(targets) / left), (len(sets), 1))
    ones = np.full(len(sets), question.ones)
    for place in range(size):  # avoids an array of sets x size x intents
        gone = sets[:, place]
        scores -= share[:, place, None] * votes.solved[gone]
        prior -= targets[gone] / left
        ones -= share[:, place] * votes.ones[gone]
    scores += (1.0 - ones)[:, None] * prior
    return scores


def with_copies(question: Question, target: ScoreArray, most: int) -> ScoreArray:
    """Score the text with 1 to `most` copies of itself as exemplars; (most, wider).

    Row r - 1 equals fitting again with r copies. Their residual e = target - score shrinks by r q /
    (ridge + r q), where q is `Question.open`. Their label `target`, (wider,), may have more columns
    than the votes.
    """
    head, wide = question.votes.head, len(target)
    copies = np.arange(1, most + 1, dtype=np.float64)[:, None]
    n_exemplars = len(question.kernel)
    prior = (n_exemplars * widened(head.prior, wide) + copies * target) / (n_exemplars + copies)
    voices = widened(question.voices, wide)
    before = widened(question.solved, wide) - voices + (1.0 - question.ones) * prior
    gain = copies * question.open / (head.ridge + copies * question.open)
    after: ScoreArray = voices + before + gain * (target - before)
    return after


def with_more(question: Question, embeddings: FloatArray, labels: ScoreArray) -> ScoreArray:
    """Score the text with the first 1, 2, ... n of some texts as exemplars; (n, wider).

    Row r - 1 equals fitting again with the first r texts. They are few, embedded (n, d) at any
    length, with labels (n, wider), which may have more columns than the votes.
    """
    votes, wide = question.votes, labels.shape[1]
    head, units = votes.head, unit_rows(embeddings)
    cross = votes.kernel(units)
    inner = kernel(units, units, head.tau) - cross.T @ votes.times(cross)
    inner[np.diag_indices_from(inner)] += head.ridge
    near = kernel(units, question.unit[None, :], head.tau)[:, 0] - cross.T @ question.lifted
    solved = widened(cross.T @ votes.solved, wide)
    ones = cross.T @ votes.ones
    n_exemplars, scores = len(question.kernel), np.empty_like(labels)
    for count in range(1, len(labels) + 1):
        came = slice(0, count)
        total = n_exemplars * widened(head.prior, wide) + labels[came].sum(0)
        prior = total / (n_exemplars + count)
        residual = labels[came] - solved[came] - (1.0 - ones[came])[:, None] * prior
        share = np.linalg.solve(inner[came, came], near[came])
        before = widened(question.solved, wide) + (1.0 - question.ones) * prior
        scores[count - 1] = before + share @ residual
    return scores


def widened(scores: ScoreArray, wide: int) -> ScoreArray:
    """Pad scores (..., intents) with columns of zeros up to `wide`."""
    found = np.zeros((*scores.shape[:-1], wide))
    found[..., : scores.shape[-1]] = scores
    return found
