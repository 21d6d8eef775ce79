"""How much of the traffic the live version answers, and what changed between two periods."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from app.services.answering.stored import no_model_yet
from app.services.live.live_studio import LiveStudio
from app.services.live.said.answers import Answers, SaidAnswered
from app.services.live.said.drift import SaidRows
from app.services.traffic.changes import changes_between
from app.services.traffic.coverage_views import SaidOften, SaidTexts, TrafficShare, TrafficView
from app.services.traffic.drifting import cut_text, with_drift
from app.services.traffic.facts import TrafficFacts, left_out_words, read_facts, with_decisions
from app.services.traffic.shares import (
    AnsweredRow,
    apart_words,
    covered_sources,
    covered_weeks,
    intent_shares,
    share_of,
    source_lines,
    week_of,
)
from core.errors import InvalidInput
from storage import models, projects
from storage.database import Transaction
from storage.queries import utterances
from storage.records import ProjectRecord
from storage.said import traffic
from storage.said.traffic import SaidText

MANY_LABELS = 10
"""With so many labels to learn from and no text in the traffic, an intent is a blind spot."""

NO_GROUP = "in no group"
MOST_DAYS = 400
_MOST_SHOWN = 30
_TYPICAL = 3


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
    with live_studio.studio.database.read() as connection:
        decided = with_decisions(connection, found.project_id, facts)
    known = replace(decided, learned=answered.learned)
    view = count_coverage(known, found.days, answered.intents)
    view = _with_texts(live_studio, found.project_id, view)
    return with_drift(live_studio.studio, found.project_id, view, known, answered)


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
        facts = read_facts(connection, record, *days)
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


def count_coverage(
    facts: TrafficFacts, days: tuple[date, date], answers: Answers | None, trouble: str = ""
) -> TrafficView:
    """Count the answers to the rows of a period, and compare them with the period before.

    Typical texts of what is not answered are named by their ids.
    """
    given: Answers = {} if answers is None else answers
    before = days[0] - (days[1] - days[0]), days[0]
    now, old = (
        [
            AnsweredRow(
                row,
                _known(given, row, facts),
                facts.groups.get(row.utterance_id),
                week_of(row.at, *span),
            )
            for row in rows
            if row.utterance_id in given
        ]
        for rows, span in ((facts.now, days), (facts.earlier, before))
    )
    n, missing = len(now), [one for one in now if not one.intents]
    intents = intent_shares(facts.intents, old, now)
    asked = {one.id for one in intents} | set(facts.meant)
    spots = [key for key in facts.intents if facts.labels.get(key, 0) >= MANY_LABELS]
    covered_before = sum(bool(one.intents) for one in old)
    return TrafficView(
        after=str(days[0]),
        before=str(days[1]),
        covered=share_of("all", n - len(missing), n),
        earlier=share_of("all", covered_before, len(old)),
        intents=intents,
        sources=covered_sources(now),
        weeks=covered_weeks([*old, *now]),
        lines=source_lines([*old, *now]),
        uncovered=_uncovered(facts, missing),
        blind_spots=tuple(facts.intents[key] for key in spots if n and key not in asked),
        changes=changes_between(facts, old, now) if old and now else (),
        counting=answers is None and not trouble,
        trouble=trouble,
        sent=_about(facts.sent, len(facts.now)),
        sent_before=_about(facts.sent_before, len(facts.earlier)),
        left_out=left_out_words(facts),
        apart=apart_words(now, facts.learned),
    )


def _about(sent: int, counted: int) -> int:
    """Return how many rows came, to two figures, where only a sample is counted; else 0."""
    return round(sent, 2 - len(str(sent))) if sent > counted else 0


def _known(answers: Answers, row: SaidText, facts: TrafficFacts) -> list[str]:
    return [key for key in answers[row.utterance_id] if key in facts.intents]


def _shown_in(facts: TrafficFacts, one: AnsweredRow) -> int | str:
    """Return in words what is settled of a text without an intent, else its group."""
    if settled := facts.set_aside.get(one.row.utterance_id):
        return settled
    return NO_GROUP if one.group is None else one.group


def _uncovered(facts: TrafficFacts, missing: Sequence[AnsweredRow]) -> tuple[TrafficShare, ...]:
    """Count texts without an intent by what shows them, each with the ids that are said most."""
    said = defaultdict[int | str, Counter[str]](Counter)
    for one in missing:
        said[_shown_in(facts, one)][one.row.utterance_id] += 1
    order = sorted(said, key=lambda key: (-said[key].total(), key in facts.mixed))
    return tuple(
        replace(
            _share_of_group(facts, key, said[key].total(), len(missing)),
            typical=tuple(text for text, _ in said[key].most_common(_TYPICAL)),
        )
        for key in order
    )


def _share_of_group(facts: TrafficFacts, group: int | str, count: int, n: int) -> TrafficShare:
    if isinstance(group, str):
        return share_of(group, count, n)
    found = share_of(facts.group_names[group], count, n, str(group))
    return replace(found, mixed=group in facts.mixed)
