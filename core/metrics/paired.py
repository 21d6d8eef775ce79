"""Paired comparison of two pipelines on the same texts, with a confidence interval."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Literal

from core.types import Task

_Z95 = 1.959963984540054
"""Half width of a 95 % interval in standard errors."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A change of accuracy with its 95 % interval, all in [-1, 1]."""

    value: float
    low: float
    high: float

    @property
    def beyond_chance(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True)
class PairedAnswer:
    """A text with its label and two answers: one intent each, or for multi-label any number.

    A single-label answer is right if it is any expected intent; a multi-label one if it has all
    expected intents and no other.
    """

    text: str
    expected: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    task: Task = "single-label"

    @property
    def was_right(self) -> bool:
        """Whether the first answer is right."""
        return self._is_right(self.before)

    @property
    def is_right(self) -> bool:
        """Whether the second answer is right."""
        return self._is_right(self.after)

    @property
    def changed(self) -> bool:
        """Whether the two answers differ, in any order."""
        return set(self.before) != set(self.after)

    @property
    def verdict(self) -> Literal["fixed", "broken", "other"]:
        """Effect of the second answer; `other` is wrong both times, or right both times."""
        if self.was_right == self.is_right:
            return "other"
        return "fixed" if self.is_right else "broken"

    def _is_right(self, answer: tuple[str, ...]) -> bool:
        if self.task == "multi-label":
            return set(answer) == set(self.expected)
        return not set(answer).isdisjoint(self.expected)


@dataclass(frozen=True, slots=True)
class IntentRecall:
    """Recall of an intent by both pipelines, on `support` texts.

    For a single-label task, any other label of the text also counts as found.
    """

    intent: str
    support: int
    before: float
    after: float

    @property
    def change(self) -> float:
        """Gain of the second pipeline."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class PairedReport:
    """Two pipelines on the same `n` texts.

    Attributes:
        before: Accuracy of the first; for multi-label its share of exact matches.
        after: Accuracy of the second.
        difference: Gain of the second over the first.
        intents: Recall of each labelled intent, the largest loss first.
        changed: Texts with different answers: broken, fixed, then others, in the order given.
    """

    n: int
    before: float
    after: float
    difference: Difference
    intents: tuple[IntentRecall, ...]
    changed: tuple[PairedAnswer, ...]


def paired_difference(fixed: int, broken: int, n: int) -> Difference:
    """Compare two accuracies on the same n texts by those that only one of the two got right.

    The value is d = (fixed - broken) / n. Its interval is that of Agresti and Min (2005, "Simple
    improved confidence intervals for comparing matched proportions", section 3): Wald's after half
    a text is added to each of the four counts, so that N = n + 2 and the standard error is
    sqrt(fixed + broken + 1 - (fixed - broken)^2 / N) / N. Without it, four broken texts and none
    fixed would be beyond chance, which happens once in eight times by a fair coin.

    Raises:
        ValueError: There are no texts, or fewer than the answers that differ.
    """
    if n < 1 or fixed + broken > n:
        message = f"{fixed} fixed and {broken} broken among {n} texts"
        raise ValueError(message)
    gained, total = fixed - broken, n + 2
    around = _interval(gained / total, sqrt(fixed + broken + 1 - gained**2 / total) / total)
    return replace(around, value=gained / n)


def unpaired_difference(before: float, after: float, n: int) -> Difference:
    """Compare two accuracies on n texts each, whose single answers are unknown.

    The interval is that of Agresti and Caffo (2000, "Simple and effective confidence intervals for
    proportions and differences of proportions"): Wald's after one right and one wrong text are
    added to both. Without them, an accuracy of 1 has no error. On the same texts it is wider than
    necessary.
    """
    was, now = ((share * n + 1) / (n + 2) for share in (before, after))
    error = sqrt((was * (1 - was) + now * (1 - now)) / (n + 2))
    return replace(_interval(now - was, error), value=after - before)


def paired_report(pairs: Sequence[PairedAnswer]) -> PairedReport:
    """Compare two pipelines answer by answer; raises ValueError without texts."""
    n = len(pairs)
    order = {"broken": 0, "fixed": 1, "other": 2}
    changed = sorted((p for p in pairs if p.changed), key=lambda p: order[p.verdict])
    fixed = sum(p.verdict == "fixed" for p in changed)
    broken = sum(p.verdict == "broken" for p in changed)
    difference = paired_difference(fixed, broken, n)
    return PairedReport(
        n=n,
        before=sum(p.was_right for p in pairs) / n,
        after=sum(p.is_right for p in pairs) / n,
        difference=difference,
        intents=_recalls(pairs),
        changed=tuple(changed),
    )


def _recalls(pairs: Sequence[PairedAnswer]) -> tuple[IntentRecall, ...]:
    texts: dict[str, list[PairedAnswer]] = defaultdict(list)
    for pair in pairs:
        for intent in pair.expected:
            texts[intent].append(pair)
    found = [
        IntentRecall(
            intent,
            len(same),
            sum(_finds(p, intent, p.before) for p in same) / len(same),
            sum(_finds(p, intent, p.after) for p in same) / len(same),
        )
        for intent, same in texts.items()
    ]
    return tuple(sorted(found, key=lambda recall: (recall.change, recall.intent)))


def _finds(pair: PairedAnswer, intent: str, answer: tuple[str, ...]) -> bool:
    if pair.task == "multi-label":
        return intent in answer
    return not set(answer).isdisjoint(pair.expected)


def _interval(value: float, error: float) -> Difference:
    return Difference(value, max(-1.0, value - _Z95 * error), min(1.0, value + _Z95 * error))
