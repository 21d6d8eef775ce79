"""The fewest exemplars whose removal changes an answer, and how many added ones would.

All results are exact for the present encoder; they do not predict a training, since the encoder has
learned from its exemplars, too. A change of an answer means another intent in front or, with a
limit, a text that enters or leaves the scope.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from core.explain.decisions import OUT_OF_SCOPE, decided, leads
from core.explain.one_text import Question, with_copies, with_more, without_each, without_sets
from core.types import FloatArray, ScoreArray

_TRIALS = 20_000
"""If there are at most this many sets of one size, all are tried."""

_CANDIDATES = 128
"""Number of exemplars among which larger sets are searched for."""

_RIVALS = 2
"""Runners-up that the greedy search aims at, besides the best other intent of each step."""

_BLOCK = 4_096


@dataclass(frozen=True, slots=True)
class _Verdict:
    """The answer that is to change: its column, and the threshold of scores, if any."""

    column: int
    threshold: float | None


@dataclass(frozen=True, slots=True)
class LoadBearingExemplars:
    """The exemplars that carry an answer.

    Attributes:
        rows: Exemplars whose removal changes the verdict, the heaviest first; empty if none were
            found.
        before: Column of the present verdict, or `OUT_OF_SCOPE`.
        after: The verdict without `rows`.
        at_least: No smaller set changes the verdict; equals the size of `rows` where that is proven
            to be the smallest.
    """

    rows: tuple[int, ...]
    before: int
    after: int
    scores: tuple[float, ...]
    at_least: int

    @property
    def smallest(self) -> bool:
        """Whether no smaller set exists, proven by trying all sets or by the bound."""
        return bool(self.rows) and self.at_least == len(self.rows)


@dataclass(frozen=True, slots=True)
class Needed:
    """The fewest more exemplars that give the text to an intent, and the scores with them."""

    count: int
    scores: tuple[float, ...]


def load_bearing(
    question: Question, limit: float | None = None, most: int = 50
) -> LoadBearingExemplars:
    """Find the fewest exemplars, at most `most`, whose removal changes the verdict on a text.

    The returned set does change it: its scores equal those of fitting again. `smallest` says
    whether it is proven to be the smallest. Every size with at most 20,000 sets (two of 200
    exemplars, all sizes of 17) and size one are searched completely. Larger sets are found
    greedily, each step removing the exemplar whose absence then hurts most, and are thinned
    afterwards. `at_least` bounds from below how small a set could be. Largest scores below `limit`
    are out of scope.
    """
    most = min(most, len(question.kernel) - 1)
    before = _Verdict(int(decided(question.scores[None, :], limit)[0]), limit)
    rows, tried = _by_trying_all(question, before, most)
    if rows is None and tried < most:
        rows = _greedily(question, before, most)
    at_least = max(tried + 1, _excluded(question, before, most) + 1)
    if rows is None:
        return LoadBearingExemplars(
            (), before.column, before.column, tuple(question.scores.tolist()), at_least
        )
    scores = without_sets(question, np.array([rows]))
    found = int(decided(scores, limit)[0])
    return LoadBearingExemplars(
        rows, before.column, found, tuple(scores[0].tolist()), min(at_least, len(rows))
    )


def copies_needed(
    question: Question, column: int, limit: float | None = None, most: int = 1_000
) -> Needed | None:
    """Count the copies of the text, labelled with the intent, that would give it the text.

    This is a lower bound for "why not X", because nothing votes more for a text than itself. Exact.
    A new intent's column is the number of intents. None: more than `most` would be needed.
    """
    target = _one_hot(column, len(question.solved))
    return _first(with_copies(question, target, most), column, limit)


def examples_needed(
    question: Question, embeddings: FloatArray, column: int, limit: float | None = None
) -> Needed | None:
    """Count the given texts, in their order, to label with an intent; None if all do not suffice.

    They are some dozens, the nearest first, embedded (n, d). A new intent's column is the number of
    intents.
    """
    if not len(embeddings):
        return None
    target = _one_hot(column, len(question.solved))
    labels = np.tile(target, (len(embeddings), 1))
    return _first(with_more(question, embeddings, labels), column, limit)


def _one_hot(column: int, n_intents: int) -> ScoreArray:
    target: ScoreArray = np.eye(max(n_intents, column + 1))[column]
    return target


def _first(scores: ScoreArray, column: int, limit: float | None) -> Needed | None:
    winning = np.flatnonzero(decided(scores, limit) == column)
    if not len(winning):
        return None
    return Needed(int(winning[0]) + 1, tuple(scores[winning[0]].tolist()))


def _by_trying_all(
    question: Question, before: _Verdict, most: int
) -> tuple[tuple[int, ...] | None, int]:
    """Return the best set of the smallest size that changes the verdict, and the excluded size."""
    n_exemplars = len(question.kernel)
    for size in range(1, most + 1):
        if size == 1:
            best, margin = _best_of(without_each(question), before)
            rows: tuple[int, ...] = (best,)
        elif comb(n_exemplars, size) <= _TRIALS:
            rows, margin = _best_set(question, np.arange(n_exemplars), size, before)
        else:
            return None, size - 1
        if margin < 0:
            return rows, size - 1
    return None, most


def _best_of(scores: ScoreArray, before: _Verdict) -> tuple[int, float]:
    margins = _margins(scores, before)
    best = int(margins.argmin())
    return best, float(margins[best])


def _margins(scores: ScoreArray, before: _Verdict) -> ScoreArray:
    """Return the leads of a verdict, strictly negative where `decided` says another one."""
    columns = np.full(len(scores), before.column)
    margins = leads(scores, columns, before.threshold)
    other = decided(scores, before.threshold) != before.column
    return np.where(other, np.minimum(margins, -np.finfo(float).tiny), np.maximum(margins, 0.0))


def _best_set(
    question: Question, rows: NDArray[np.int64], size: int, before: _Verdict
) -> tuple[tuple[int, ...], float]:
    """Try every set of one size among some exemplars."""
    flat = np.fromiter(chain.from_iterable(combinations(rows.tolist(), size)), np.int64)
    sets = flat.reshape(-1, size)
    best: tuple[tuple[int, ...], float] = ((), np.inf)
    for start in range(0, len(sets), _BLOCK):
        part = sets[start : start + _BLOCK]
        place, margin = _best_of(without_sets(question, part), before)
        if margin < best[1]:
            best = tuple(part[place].tolist()), margin
    return best


@dataclass(slots=True)
class _Candidates:
    """Candidates for removal, given those removed so far; each removal is one pivot."""

    rows: NDArray[np.int64]
    corner: ScoreArray
    lifted: ScoreArray
    solved: ScoreArray
    ones: ScoreArray
    text_solved: ScoreArray
    text_ones: float
    total: ScoreArray
    left: int

    def trials(self, targets: ScoreArray) -> ScoreArray:
        """Score the text without each candidate in turn; (candidates, intents)."""
        share = self.lifted / np.diagonal(self.corner)
        scores = self.text_solved - share[:, None] * self.solved
        ones = self.text_ones - share * self.ones
        prior = (self.total - targets) / (self.left - 1)
        result: ScoreArray = scores + (1.0 - ones)[:, None] * prior
        return result

    def without(self, place: int, target: ScoreArray) -> "_Candidates":
        """Remove a candidate and eliminate it from the remaining ones."""
        column = self.corner[:, place] / self.corner[place, place]
        stay = np.arange(len(self.rows)) != place
        corner = self.corner - np.outer(column, self.corner[place])
        return _Candidates(
            self.rows[stay],
            corner[np.ix_(stay, stay)],
            (self.lifted - column * self.lifted[place])[stay],
            (self.solved - np.outer(column, self.solved[place]))[stay],
            (self.ones - column * self.ones[place])[stay],
            self.text_solved - self._share(place) * self.solved[place],
            self.text_ones - self._share(place) * float(self.ones[place]),
            self.total - target,
            self.left - 1,
        )

    def _share(self, place: int) -> float:
        return float(self.lifted[place] / self.corner[place, place])


def _greedily(question: Question, before: _Verdict, most: int) -> tuple[int, ...] | None:
    """Remove what hurts most, aiming at the best other intent and at the next rivals in turn."""
    candidates = _candidates(question, before)
    targets: list[int | None] = [None]
    if before.column != OUT_OF_SCOPE:
        order = np.argsort(-question.scores, kind="stable")
        targets += [int(column) for column in order[1 : 1 + _RIVALS]]
    best: tuple[int, ...] | None = None
    for target in targets:
        size = most if best is None else len(best) - 1
        found = _descend(question, candidates, before, target, size)
        best = best if found is None else _thinned(question, found, before)
    return best


def _candidates(question: Question, before: _Verdict) -> _Candidates:
    """Choose the exemplars whose absence alone hurts most, and the nearest of the same label."""
    votes = question.votes
    margins = _margins(without_each(question), before)
    hurting = np.argsort(margins, kind="stable")[: _CANDIDATES // 2]
    near = np.argsort(-_sides(question, before), kind="stable")
    fresh = near[~np.isin(near, hurting)][: _CANDIDATES - len(hurting)]
    rows = np.sort(np.concatenate([hurting, fresh]))
    return _Candidates(
        rows,
        votes.corner(rows),
        question.lifted[rows],
        votes.solved[rows],
        votes.ones[rows],
        question.solved,
        question.ones,
        votes.head.prior * len(question.kernel),
        len(question.kernel),
    )


def _sides(question: Question, before: _Verdict) -> ScoreArray:
    """Return the kernel of exemplars with the verdict's label; of all, if it is out of scope."""
    if before.column == OUT_OF_SCOPE:
        return question.kernel
    side: ScoreArray = question.kernel * question.votes.head.targets[:, before.column]
    return side


def _descend(
    question: Question,
    candidates: _Candidates,
    before: _Verdict,
    rival: int | None,
    most: int,
) -> tuple[int, ...] | None:
    targets, gone = question.votes.head.targets, list[int]()
    while len(gone) < most and len(candidates.rows):
        scores = candidates.trials(targets[candidates.rows])
        margins = _margins(scores, before)
        won = int(margins.argmin())
        place = won
        if margins[won] >= 0 and rival is not None:
            place = int((scores[:, before.column] - scores[:, rival]).argmin())
        gone.append(int(candidates.rows[place]))
        if margins[won] < 0:
            return tuple(gone)
        candidates = candidates.without(place, targets[candidates.rows[place]])
    return None


def _thinned(question: Question, rows: Sequence[int], before: _Verdict) -> tuple[int, ...]:
    """Drop exemplars that are not needed, one by one."""
    kept = list(rows)
    while len(kept) > 1:
        sets = np.array([kept[:place] + kept[place + 1 :] for place in range(len(kept))])
        best, margin = _best_of(without_sets(question, sets), before)
        if margin >= 0:
            break
        kept.pop(best)
    return tuple(kept)


def _excluded(question: Question, before: _Verdict, most: int) -> int:
    """Return the size up to which no set can change the verdict, by a bound.

    Since G_DD^-1 <= K_DD + ridge I <= (r + ridge) I, a set of r exemplars moves the difference of
    two scores by at most (r + ridge) |g_D| |w_D| for its weights w in that difference, and the
    prior moves by at most 2 r / (m - r). Labels are in [0, 1].
    """
    votes, n_exemplars = question.votes, len(question.kernel)
    margin = float(leads(question.scores[None, :], np.array([before.column]), before.threshold)[0])
    swing = np.abs(votes.head.weights).max(1)
    if before.column != OUT_OF_SCOPE:
        own = votes.head.weights[:, [before.column]]
        against_limit = 0.0 if before.threshold is None else np.abs(own[:, 0])
        swing = np.maximum(np.abs(votes.head.weights - own).max(1), against_limit)
    near, heavy, lost = (_largest(part, most) for part in (question.lifted, swing, votes.ones))
    sizes = np.arange(1, most + 1)
    moved = 2.0 * sizes / (n_exemplars - sizes)
    reach = (sizes + votes.head.ridge) * near * (heavy + moved * lost)
    enough = reach + abs(1.0 - question.ones) * moved >= margin
    return int(enough.argmax()) if enough.any() else most


def _largest(values: ScoreArray, most: int) -> ScoreArray:
    """Return the Euclidean lengths of the 1, 2, ... `most` largest values together."""
    squares = np.sort(values**2)[::-1][:most]
    lengths: ScoreArray = np.sqrt(np.cumsum(squares))
    return lengths
