"""The order of the labelling queue, from the model's answers for the pool."""

from typing import Literal, assert_never

import numpy as np
from numpy.typing import NDArray

from core.types import FloatArray, Pause, ScoreArray, no_pause

Order = Literal["unsure", "torn", "unlike"]
"""Which texts are labelled first.

`unsure`: the best intent is least likely (least confidence). `torn`: the two best intents are
nearly as likely (smallest margin, Scheffer et al. 2001). `unlike`: farthest from any exemplar. For
texts with any number of intents see `rank_many`.
"""

_CHUNK = 512
_WIDTH = 0.1
"""Of the kernel exp((cosine - 1) / width) that counts texts alike."""


def rank(order: Order, probabilities: ScoreArray, familiarity: ScoreArray) -> NDArray[np.int64]:
    """Order texts by how much a label of each is worth, best first; (n,) int64.

    `probabilities` is (n, intents); `familiarity` the largest cosine to an exemplar, (n,).
    """
    match order:
        case "unsure":
            worth = -probabilities.max(1)
        case "torn":
            worth = -margins(probabilities)
        case "unlike":
            worth = -familiarity
        case _:
            assert_never(order)
    ranking: NDArray[np.int64] = np.argsort(-worth, kind="stable")
    return ranking


def rank_many(order: Order, margins: ScoreArray, familiarity: ScoreArray) -> NDArray[np.int64]:
    """Order texts that may have several intents by how much a label is worth; (n,) int64.

    Each intent is a question of its own; it is the more open, the nearer the score is to the
    threshold. `unsure` orders by a text's most open question, `torn` by the second. `margins` are
    scores minus thresholds, (n, intents); `familiarity` is as for `rank`.
    """
    if order == "unlike":
        return rank(order, margins, familiarity)
    place = min(1 if order == "torn" else 0, margins.shape[1] - 1)
    openness = np.partition(np.abs(margins), place, axis=1)[:, place]
    ranking: NDArray[np.int64] = np.argsort(openness, kind="stable")
    return ranking


def worth(doubts: ScoreArray, unit: FloatArray, pause: Pause = no_pause) -> ScoreArray:
    """Return how much a label of each text teaches about it and about texts like it; (n,).

    A text's doubt, (n,) in [0, 1], counts the more, the more waiting texts are like it, by the log
    of their summed kernel (information density; Settles and Craven 2008). Rubbish and texts out of
    scope are doubtful but lonely. `unit` are unit rows, (n, d) float32; O(n^2 d).
    """
    alike = np.empty(len(unit))
    for start in range(0, len(unit), _CHUNK):
        pause()
        part = slice(start, start + _CHUNK)
        alike[part] = np.exp((unit[part] @ unit.T - 1.0) / _WIDTH).sum(1)
    result: ScoreArray = doubts * np.log1p(alike)
    return result


def asked_worth(
    doubts: ScoreArray, unit: FloatArray, times: NDArray[np.int64], pause: Pause = no_pause
) -> ScoreArray:
    """Return how much doubt about what people say a label of each text settles; (n,).

    It is the sum over all texts of their doubts, (n,) in [0, 1], each as often as the text was
    said, `times` (n,), and the more, the more it is like the labelled one. What nobody said settles
    nothing. `unit` are unit rows, (n, d) float32; O(said^2 d).
    """
    said = np.flatnonzero(times)
    settled = np.zeros(len(unit))
    weights = times[said] * doubts[said]
    for start in range(0, len(said), _CHUNK):
        pause()
        part = said[start : start + _CHUNK]
        settled[part] = np.exp((unit[part] @ unit[said].T - 1.0) / _WIDTH) @ weights
    return settled


def margins(probabilities: ScoreArray) -> ScoreArray:
    """Return the best intent's probability minus the next one's; (n,), 1 if there is one intent."""
    if probabilities.shape[1] < 2:
        return np.ones(len(probabilities))
    two = np.partition(probabilities, -2, axis=1)[:, -2:]
    difference: ScoreArray = two[:, 1] - two[:, 0]
    return difference


def alike_from(unit: FloatArray) -> float:
    """Return the cosine above which two of these texts count as alike.

    It is half way from the mean cosine of all pairs to 1. `unit` are unit rows, (n, d) float32.
    """
    return (1.0 + float(np.square(unit.mean(0)).sum())) / 2 if len(unit) else 1.0


def spread(
    ranking: NDArray[np.int64],
    embeddings: FloatArray,
    n: int,
    closest: float,
    known: FloatArray | None = None,
) -> NDArray[np.int64]:
    """Take the first n of a ranking, and put off texts that are like those already taken.

    A label of a text teaches little about its twin. If too few texts are left, those put off are
    spread in turn. `embeddings` are unit rows, (all texts, d) float32; `closest` is the largest
    cosine of two texts that are not alike (`alike_from`); `known` are the unit rows of texts that
    were offered before.
    """
    before = embeddings[:0] if known is None else known
    chosen: list[int] = []
    left = ranking.tolist()
    while left and len(chosen) < n:
        taken = _apart(left, embeddings, n - len(chosen), before, closest)
        chosen += taken
        if len(chosen) < n:
            gone = set(taken)
            left = [row for row in left if row not in gone]
        before = embeddings[:0]
    return np.array(chosen, dtype=np.int64)


def _apart(
    ranking: list[int], embeddings: FloatArray, n: int, before: FloatArray, closest: float
) -> list[int]:
    """Return up to n of a ranking, none closer to another, or to one of `before`, than allowed."""
    near = np.empty((len(before) + n, embeddings.shape[1]), np.float32)
    near[: len(before)] = before
    taken: list[int] = []
    for row in ranking:
        if len(taken) == n:
            break
        n_near = len(before) + len(taken)
        if not n_near or float((near[:n_near] @ embeddings[row]).max()) <= closest:
            near[n_near] = embeddings[row]
            taken.append(row)
    return taken
