"""Thin and overgrown intents, exemplars that cause errors, and the border of two intents."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.heads.votes.fit import VoteHead
from core.heads.votes.kernel import kernel
from core.types import FloatArray, ScoreArray
from core.vectors import unit_rows

_CHUNK = 512
_THIN, _FEW, _LARGE = 0.25, 5, 4.0


@dataclass(frozen=True, slots=True)
class IntentHealth:
    """How well an intent's examples hold together.

    Attributes:
        examples: Number of its examples.
        kept: Number of its examples that it wins by leave-one-out.
        drawn: Number of other intents' examples that it wins.
        thin: Fewer than 5 examples, or than a quarter of the median intent's.
        overgrown: More than four times the median, or `drawn` exceeds both `kept` and 5.
    """

    column: int
    examples: int
    kept: int
    drawn: int
    thin: bool
    overgrown: bool


def intent_health(honest: ScoreArray, targets: ScoreArray) -> list[IntentHealth]:
    """Judge every intent, in column order, by leave-one-out scores and labels, (m, intents)."""
    given, won = targets > 0, honest.argmax(1)
    sizes = given.sum(0)
    median = float(np.median(sizes[sizes > 0])) if sizes.any() else 0.0
    health = list[IntentHealth]()
    for column, size in enumerate(sizes.tolist()):
        winning = won == column
        kept = int((winning & given[:, column]).sum())
        drawn = int(winning.sum()) - kept
        thin = size < max(_FEW, _THIN * median)
        overgrown = size > _LARGE * median or drawn > max(kept, _FEW)
        health.append(IntentHealth(column, size, kept, drawn, thin, overgrown))
    return health


@dataclass(frozen=True, slots=True)
class Greedy:
    """An exemplar that pulls texts away from the intents they belong to.

    Attributes:
        harm: Sum over all errors of its votes for the wrong winner minus those for the right
            intent.
        texts: Rows of the texts for which its vote alone is at least half of the winner's lead.
        intents: Columns of the right intents of these texts.
    """

    row: int
    harm: float
    texts: tuple[int, ...]
    intents: tuple[int, ...]


def greedy_examples(
    head: VoteHead, embeddings: FloatArray, truth: NDArray[np.int64], most: int = 50
) -> list[Greedy]:
    """Rank at most `most` exemplars by how much they vote for errors on texts that do not vote.

    The texts have embeddings (n, d) and right columns `truth`, (n,).
    """
    scores = head.scores(embeddings)
    won = scores.argmax(1)
    wrong = np.flatnonzero(won != truth)
    unit = unit_rows(embeddings[wrong])
    harm = np.zeros(len(head.exemplars))
    culprits: dict[int, list[int]] = {}
    for start in range(0, len(wrong), _CHUNK):
        rows = wrong[start : start + _CHUNK]
        votes = kernel(unit[start : start + _CHUNK], head.exemplars, head.tau)
        votes *= (head.weights[:, won[rows]] - head.weights[:, truth[rows]]).T
        harm += np.maximum(votes, 0.0).sum(0)
        lead = scores[rows, won[rows]] - scores[rows, truth[rows]]
        for place, column in np.argwhere(votes >= 0.5 * np.maximum(lead, 1e-9)[:, None]):
            culprits.setdefault(int(column), []).append(int(rows[place]))
    order = [row for row in np.argsort(-harm, kind="stable").tolist() if harm[row] > 0][:most]
    return [
        Greedy(
            row,
            float(harm[row]),
            tuple(culprits.get(row, ())),
            tuple(sorted({int(truth[text]) for text in culprits.get(row, ())})),
        )
        for row in order
    ]


@dataclass(frozen=True, slots=True, eq=False)
class BorderRows:
    """Texts between two intents, from the clearest of one to the clearest of the other.

    `rows` is (n,) int64; `leads` the first intent's score minus the second's, falling, (n,).
    `left_out` is the number of further texts, which lie more clearly on one side.
    """

    rows: NDArray[np.int64]
    leads: ScoreArray
    left_out: int


def border_walk(
    scores: ScoreArray, first: int, second: int, also: Sequence[int] = (), most: int = 60
) -> BorderRows:
    """List texts whose two best scores, of (n, intents), are those of two intents.

    At most `most` texts are kept, the nearest to the border, besides the rows `also`.
    """
    others = scores.copy()
    others[:, [first, second]] = -np.inf
    between = np.minimum(scores[:, first], scores[:, second]) > others.max(1, initial=-np.inf)
    between[list(also)] = False
    rows = np.flatnonzero(between)
    left_out = max(0, len(rows) - most)
    near = np.argsort(np.abs(scores[rows, first] - scores[rows, second]), kind="stable")[:most]
    rows = np.concatenate([rows[near], np.array(also, dtype=np.int64)])
    leads = scores[rows, first] - scores[rows, second]
    order = np.argsort(-leads, kind="stable")
    return BorderRows(rows[order], leads[order], left_out)


def busiest_border(scores: ScoreArray, clear: float) -> tuple[int, int] | None:
    """Return the two intents with most texts between them, in rising order; None for fewer than 2.

    `scores` are (n, intents). A text lies between its two best intents. Those that are less than
    `clear` apart count; of borders that have as many, that with most texts at all is taken.
    """
    n, wide = scores.shape
    if not n or wide < 2:
        return None
    best = np.sort(np.argpartition(-scores, 1, axis=1)[:, :2], axis=1)
    first, second = np.take_along_axis(scores, best, axis=1).T
    weights = np.where(np.abs(first - second) < clear, 1.0 + 1e-6, 1e-6)
    texts = np.bincount(best[:, 0] * wide + best[:, 1], weights, minlength=wide * wide)
    found, width = int(texts.argmax()), int(wide)
    return found // width, found % width
