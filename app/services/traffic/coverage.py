"""How much of the traffic the live version answers, and what changed between two periods."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from app.services.answering.stored import no_model_yet
from app.services.live.said_answers import Answers
from app.services.live.server_state import LiveStudio
from core.errors import InvalidInput
from core.text import percent
from core.traffic.shares import Portion, ShareChange, compare_shares
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
_WEEK, _MOST_DAYS = 7, 400
_FEW_CHANCES = 0.001


@dataclass(frozen=True, slots=True)
class TrafficShare:
    """`count` of `n` texts, with the 95 % interval of their share, from `low` to `high`.

    Attributes:
        name: Of the intent, the source, the week's first day or the group.
        share: In [0, 1], as are the ends of the interval.
    """

    name: str
    count: int
    n: int
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class TrafficView:
    """What the live version makes of a period's traffic.

    Attributes:
        after, before: First day of the period, and the day behind its last; UTC.
        covered: Texts that are answered with an intent; `earlier`: in the period before.
        intents: Texts by the intent that answers them, the most frequent first.
        sources, weeks: Covered texts of each source, and of each week, by its Monday.
        uncovered: Texts without an answer by their group, of all without one.
        blind_spots: Names of intents with 10 labels or more that answer no text.
        changes: What changed since the period before beyond chance, a sentence each.
        counting: Whether answers are being computed; what is counted is then empty.
        trouble: Why there are no answers, or "".
    """

    after: str
    before: str
    covered: TrafficShare
    earlier: TrafficShare
    intents: tuple[TrafficShare, ...]
    sources: tuple[TrafficShare, ...]
    weeks: tuple[TrafficShare, ...]
    uncovered: tuple[TrafficShare, ...]
    blind_spots: tuple[str, ...]
    changes: tuple[str, ...]
    counting: bool
    trouble: str


@dataclass(frozen=True, slots=True)
class TrafficFacts:
    """What a count needs beside the answers.

    Attributes:
        now, earlier: Rows of the period, and of the one before.
        intents: Names of the open intents by id.
        groups: Name of the group that shows a text, by the text's id.
        labels: Number of labelled texts by intent id.
    """

    now: Sequence[SaidText]
    earlier: Sequence[SaidText]
    intents: Mapping[str, str]
    groups: Mapping[str, str]
    labels: Mapping[str, int]


def read_coverage(
    live_studio: LiveStudio, project: str, after: date | None = None, before: date | None = None
) -> TrafficView:
    """Return what the live version answers of a period, by default the last week; never waits.

    Raises:
        NotFound: There is no such project, or it has no trained model yet.
        InvalidInput: The period is empty, or longer than 400 days.
    """
    with live_studio.studio.database.read() as connection:
        record = projects.find(connection, project)
        version = models.champion(connection, record.id)
        if version is None:
            raise no_model_yet(project)
        days = _period(connection, record, after, before)
        facts = _facts(connection, record, *days)
    ids = list({row.utterance_id: None for row in (*facts.now, *facts.earlier)})
    answers, trouble = live_studio.said.settled(record, version, ids)
    return count_coverage(facts, days, answers, trouble)


def _period(
    connection: Transaction, record: ProjectRecord, after: date | None, before: date | None
) -> tuple[date, date]:
    if before is None:
        last = traffic.last_day(connection, record.id)
        before = (date.today() if last is None else date.fromisoformat(last)) + timedelta(1)  # noqa: DTZ011
    after = before - timedelta(_WEEK) if after is None else after
    if not 0 < (before - after).days <= _MOST_DAYS or after.year < 2000:
        raise InvalidInput(
            f"From {after} to before {before} is no period of 1 to {_MOST_DAYS} days.",
            "Send the first day as after, and the day behind the last as before.",
        )
    return after, before


def _facts(
    connection: Transaction, record: ProjectRecord, after: date, before: date
) -> TrafficFacts:
    first = after - (before - after)
    families = text_groups.families(connection, record.id)
    places = text_groups.places(connection, record.id)
    open_intents = dataset.open_intents(connection, record.id)
    return TrafficFacts(
        now=traffic.sample(connection, record.id, str(after), str(before), MOST),
        earlier=traffic.sample(connection, record.id, str(first), str(after), MOST),
        intents={key: intent.name for key, intent in open_intents.items()},
        groups={key: families.groups[families.shown(at)].name for key, at in places.items()},
        labels=utterances.counts(connection, record.id).by_intent,
    )


def count_coverage(
    facts: TrafficFacts, days: tuple[date, date], answers: Answers | None, trouble: str = ""
) -> TrafficView:
    """Count the answers to the rows of a period, and compare them with the period before."""
    given: Answers = {} if answers is None else answers
    now = [(row, _known(given, row, facts)) for row in facts.now if row.utterance_id in given]
    old = [(row, _known(given, row, facts)) for row in facts.earlier if row.utterance_id in given]
    n, missing = len(now), [row for row, intents in now if not intents]
    by_intent = Counter(key for _, intents in now for key in intents)
    groups = Counter(facts.groups.get(row.utterance_id, NO_GROUP) for row in missing)
    weeks = _covered_by((_monday(row.at), bool(intents)) for row, intents in (*old, *now))
    sources = _covered_by((row.source, bool(intents)) for row, intents in now)
    spots = [key for key in facts.intents if facts.labels.get(key, 0) >= MANY_LABELS]
    changes = compare_shares(_counts(old, facts), _counts(now, facts)) if old and now else ()
    return TrafficView(
        after=str(days[0]),
        before=str(days[1]),
        covered=_share("all", n - len(missing), n),
        earlier=_share("all", sum(bool(intents) for _, intents in old), len(old)),
        intents=tuple(_share(facts.intents[key], k, n) for key, k in by_intent.most_common()),
        sources=tuple(sorted(sources, key=lambda one: -one.n)),
        weeks=tuple(sorted(weeks, key=lambda one: one.name)),
        uncovered=tuple(_share(name, k, len(missing)) for name, k in groups.most_common()),
        blind_spots=tuple(facts.intents[key] for key in spots if n and not by_intent[key]),
        changes=tuple(_sentence(change) for change in changes if change.is_real),
        counting=answers is None and not trouble,
        trouble=trouble,
    )


def _known(answers: Answers, row: SaidText, facts: TrafficFacts) -> list[str]:
    return [key for key in answers[row.utterance_id] if key in facts.intents]


def _counts(
    rows: Sequence[tuple[SaidText, Sequence[str]]], facts: TrafficFacts
) -> Mapping[str, int]:
    found = Counter(facts.intents[key] for _, intents in rows for key in intents)
    found[NO_INTENT] = sum(not intents for _, intents in rows)
    return found


def _covered_by(pairs: Iterable[tuple[str, bool]]) -> list[TrafficShare]:
    found = defaultdict[str, list[bool]](list)
    for name, covered in pairs:
        found[name].append(covered)
    return [_share(name, sum(each), len(each)) for name, each in found.items()]


def _monday(at: str) -> str:
    day = date.fromisoformat(at[: traffic.DAY])
    return str(day - timedelta(day.weekday()))


def _share(name: str, count: int, n: int) -> TrafficShare:
    portion = Portion(count, n)
    low, high = portion.interval()
    return TrafficShare(name, count, n, portion.value, low, high)


def _sentence(change: ShareChange) -> str:
    """Say what changed, with its evidence."""
    before, after, p = change.before, change.after, change.p_value
    way = "up" if after.value > before.value else "down"
    told = [f"{percent(one.value, 1)} ({one.count:,} of {one.n:,})" for one in (before, after)]
    chance = "once in 1,000" if p < _FEW_CHANCES else f"{percent(p, 1)} of the time"
    less = "less than " if p < _FEW_CHANCES else ""
    return f"{change.name}: {way} from {told[0]} to {told[1]}; by chance alone, {less}{chance}."
