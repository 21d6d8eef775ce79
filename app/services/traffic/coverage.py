"""How much of the traffic the live version answers, and what changed between two periods."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from app.services.answering.stored import no_model_yet
from app.services.live.said.answers import Answers, SaidAnswered
from app.services.live.said.drift import SaidRows
from app.services.live.server_state import LiveStudio
from app.services.traffic.coverage_views import (
    SaidOften,
    SaidTexts,
    Subject,
    TrafficChange,
    TrafficShare,
    TrafficView,
)
from app.services.traffic.drifting import cut_text, with_drift
from app.services.traffic.shares import (
    AnsweredRow,
    covered_sources,
    covered_weeks,
    intent_shares,
    of_largest_sources,
    share_of,
    source_lines,
)
from core.discover.showing import is_mixed
from core.errors import InvalidInput
from core.text import percent
from core.traffic.shares import Portion, ShareChange, compare_share, compare_shares
from storage import models, projects
from storage.computed import text_groups
from storage.database import Transaction
from storage.queries import dataset, utterances
from storage.records import ProjectRecord
from storage.said import traffic
from storage.said.traffic import SaidText

MOST = 5_000
"""Rows of a period that are answered; of more, a fair sample."""

MANY_LABELS = 10
"""With so many labels and no text in the traffic, an intent is a blind spot."""

NO_INTENT, NO_GROUP = "no intent", "in no group"
RIGHTLY_NONE = "labelled out of scope"
DECIDED = "labelled, skipped or in the test set"
MOST_DAYS = 400
_MOST_SHOWN = 30
_TYPICAL = 3
_FEW_CHANCES = 0.001
_PERHAPS = 0.05
"""Chance up to which a difference may be real, though it is not told as a change."""


@dataclass(frozen=True, slots=True)
class TrafficFacts:
    """What a count needs beside the answers.

    Attributes:
        now, earlier: Rows of the period, and of the one before.
        intents: Names of the open intents by id.
        groups: Number of the group that shows a text, by the text's id.
        group_names: Names of groups by number.
        labels: Number of labelled texts by intent id.
        mixed: Numbers of the groups whose texts have little in common.
        set_aside: Why texts that no grouping takes are in none, in words, by their ids.
        sent, sent_before: How many rows came, of which `now` and `earlier` may be a fair sample.
    """

    now: Sequence[SaidText]
    earlier: Sequence[SaidText]
    intents: Mapping[str, str]
    groups: Mapping[str, int]
    group_names: Mapping[int, str]
    labels: Mapping[str, int]
    mixed: Collection[int] = ()
    set_aside: Mapping[str, str] = field(default_factory=dict)
    sent: int = 0
    sent_before: int = 0


@dataclass(frozen=True, slots=True)
class Period:
    """From day to day in UTC: `before` is the day behind the last one.

    Without `before` it ends with the last day that has traffic; without `after` it has `days`.
    """

    after: date | None = None
    before: date | None = None
    days: int = 7


def read_coverage(live_studio: LiveStudio, project: str, period: Period) -> TrafficView:
    """Return what the live version answers of a period; never waits.

    Raises:
        NotFound: There is no such project, or it has no trained model yet.
        InvalidInput: The period is empty, or longer than 400 days.
    """
    found = _answered(live_studio, project, period)
    facts, answered = found.facts, found.answered
    if answered is None:
        return count_coverage(facts, found.days, None, found.trouble)
    counted = replace(facts, set_aside=_set_aside(live_studio, found.project_id, facts, answered))
    view = count_coverage(counted, found.days, answered.intents)
    view = _with_texts(live_studio, found.project_id, view)
    rows = facts.now, facts.earlier
    return with_drift(live_studio.studio, found.project_id, view, rows, answered)


def _set_aside(
    live_studio: LiveStudio, project_id: int, facts: TrafficFacts, answered: SaidAnswered
) -> dict[str, str]:
    """Say of unanswered texts in no group why no grouping takes them; by their ids."""
    given = answered.intents
    alone = {
        row.utterance_id
        for row in facts.now
        if row.utterance_id in given
        and row.utterance_id not in facts.groups
        and not _known(given, row, facts)
    }
    with live_studio.studio.database.read() as connection:
        found = utterances.by_ids(connection, project_id, sorted(alone))
    return {
        key: RIGHTLY_NONE if one.labels == () else DECIDED
        for key, one in found.items()
        if one.labels is not None or one.skipped or one.split == "test"
    }


def _with_texts(live_studio: LiveStudio, project_id: int, view: TrafficView) -> TrafficView:
    """Put the texts in place of the ids of those that are typical of what is not answered."""
    wanted = [key for one in view.uncovered for key in one.typical]
    with live_studio.studio.database.read() as connection:
        texts = utterances.by_ids(connection, project_id, wanted)
    uncovered = tuple(
        replace(
            one, typical=tuple(cut_text(texts[key].text) for key in one.typical if key in texts)
        )
        for one in view.uncovered
    )
    return replace(view, uncovered=uncovered)


def read_texts(live_studio: LiveStudio, project: str, period: Period, intent: str) -> SaidTexts:
    """Return the texts of a period that are answered with an intent; "": those without an answer.

    Raises:
        NotFound: There is no such project, or it has no trained model yet.
        InvalidInput: The period is empty, or longer than 400 days.
    """
    found = _answered(live_studio, project, period)
    facts, answered = found.facts, found.answered
    given: Answers = {} if answered is None else answered.intents
    said = defaultdict[str, Counter[str]](Counter)
    for row in facts.now:
        if row.utterance_id not in given:
            continue
        intents = _known(given, row, facts)
        if intent in intents or (not intent and not intents):
            said[row.utterance_id][row.source] += 1
    most = sorted(said, key=lambda key: (-said[key].total(), key))[:_MOST_SHOWN]
    with live_studio.studio.database.read() as connection:
        texts = utterances.by_ids(connection, found.project_id, most)
    shown = [
        SaidOften(texts[key].text, said[key].total(), dict(said[key].most_common()))
        for key in most
        if key in texts
    ]
    return SaidTexts(tuple(shown), len(said), answered is None)


@dataclass(frozen=True, slots=True)
class _PeriodAnswers:
    """The facts of a period with its two days, and its answers, or why there are none."""

    project_id: int
    facts: TrafficFacts
    days: tuple[date, date]
    answered: SaidAnswered | None
    trouble: str


def _answered(live_studio: LiveStudio, project: str, period: Period) -> _PeriodAnswers:
    with live_studio.studio.database.read() as connection:
        record = projects.find(connection, project)
        version = models.champion(connection, record.id)
        if version is None:
            raise no_model_yet(project)
        days = period_days(connection, record, period)
        facts = _facts(connection, record, *days)
    rows = SaidRows(facts.now, facts.earlier)
    return _PeriodAnswers(record.id, facts, days, *live_studio.said.settled(record, version, rows))


def period_days(
    connection: Transaction, record: ProjectRecord, period: Period
) -> tuple[date, date]:
    """Return the first day of a period and the day behind its last."""
    before = period.before
    if before is None:
        last = traffic.last_day(connection, record.id)
        before = (date.today() if last is None else date.fromisoformat(last)) + timedelta(1)  # noqa: DTZ011
    after = period.after
    if after is None:  # a first day before the year 1 is no date, and is refused below
        after = date.fromordinal(max(1, before.toordinal() - period.days))
    if not 0 < (before - after).days <= MOST_DAYS or after.year < 2000:
        raise InvalidInput(
            f"From {after} to before {before} is no period of 1 to {MOST_DAYS} days.",
            "Send the first day as after, and the day behind the last as before.",
        )
    return after, before


def _facts(
    connection: Transaction, record: ProjectRecord, after: date, before: date
) -> TrafficFacts:
    first = after - (before - after)
    families = text_groups.families(connection, record.id)
    places = text_groups.places(connection, record.id)
    sizes = Counter(families.shown(at) for at in places.values())
    open_intents = dataset.open_intents(connection, record.id)
    return TrafficFacts(
        now=traffic.sample(connection, record.id, str(after), str(before), MOST),
        earlier=traffic.sample(connection, record.id, str(first), str(after), MOST),
        intents={key: intent.name for key, intent in open_intents.items()},
        groups={key: families.shown(at) for key, at in places.items()},
        group_names={number: group.name for number, group in families.groups.items()},
        labels=utterances.counts(connection, record.id).by_intent,
        mixed={
            number
            for number, group in families.groups.items()
            if is_mixed(float(group.facts["cohesion"]), sizes[number])
        },
        sent=traffic.count_sent(connection, record.id, str(after), str(before)),
        sent_before=traffic.count_sent(connection, record.id, str(first), str(after)),
    )


def count_coverage(
    facts: TrafficFacts, days: tuple[date, date], answers: Answers | None, trouble: str = ""
) -> TrafficView:
    """Count the answers to the rows of a period, and compare them with the period before.

    Typical texts of what is not answered are named by their ids.
    """
    given: Answers = {} if answers is None else answers
    now, old = (
        [
            AnsweredRow(row, _known(given, row, facts), facts.groups.get(row.utterance_id))
            for row in rows
            if row.utterance_id in given
        ]
        for rows in (facts.now, facts.earlier)
    )
    n, missing = len(now), [one for one in now if not one.intents]
    groups = Counter(_shown_in(facts, one) for one in missing)
    said = defaultdict[int | str, Counter[str]](Counter)
    for one in missing:
        said[_shown_in(facts, one)][one.row.utterance_id] += 1
    intents = intent_shares(facts.intents, old, now, days[1])
    spots = [key for key in facts.intents if facts.labels.get(key, 0) >= MANY_LABELS]
    asked = {one.id for one in intents}
    covered_before = sum(bool(one.intents) for one in old)
    return TrafficView(
        after=str(days[0]),
        before=str(days[1]),
        covered=share_of("all", n - len(missing), n),
        earlier=share_of("all", covered_before, len(old)),
        intents=intents,
        sources=covered_sources(now),
        weeks=covered_weeks([*old, *now], days[1]),
        lines=source_lines([*old, *now], days[1]),
        uncovered=tuple(
            replace(_share_of_group(facts, key, k, len(missing)), typical=_most_said(said[key]))
            for key, k in sorted(groups.items(), key=lambda one: (-one[1], one[0] in facts.mixed))
        ),
        blind_spots=tuple(facts.intents[key] for key in spots if n and key not in asked),
        changes=_changes(facts, old, now) if old and now else (),
        counting=answers is None and not trouble,
        trouble=trouble,
        sent=_about(facts.sent, len(facts.now)),
        sent_before=_about(facts.sent_before, len(facts.earlier)),
    )


def _about(sent: int, counted: int) -> int:
    """Return how many rows came, to two figures, where only a sample is counted; else 0."""
    return round(sent, 2 - len(str(sent))) if sent > counted else 0


def _most_said(said: Counter[str]) -> tuple[str, ...]:
    """Return the ids of the texts that were said most often."""
    return tuple(key for key, _ in said.most_common(_TYPICAL))


def _known(answers: Answers, row: SaidText, facts: TrafficFacts) -> list[str]:
    return [key for key in answers[row.utterance_id] if key in facts.intents]


def _shown_in(facts: TrafficFacts, one: AnsweredRow) -> int | str:
    """Return the group of a text without an intent, or in words why it has none."""
    if one.group is not None:
        return one.group
    return facts.set_aside.get(one.row.utterance_id, NO_GROUP)


def _share_of_group(facts: TrafficFacts, group: int | str, count: int, n: int) -> TrafficShare:
    if isinstance(group, str):
        return share_of(group, count, n)
    found = share_of(facts.group_names[group], count, n, str(group))
    return replace(found, mixed=group in facts.mixed)


def _changes(
    facts: TrafficFacts, old: Sequence[AnsweredRow], now: Sequence[AnsweredRow]
) -> tuple[TrafficChange, ...]:
    """Return the changes of no intent, intents, uncovered groups and sources; real ones first.

    Texts without an intent are the report's first figure, and are tested by themselves: as one of
    many intents, a rise from 6.7 to 12.1 % was told to come by chance in 20 of 100 cases.
    """
    asked = [Counter(key for one in rows for key in one.intents or [""]) for rows in (old, now)]
    totals = len(old), len(now)
    grouped = [Counter(_group_key(one) for one in rows) for rows in (old, now)]
    missing = [Portion(sum(not one.intents for one in rows), len(rows)) for rows in (old, now)]
    found = [_told(facts, "no intent", compare_share("", *missing))]
    found += [_told(facts, "intent", c) for c in compare_shares(*asked, totals=totals) if c.name]
    found += [_told(facts, "group", c) for c in compare_shares(*grouped) if c.name]
    sources = [Counter(one.row.source for one in rows) for rows in of_largest_sources(old, now)]
    if len(sources[0] | sources[1]) > 1:
        found += [_told(facts, "source", change) for change in compare_shares(*sources)]
    return tuple(sorted(found, key=lambda one: not one.is_real))


def _group_key(one: AnsweredRow) -> str:
    """Return the number of an uncovered text's group, or "" for all other texts."""
    return "" if one.intents or one.group is None else str(one.group)


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
        sentence=_sentence(about, before, after, change.p_value),
        verdict=_verdict(change),
    )


def _verdict(change: ShareChange) -> str:
    """Say whether a difference is more than chance, and how often chance does as much."""
    if change.is_real:
        return "the difference is more than chance"
    often = f"{100 * change.p_value:.{1 if change.p_value <= _PERHAPS else 0}f} of 100 cases"
    if change.p_value > _PERHAPS:
        return f"such a difference can come by chance alone, in {often}"
    return f"perhaps a real change, but not sure: chance alone does as much in {often}"


def _sentence(about: Subject, before: TrafficShare, after: TrafficShare, p: float) -> str:
    """Say what changed, with its evidence."""
    subject = {
        "intent": after.name,
        "no intent": "Texts without an intent",
        "group": f"Texts without an intent about “{after.name}”",
        "source": f"Texts from “{after.name}”",
    }[about]
    way = "up" if after.share > before.share else "down"
    told = [f"{percent(one.share, 1)} ({one.count:,} of {one.n:,})" for one in (before, after)]
    chance = "once in 1,000" if p < _FEW_CHANCES else f"{percent(p, 1)} of the time"
    less = "less than " if p < _FEW_CHANCES else ""
    return f"{subject}: {way} from {told[0]} to {told[1]}; by chance alone, {less}{chance}."
