"""What changed in the traffic between two periods: each change with its evidence, in words."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from app.services.traffic.coverage_views import Subject, TrafficChange, TrafficShare
from app.services.traffic.drifting import chance_words
from app.services.traffic.facts import TrafficFacts
from app.services.traffic.shares import AnsweredRow, of_largest_sources, share_of
from core.text import counted, percent
from core.traffic.shares import (
    GroupedTexts,
    Portion,
    ShareChange,
    compare_groups,
    compare_share,
    compare_shares,
)

NO_INTENT = "no intent"
_PERHAPS = 0.05
"""Chance up to which a difference may be real, though it is not told as a change."""


def changes_between(
    facts: TrafficFacts, old: Sequence[AnsweredRow], now: Sequence[AnsweredRow]
) -> tuple[TrafficChange, ...]:
    """Return the changes of no intent, intents, uncovered groups and sources; real ones first."""
    found = _of_answers(facts, old, now)
    sources = [Counter(one.row.source for one in rows) for rows in of_largest_sources(old, now)]
    if len(sources[0] | sources[1]) > 1:
        found += [_told(facts, "source", change) for change in compare_shares(*sources)]
    return tuple(sorted(found, key=lambda one: not one.is_real))


def _of_answers(
    facts: TrafficFacts, old: Sequence[AnsweredRow], now: Sequence[AnsweredRow]
) -> list[TrafficChange]:
    """Return the changes of no intent, of intents and of uncovered groups.

    A tuned version finds an intent for most texts that it has learned. Without these, what is left
    is not as it was said, for people choose what they label. A change has to stand both ways. Where
    too few others are left, nothing is told: by all texts it may be the training.
    """
    whole = _compared(old, now)
    fresh = [[r for r in rows if r.row.utterance_id not in facts.learned] for rows in (old, now)]
    if sum(map(len, fresh)) == len(old) + len(now):
        return [_told(facts, about, change) for (about, _), change in whole.items()]
    if not facts.is_comparable:
        return []
    less = _compared(*fresh)
    found = list[TrafficChange]()
    for (about, key), change in whole.items():
        other = less.get((about, key), replace(change, p_value=1.0))
        weaker = _weaker(change, other)
        if about == "intent":  # its figures stay those of all texts, as in the table of intents
            weaker = replace(change, p_value=weaker.p_value)
        told = _told(facts, about, weaker)
        if about == "no intent" and weaker is other:
            words = f"without the texts that the version has learned, {told.verdict}"
            told = replace(told, verdict=words)
        found.append(told)
    return found


def _weaker(one: ShareChange, other: ShareChange) -> ShareChange:
    """Return the less sure of two changes of a share; a rise and a fall together are none."""
    if one.rise * other.rise < 0:
        return replace(one, p_value=1.0)
    return max(one, other, key=lambda change: change.p_value)


def _compared(
    old: Sequence[AnsweredRow], now: Sequence[AnsweredRow]
) -> dict[tuple[Subject, str], ShareChange]:
    """Compare no intent, the intents and the uncovered groups, each by its id.

    Texts without an intent are the report's first figure, and are tested by themselves: as one of
    many intents, a rise from 6.7 to 12.1 % was told to come by chance in 20 of 100 cases.
    """
    sides = old, now
    missing = [Portion(sum(not one.intents for one in rows), len(rows)) for rows in sides]
    asked = [Counter(key for one in rows for key in one.intents or [""]) for rows in sides]
    found: dict[tuple[Subject, str], ShareChange] = {("no intent", ""): compare_share("", *missing)}
    for one in compare_shares(*asked, totals=(len(old), len(now))):
        if one.name:
            found["intent", one.name] = one
    for one in compare_groups(*map(_grouped, sides)):
        found["group", one.name] = one
    return found


def _grouped(rows: Sequence[AnsweredRow]) -> GroupedTexts:
    """Count the texts without an intent by their group; texts come into groups by an act alone."""
    groups = [one.group for one in rows if not one.intents]
    counts = Counter(str(group) for group in groups if group is not None)
    return GroupedTexts(counts, groups.count(None), len(rows))


def _told(facts: TrafficFacts, about: Subject, change: ShareChange) -> TrafficChange:
    """Name a change, and say it; `change` has the id of its intent or group for a name."""
    key = change.name
    match about:
        case "intent":
            name = facts.intents[key]
        case "group":
            name = facts.group_names[int(key)]
        case "source":
            name = key
        case "no intent":
            name = NO_INTENT
    before, after = (share_of(name, one.count, one.n, key) for one in (change.before, change.after))
    return TrafficChange(
        about=about,
        id=key,
        name=name,
        before=before,
        after=after,
        chance=change.p_value,
        is_real=change.is_real,
        sentence=_sentence(about, before, after, change),
        verdict=_verdict(change),
    )


def _verdict(change: ShareChange) -> str:
    """Say whether a difference is more than chance, and how often chance does as much."""
    if change.is_real:
        return "the difference is more than chance"
    if change.loose:
        return _doubt(change)
    often = f"{100 * change.p_value:.{1 if change.p_value <= _PERHAPS else 0}f} of 100 cases"
    if change.p_value > _PERHAPS:
        return f"such a difference can come by chance alone, in {often}"
    return f"perhaps a real change, but not sure: chance alone does as much in {often}"


def _sentence(
    about: Subject, before: TrafficShare, after: TrafficShare, change: ShareChange
) -> str:
    """Say what changed, with its evidence."""
    subject = {
        "intent": after.name,
        "no intent": "Texts without an intent",
        "group": f"Texts without an intent about “{after.name}”",
        "source": f"Texts from “{after.name}”",
    }[about]
    way = "up" if after.share > before.share else "down"
    told = [f"{percent(one.share, 1)} ({one.count:,} of {one.n:,})" for one in (before, after)]
    return f"{subject}: {way} from {told[0]} to {told[1]}; {_doubt(change)}."


def _doubt(change: ShareChange) -> str:
    if change.loose and not change.is_real:
        return f"{counted(change.loose, 'text')} in no group may make the difference"
    return f"by chance alone, {chance_words(change.p_value)}"
