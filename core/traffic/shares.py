"""Shares of traffic with their intervals, and which of them changed beyond chance."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt

from core.traffic.drift import corrected

_Z = 1.959964
"""Quantile of the normal distribution for intervals of 95 %."""

ALPHA = 0.01
"""Largest chance of telling of any change between two periods in which nothing changed.

Four times at most for a week: of its texts without an intent, its intents, its uncovered groups and
its sources. With the drift, which takes 1 in 100, a week without a change is told of in at most 5
of 100.
"""


@dataclass(frozen=True, slots=True)
class Portion:
    """`count` of `n` texts."""

    count: int
    n: int

    @property
    def value(self) -> float:
        """The share, in [0, 1]; 0 of no texts."""
        return self.count / self.n if self.n else 0.0

    def interval(self) -> tuple[float, float]:
        """Return the ends of the 95 % interval (Wilson 1927), both in [0, 1]."""
        if not self.n:
            return 0.0, 1.0
        z2 = _Z * _Z
        middle = (self.count + z2 / 2) / (self.n + z2)
        spread = _Z * sqrt(self.count * (self.n - self.count) / self.n + z2 / 4) / (self.n + z2)
        return max(0.0, middle - spread), min(1.0, middle + spread)


@dataclass(frozen=True, slots=True)
class ShareChange:
    """How a share differs between two periods.

    Attributes:
        p_value: Of Fisher's exact test, two-sided; where several shares are compared, corrected
            for their number (Holm 1979).
        loose: Of a group, the texts in no group that were counted to its smaller share.
    """

    name: str
    before: Portion
    after: Portion
    p_value: float
    loose: int = 0

    @property
    def rise(self) -> float:
        """By how much the share is larger after; negative where it is smaller."""
        return self.after.value - self.before.value

    @property
    def is_real(self) -> bool:
        """Whether the test says that the share changed."""
        return self.p_value <= ALPHA


@dataclass(frozen=True, slots=True)
class GroupedTexts:
    """Texts of a period: how many each group has, how many are `loose`, in none, and all, `n`."""

    counts: Mapping[str, int]
    loose: int
    n: int

    def portion(self, name: str) -> Portion:
        """Return the texts of a group among all."""
        return Portion(self.counts.get(name, 0), self.n)


def compare_share(name: str, before: Portion, after: Portion) -> ShareChange:
    """Compare one share in two periods by itself, that of all texts."""
    return ShareChange(name, before, after, _fisher(before, after))


def compare_shares(
    before: Mapping[str, int], after: Mapping[str, int], *, totals: Sequence[int] | None = None
) -> tuple[ShareChange, ...]:
    """Compare the counts of intents in two periods, the least likely change first.

    The texts of a period are all those counted, so that texts without an intent need a name, too.
    Where a text may count for several names, `totals` are the texts before and after.
    """
    names = sorted(before.keys() | after.keys())
    old, new = totals or (sum(before.values()), sum(after.values()))
    pairs = [(Portion(before.get(n, 0), old), Portion(after.get(n, 0), new)) for n in names]
    raw = [
        ShareChange(name, *pair, _fisher(*pair)) for name, pair in zip(names, pairs, strict=True)
    ]
    return _in_order(raw)


def compare_parts(parts: Mapping[str, Portion]) -> tuple[ShareChange, ...]:
    """Compare the share of each part with that of all others, the least likely difference first.

    `before` is that of the others. Of two parts, each is what the other is not: one is compared.
    """
    count, n = sum(one.count for one in parts.values()), sum(one.n for one in parts.values())
    names = list(parts)[: 1 if len(parts) == 2 else None]
    pairs = [(Portion(count - parts[m].count, n - parts[m].n), parts[m]) for m in names]
    return _in_order(
        ShareChange(name, *pair, _fisher(*pair)) for name, pair in zip(names, pairs, strict=True)
    )


def compare_groups(before: GroupedTexts, after: GroupedTexts) -> tuple[ShareChange, ...]:
    """Compare the counts of groups in two periods, the least likely change first.

    What is in no group may belong to any. Therefore a rise or a fall is tested as it is if all
    loose texts of the period with the smaller share belong to the group.
    """
    names = sorted(before.counts.keys() | after.counts.keys())
    return _in_order([_least_change(name, before, after) for name in names])


def _least_change(name: str, before: GroupedTexts, after: GroupedTexts) -> ShareChange:
    first, second = before.portion(name), after.portion(name)
    small, large = (before, second) if first.value <= second.value else (after, first)
    most = Portion(small.portion(name).count + small.loose, small.n)
    chance = 1.0 if most.value >= large.value else _fisher(most, large)
    return ShareChange(name, first, second, chance, small.loose)


def _in_order(raw: Iterable[ShareChange]) -> tuple[ShareChange, ...]:
    """Correct the chances of several changes for their number, the least likely change first."""
    ordered = sorted(raw, key=lambda one: one.p_value)
    chances = corrected([one.p_value for one in ordered])
    return tuple(replace(one, p_value=p) for one, p in zip(ordered, chances, strict=True))


def _fisher(before: Portion, after: Portion) -> float:
    from scipy.stats import fisher_exact

    rows = [[share.count, share.n - share.count] for share in (before, after)]
    return float(fisher_exact(rows).pvalue)
