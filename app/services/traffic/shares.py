"""Shares of answered rows: by week, by source and by intent."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, timedelta

from app.services.traffic.coverage_views import IntentShare, SourceLine, TrafficShare
from core.text import counted, percent
from core.traffic.shares import Portion, compare_parts
from storage.said import traffic
from storage.said.traffic import SaidText

_MOST_WEEKS = 12
_MOST_SOURCES = 8
"""Weeks and sources by which the share of one intent is told."""

_PAIR, _FEWEST = 2, 30
"""Sources that can be compared, and texts that each of them needs."""

_MOST_LISTED = 20
_OTHERS = "all other sources"
"""The rows of smaller sources count under it: a log may have a session in place of a source."""


@dataclass(frozen=True, slots=True)
class AnsweredRow:
    """A row of the traffic with the open intents that answer it, its group and its week."""

    row: SaidText
    intents: Sequence[str]
    group: int | None
    week: str


@dataclass(frozen=True, slots=True)
class _Part:
    """A week or a source: how many rows it has, and how many of them got each intent."""

    name: str
    n: int
    asked: Mapping[str, int]

    def share(self, key: str) -> TrafficShare:
        return share_of(self.name, self.asked.get(key, 0), self.n)


def share_of(name: str, count: int, n: int, key: str = "") -> TrafficShare:
    """Return `count` of `n` texts with the interval of their share."""
    portion = Portion(count, n)
    low, high = portion.interval()
    return TrafficShare(name, count, n, portion.value, low, high, key)


def week_of(at: str, first: date, before: date) -> str:
    """Return the first day of the week of a time, counted back from the day behind its period.

    No week begins before the `first` day of the period: each period is a sample of its own, so its
    rows do not stand for as many as those of another.
    """
    days = (before - date.fromisoformat(at[: traffic.DAY])).days
    return str(max(first, before - timedelta(days + -days % 7)))


def covered_weeks(rows: Iterable[AnsweredRow]) -> tuple[TrafficShare, ...]:
    """Return the covered rows of each week, the first one first."""
    found = _covered_by((one.week, bool(one.intents)) for one in rows)
    return tuple(sorted(found, key=lambda one: one.name))


def of_largest_sources(*periods: Sequence[AnsweredRow]) -> list[Sequence[AnsweredRow]]:
    """Return the rows of some periods, with one name for all sources but the 20 largest."""
    counts = Counter(one.row.source for rows in periods for one in rows)
    if len(counts) <= _MOST_LISTED:
        return list(periods)
    ordered = sorted(counts, key=lambda name: (-counts[name], name))
    names = dict.fromkeys(ordered[_MOST_LISTED:], _OTHERS)
    return [
        [
            replace(one, row=replace(one.row, source=names.get(one.row.source, one.row.source)))
            for one in rows
        ]
        for rows in periods
    ]


def covered_sources(rows: Sequence[AnsweredRow]) -> tuple[TrafficShare, ...]:
    """Return the covered rows of each of the 20 largest sources, the one with most rows first.

    Those of all others together have an id, `others`.
    """
    [listed] = of_largest_sources(rows)
    found = _covered_by((one.row.source, bool(one.intents)) for one in listed)
    is_cut = listed is not rows
    named = (replace(one, id="others") if is_cut and one.name == _OTHERS else one for one in found)
    return tuple(sorted(named, key=lambda one: -one.n))


def apart_words(now: Sequence[AnsweredRow], learned: Collection[str]) -> str:
    """Say which source is answered otherwise than the others, if one is; "" of a single source.

    A version answers most texts that it has `learned`, by the utterance's id. They are left out.
    """
    if len({one.row.source for one in now}) < _PAIR:
        return ""
    fresh = [one for one in now if one.row.utterance_id not in learned]
    new = " that are new to the version" if len(fresh) < len(now) else ""
    sources = covered_sources(fresh)
    large = {one.name: Portion(one.count, one.n) for one in sources if one.n >= _FEWEST}
    if len(large) < _PAIR:
        return f"Fewer than two sources have {_FEWEST} texts{new}: too few to compare them."
    first = compare_parts(large)[0]
    if not first.is_real:
        return "The differences between sources may be chance."
    own, others = first.after, first.before
    is_named = any(one.name == first.name and not one.id for one in sources)
    name = f"“{first.name}”" if is_named else "the smaller sources together"
    return (
        f"Texts from {name}{new} are answered "
        f"{'more' if own.value > others.value else 'less'} often than those from other sources: "
        f"{percent(own.value, 1)} of "
        f"{counted(own.n, 'text')} against {percent(others.value, 1)} of {others.n:,}. "
        "This is more than chance."
    )


def source_lines(rows: Sequence[AnsweredRow]) -> tuple[SourceLine, ...]:
    """Return the covered rows of the 20 largest sources by week, the one with most rows first."""
    by_source = defaultdict[str, list[AnsweredRow]](list)
    [listed] = of_largest_sources(rows)
    for one in listed:
        by_source[one.row.source].append(one)
    most = sorted(by_source, key=lambda name: (-len(by_source[name]), name))
    return tuple(SourceLine(name, covered_weeks(by_source[name])) for name in most)


def intent_shares(
    names: Mapping[str, str],
    earlier: Sequence[AnsweredRow],
    now: Sequence[AnsweredRow],
) -> tuple[IntentShare, ...]:
    """Return the share of each intent of `now`, the most frequent first, by week and by source.

    As in the shares of all texts, the weeks are those of both periods, and the sources of `now`.
    """
    weeks = _parts((one.week, one) for one in (*earlier, *now))
    weeks = sorted(weeks, key=lambda one: one.name)[-_MOST_WEEKS:]
    sources = _parts((one.row.source, one) for one in now)
    sources = sorted(sources, key=lambda one: (-one.n, one.name))[:_MOST_SOURCES]
    return tuple(
        IntentShare(
            **asdict(share_of(names[key], count, len(now), key)),
            weeks=tuple(one.share(key) for one in weeks),
            sources=tuple(one.share(key) for one in sources),
        )
        for key, count in _asked(now).most_common()
    )


def _asked(rows: Iterable[AnsweredRow]) -> Counter[str]:
    return Counter(key for one in rows for key in one.intents)


def _parts(pairs: Iterable[tuple[str, AnsweredRow]]) -> list[_Part]:
    found = defaultdict[str, list[AnsweredRow]](list)
    for name, one in pairs:
        found[name].append(one)
    return [_Part(name, len(rows), _asked(rows)) for name, rows in found.items()]


def _covered_by(pairs: Iterable[tuple[str, bool]]) -> list[TrafficShare]:
    found = defaultdict[str, list[bool]](list)
    for name, covered in pairs:
        found[name].append(covered)
    return [share_of(name, sum(each), len(each)) for name, each in found.items()]
