"""Rank labels by how likely they are wrong, by the other exemplars' votes and by neighbours.

The rank is the mean rank of three measures that err differently. Residual: one minus the given
label's leave-one-out score, which is the loss of the votes. Confidence: the given label's
leave-one-out probability divided by the entropy over all intents (confidence-weighted entropy, as
in cleanlab), so that a text with a clear other winner ranks higher than an unclear one.
Disagreement: the share of the nearest texts, weighted by similarity, with another label.

How many of that list are wrong is estimated by the confident joint (Northcutt et al. 2021,
"Confident Learning", Sec. 3.1): a label counts where, of the intents whose leave-one-out
probability reaches their mean over their own texts, the most probable one is no label of the text.
Unlike in the paper, 0.7 of the mean will do, and the neighbours must hardly bear out the label.

Where a text may have several intents, each of them is judged by itself, and each that it lacks.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from core.nearby.search import Nearby
from core.types import ScoreArray

NEIGHBOURS = 20
"""Number of neighbours that count, chosen on other planted errors than the benchmark's."""

_TEMPERATURE = 0.2
_SHARP = 0.1
"""Temperature of the confident joint; with 0.2 it misses a quarter of planted errors."""

_REACHED = 0.7
"""Share of an intent's mean probability that counts as reaching it: scores of a large set are even,
so that half of the texts with right labels are below the mean."""

_ALONE = 0.9
"""Least disagreement of the neighbours with a label that is counted as wrong."""

_BORNE_OUT = 0.5
"""Least share of the neighbours that bears out a doubt of one intent of a set."""

_TOLD_APART = 0.3
"""Least by which the texts of an intent score above the others; else its scores tell nothing."""

_DOUBT = 0.3
_WIDTH = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Suspicion:
    """How likely each label is wrong.

    Attributes:
        rank: In (0, 1], the highest for the likeliest error, (m,).
        residual: One minus the given label's leave-one-out score, (m,).
        confidence: Leave-one-out probability of the given label, (m,), in [0, 1].
        disagreement: Share of the nearest texts with another label, by nearness, (m,), in [0, 1].
        suggested: Column that the other exemplars vote for, (m,) int64.
        support: Share of the nearest texts with the suggested label, by nearness, (m,), in [0, 1].
        confident: Whether the joint and the neighbours count the label as wrong, (m,) bool.
    """

    rank: ScoreArray
    residual: ScoreArray
    confidence: ScoreArray
    disagreement: ScoreArray
    suggested: NDArray[np.int64]
    support: ScoreArray
    confident: NDArray[np.bool_]

    @property
    def order(self) -> NDArray[np.int64]:
        """All rows, the likeliest error first."""
        order: NDArray[np.int64] = np.argsort(-self.rank, kind="stable")
        return order

    @property
    def likely(self) -> int:
        """Number of labels that are probably wrong: that many of `order` should be listed."""
        return int(self.confident.sum())


@dataclass(frozen=True, slots=True)
class DoubtedIntent:
    """An intent that a text probably has too many, or that it lacks.

    Attributes:
        row: Row of the text.
        column: Column of the intent.
        surplus: Whether the text has it; else it lacks it.
        doubt: In (0, 1], the highest for the likeliest error.
        confident: Whether the neighbours bear it out as they do for a label counted as wrong.
    """

    row: int
    column: int
    surplus: bool
    doubt: float
    confident: bool


def suspicion(honest: ScoreArray, targets: ScoreArray, near: Nearby) -> Suspicion:
    """Judge labels by leave-one-out scores, both (m, intents), and by the neighbours' labels.

    Of several intents, the least likely counts. `near` holds `NEIGHBOURS` neighbours of each text.
    """
    from scipy.stats import rankdata  # takes a second, which would delay the first page

    given = targets > 0
    residual = _least(given, honest, 0.0)
    probabilities = softmax(honest / _TEMPERATURE, axis=1)
    confidence = _least(given, probabilities, 0.0)
    entropy = -(probabilities * np.log(probabilities + 1e-12)).sum(1)
    disagreement = 1.0 - _agreement(targets, targets, near)
    judges = (1.0 - residual, -confidence / (entropy + _DOUBT), disagreement)
    total = sum((rankdata(judge) for judge in judges), np.zeros(len(targets)))
    rank = rankdata(total) / max(len(total), 1)
    suggested: NDArray[np.int64] = honest.argmax(1).astype(np.int64)
    support = _agreement(np.eye(targets.shape[1])[suggested], targets, near)
    confident = confidently_wrong(honest, targets) & (disagreement >= _ALONE)
    return Suspicion(rank, 1.0 - residual, confidence, disagreement, suggested, support, confident)


def doubted_intents(honest: ScoreArray, targets: ScoreArray, near: Nearby) -> list[DoubtedIntent]:
    """Judge each intent of each text by itself, where a text may have several.

    By leave-one-out scores and labels, both (m, intents), and the neighbours' labels; the likeliest
    error comes first. A score lies at 0 where the mean of the texts without the intent is, and at 1
    where the mean of those with it is: one too many lies at 0.3 or below, a missing one at 0.7 or
    above. The neighbours, by nearness, must bear it out.
    """
    given = targets > 0
    low = _column_means(honest, ~given)
    gap = _column_means(honest, given) - low
    told = gap >= _TOLD_APART
    place = (honest - low) / np.where(told, gap, 1.0)
    turned = np.where(given, 1.0 - place, place)
    rows, columns = np.nonzero((turned >= _REACHED) & told)
    own, weight = given[rows, columns], _nearness(near)[rows]
    differs = given[near.rows[rows], columns[:, None]] != own[:, None]
    share = (weight * differs).sum(1) / np.maximum(weight.sum(1), 1e-300)
    doubt = np.minimum(turned[rows, columns], 1.0) * share
    return [
        DoubtedIntent(
            row=int(rows[at]),
            column=int(columns[at]),
            surplus=bool(own[at]),
            doubt=float(doubt[at]),
            confident=bool(share[at] >= _ALONE),
        )
        for at in np.argsort(-doubt, kind="stable").tolist()
        if share[at] >= _BORNE_OUT
    ]


def confidently_wrong(honest: ScoreArray, targets: ScoreArray) -> NDArray[np.bool_]:
    """Whether the confident joint of leave-one-out scores counts each label as wrong, (m,) bool.

    Both are (m, intents). A text without a label is never counted.
    """
    given = targets > 0
    probabilities = softmax(honest / _SHARP, axis=1)
    sizes = given.sum(0)
    sums = np.where(given, probabilities, 0.0).sum(0)
    thresholds = np.where(sizes > 0, sums / np.maximum(sizes, 1), np.inf)
    probable = np.where(probabilities >= _REACHED * thresholds, probabilities, -1.0)
    rows, best = np.arange(len(honest)), probable.argmax(1)
    wrong: NDArray[np.bool_] = (probable[rows, best] >= 0) & ~given[rows, best] & given.any(1)
    return wrong


def _least(given: NDArray[np.bool_], values: ScoreArray, absent: float) -> ScoreArray:
    least = np.where(given, values, np.inf).min(1)
    found: ScoreArray = np.where(np.isfinite(least), least, absent)
    return found


def _column_means(values: ScoreArray, which: NDArray[np.bool_]) -> ScoreArray:
    """Return the mean of each column's chosen values, 0 where none is; (columns,)."""
    sums = np.where(which, values, 0.0).sum(0)
    found: ScoreArray = sums / np.maximum(which.sum(0), 1)
    return found


def _nearness(near: Nearby) -> ScoreArray:
    """Return what each neighbour of each text weighs, (n, k)."""
    weight: ScoreArray = np.exp((near.cosines.astype(np.float64) - 1.0) / _WIDTH)
    return weight


def _agreement(labels: ScoreArray, targets: ScoreArray, near: Nearby) -> ScoreArray:
    """Return the share of each text's neighbours whose targets agree with `labels`, by nearness."""
    weight = _nearness(near)
    same = np.zeros(len(labels))
    for place in range(near.rows.shape[1]):
        shared = np.minimum(targets[near.rows[:, place]], labels).sum(1) / np.maximum(
            labels.sum(1), 1e-12
        )
        same += weight[:, place] * shared
    found: ScoreArray = same / np.maximum(weight.sum(1), 1e-300)
    return found
