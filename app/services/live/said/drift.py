"""How what people say differs between two periods and between sources, against chance."""

from collections.abc import Collection, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from core.traffic.drift import ALPHA, Drift, corrected, mean_drift, meaning_drift
from core.types import FloatArray, Pause, ScoreArray
from storage.said.traffic import SaidText

FEWEST = 50
"""Texts of a side without which nothing is compared."""

_MOST_LEARNED = 0.05
"""Share of a side's rows that may be left out, for the version has learned them."""

_SOURCES = 5
"""Sources, the largest ones, that are compared with all others together."""

_TYPICAL = 12
"""Texts most unlike the other side that are kept, repeated ones among them."""

What = Literal["meaning", "sureness", "probability"]


@dataclass(frozen=True, slots=True)
class SaidRows:
    """Rows of a period and of the one before it; with `is_pair`, those of two sources."""

    now: Sequence[SaidText]
    earlier: Sequence[SaidText]
    is_pair: bool = False

    @property
    def now_keys(self) -> list[str]:
        """Keys of the period's rows in a fixed order."""
        return sorted(row.key for row in self.now)

    @property
    def earlier_keys(self) -> list[str]:
        """Keys of the rows of the period before, in a fixed order."""
        return sorted(row.key for row in self.earlier)

    @property
    def ids(self) -> list[str]:
        """Ids of the utterances, each once."""
        return list(dict.fromkeys(row.utterance_id for row in (*self.now, *self.earlier)))


@dataclass(frozen=True, slots=True)
class SaidDrift:
    """A comparison of a source with all others, or of the period with the one before.

    Attributes:
        what: What people mean, how many of their texts are answered surely, or the mean
            probability of the answers.
        source: Empty is the whole period, compared with the one before.
        chance: How often chance alone would do it, corrected for the number of comparisons.
        typical: Ids of utterances that are most unlike the other side, most of all first.
    """

    what: What
    source: str
    chance: float
    typical: tuple[str, ...] = ()

    @property
    def is_real(self) -> bool:
        """Whether it is more than chance."""
        return self.chance <= ALPHA


def stands_for(fresh: Sized, rows: Sized) -> bool:
    """Return whether a side without the learned rows is still as it was said.

    People choose what they label, so that what is left is of another kind.
    """
    return len(rows) - len(fresh) <= _MOST_LEARNED * len(rows)


def find_drift(
    rows: SaidRows,
    places: Mapping[str, FloatArray],
    sure: Collection[str],
    pause: Pause,
    probability: Mapping[str, float] | None = None,
) -> tuple[SaidDrift, ...]:
    """Compare periods and sources; `places` are embeddings (d,) by the utterance's id.

    Rows whose utterance has no place are left out, and nothing is told of a side that has lost more
    than 5 % of its rows so. With the `probability` of each text that is answered its means are
    compared, too.
    """
    found = list[SaidDrift]()
    for source, others, own in [("", rows.earlier, rows.now), *_by_source(rows.now)]:
        first, second = ([r for r in side if r.utterance_id in places] for side in (others, own))
        is_fair = stands_for(first, others) and stands_for(second, own)
        if min(len(first), len(second)) < FEWEST or not is_fair:
            continue
        pause()
        sides = [np.stack([places[r.utterance_id] for r in one]) for one in (first, second)]
        meaning = meaning_drift(sides[0], sides[1], pause=pause)
        typical = dict.fromkeys(second[row].utterance_id for row in meaning.typical)
        found.append(SaidDrift("meaning", source, meaning.p_value, tuple(typical)[:_TYPICAL]))
        found.append(SaidDrift("sureness", source, _sureness(first, second, sure).p_value))
        means = [probabilities_of(one, probability or {}) for one in (first, second)]
        if min(map(len, means)) >= FEWEST:
            found.append(SaidDrift("probability", source, mean_drift(means[0], means[1]).p_value))
    chances = corrected([one.chance for one in found])
    return tuple(replace(one, chance=p) for one, p in zip(found, chances, strict=True))


def _by_source(
    now: Sequence[SaidText],
) -> list[tuple[str, Sequence[SaidText], Sequence[SaidText]]]:
    """Return the largest sources, each with the rows of all others and its own."""
    sizes = dict[str, int]()
    for row in now:
        sizes[row.source] = sizes.get(row.source, 0) + 1
    largest = sorted(sizes, key=lambda name: (-sizes[name], name))[:_SOURCES]
    if len(sizes) == 2:  # each is what the other is not
        largest = largest[1:]
    return [
        (name, [r for r in now if r.source != name], [r for r in now if r.source == name])
        for name in largest
        if len(sizes) > 1
    ]


def probabilities_of(rows: Iterable[SaidText], probability: Mapping[str, float]) -> ScoreArray:
    """Return the probability of the answer to each row that is answered, (n,)."""
    return np.array([probability[r.utterance_id] for r in rows if r.utterance_id in probability])


def _sureness(
    first: Sequence[SaidText], second: Sequence[SaidText], sure: Collection[str]
) -> Drift:
    sides = [np.array([float(r.utterance_id in sure) for r in one]) for one in (first, second)]
    return mean_drift(sides[0], sides[1])
