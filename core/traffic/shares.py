"""Shares of traffic with their intervals, and which of them changed beyond chance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

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
    """

    name: str
    before: Portion
    after: Portion
    p_value: float

    @property
    def is_real(self) -> bool:
        """Whether the test says that the share changed."""
        return self.p_value <= ALPHA


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
    raw = [_fisher(*pair) for pair in pairs]
    order = sorted(range(len(names)), key=lambda row: raw[row])
    corrected, largest = {}, 0.0
    for place, row in enumerate(order):
        largest = max(largest, min(1.0, raw[row] * (len(names) - place)))
        corrected[row] = largest
    return tuple(ShareChange(names[row], *pairs[row], corrected[row]) for row in order)


def _fisher(before: Portion, after: Portion) -> float:
    from scipy.stats import fisher_exact

    rows = [[share.count, share.n - share.count] for share in (before, after)]
    return float(fisher_exact(rows).pvalue)
