"""The report about traffic: what people asked for, what got no answer, what changed, what to do."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta

from app.services.live.live_studio import LiveStudio
from app.services.reports.pages import render
from app.services.traffic.coverage import NO_GROUP, Period, read_coverage
from app.services.traffic.coverage_views import TrafficChange, TrafficShare, TrafficView
from core.errors import InvalidInput
from core.metrics.in_words import is_on_tests
from core.text import counted, percent
from storage import models, projects

_STEPS = 3
_FEWEST = 3
"""Texts of a group that are worth a step of their own."""

_BLIND = 3
_OLD = 2
"""Days since the newest text from which on the report tells them, as the page Discover does."""


@dataclass(frozen=True, slots=True)
class AskedLine:
    """An intent in the table of what people asked for.

    Attributes:
        before: Its share in the period before; None without traffic then.
        is_real: Whether it changed by more than chance.
    """

    share: TrafficShare
    before: float | None
    is_real: bool


@dataclass(frozen=True, slots=True)
class WeekPoint:
    """A week in the chart of the weeks; `at` is its place in time, from 0, the first, to 1."""

    at: float
    week: TrafficShare


@dataclass(frozen=True, slots=True)
class TrafficReport:
    """What a report about traffic shows.

    Attributes:
        days: Length of the period, and of the one before it.
        last: Last day of the period.
        overall: Change of the texts without an intent; None where it is not compared.
        sentences: What changed by more than chance.
        weeks: Share that was answered in each week with traffic.
        age: Days since the newest text; 0 where it is so new that nobody needs to know.
        right: How often answers are right, in words.
        steps: What to do next, the most worth first.
    """

    project: str
    view: TrafficView
    days: int
    last: str
    overall: TrafficChange | None
    sentences: tuple[str, ...]
    weeks: tuple[WeekPoint, ...]
    asked: tuple[AskedLine, ...]
    steps: tuple[str, ...]
    age: int
    right: str


class StillCounting(InvalidInput):
    """The texts of a report are being answered."""


def traffic_report(live_studio: LiveStudio, project: str, period: Period) -> TrafficReport:
    """Return the report about a period.

    Raises:
        NotFound: There is no such project, or it has no trained model yet.
        InvalidInput: There is no traffic.
        StillCounting: Its texts are being answered.
    """
    view = read_coverage(live_studio, project, period)
    if view.trouble:
        raise InvalidInput(f"The texts cannot be answered: {view.trouble}", "See Versions.")
    if view.counting:
        raise StillCounting(
            "The texts are being answered.", "Open the report again in half a minute."
        )
    if not view.covered.n:
        days = f"from {view.after} to before {view.before}"
        none = f"None of the about {counted(view.sent, 'text')} {days} is in the sample."
        raise InvalidInput(
            none if view.sent else f"Nothing was said {days}.",
            "Choose other days, or send texts with their time first.",
        )
    return report_of(project, view, period.days, _right_words(live_studio, project))


def report_of(project: str, view: TrafficView, days: int, right: str = "") -> TrafficReport:
    """Put a count into the form of a report."""
    last = date.fromisoformat(view.before) - timedelta(1)
    age = (datetime.now(UTC).date() - last).days - 1
    by_id = {one.id: one for one in view.changes if one.about == "intent"}
    gone = [one.after for one in by_id.values() if not one.after.count]
    asked = [
        AskedLine(one, by_id[one.id].before.share, by_id[one.id].is_real)
        if one.id in by_id
        else AskedLine(one, None, is_real=False)
        for one in (*view.intents, *gone)
    ]
    return TrafficReport(
        project=project,
        view=view,
        days=days,
        last=str(last),
        overall=next((one for one in view.changes if one.about == "no intent"), None),
        sentences=(
            *(one.sentence for one in view.changes if one.is_real),
            *(one.sentence for one in view.drifts if one.is_real),
        ),
        weeks=_points(view.weeks),
        asked=tuple(asked),
        steps=_steps(view),
        age=age if age >= _OLD else 0,
        right=right,
    )


def report_page(found: TrafficReport, downloads: Mapping[str, str], back: str = "") -> str:
    """Write the report as one self-contained page of HTML; a file has no downloads."""
    ways = {"Back to Discover": back} if back else {}
    return render("traffic.html", {"it": asdict(found), "downloads": downloads, "back": ways})


def waiting_page(project: str, back: str) -> str:
    """Write the page that stands in place of a report until it is counted."""
    ways = {"Back to Discover": back}
    return render("waiting.html", {"project": project, "downloads": {}, "back": ways})


def _points(weeks: Sequence[TrafficShare]) -> tuple[WeekPoint, ...]:
    """Place weeks in time: one without traffic leaves a gap, and one alone stands in the middle."""
    days = [date.fromisoformat(week.name).toordinal() for week in weeks]
    span = days[-1] - days[0] if days else 0
    return tuple(
        WeekPoint((day - days[0]) / span if span else 0.5, week)
        for day, week in zip(days, weeks, strict=True)
    )


def _subject_step(one: TrafficShare) -> str:
    if one.name == NO_GROUP:
        quoted = ", ".join(f"“{text}”" for text in one.typical)
        return (
            f"{counted(one.count, 'text')} without an intent {'is' if one.count == 1 else 'are'} "
            f"in no group yet{f', such as {quoted}' if quoted else ''}. For the team: have the "
            "studio group them."
        )
    return (
        f"{counted(one.count, 'text')} about “{one.name}” got no intent. For the team: look "
        "through them. What belongs together becomes an intent or joins one; what fits none was "
        "rightly refused."
    )


def _right_words(live_studio: LiveStudio, project: str) -> str:
    """Say how often answers are right: that a text got an intent does not tell it."""
    with live_studio.studio.database.read() as connection:
        record = projects.find(connection, project)
        version = models.champion(connection, record.id)
    if version is None:
        return ""
    now, _ = live_studio.accuracies.get(record, version)
    then = version.right_share if is_on_tests(version.metrics) else None
    share = then if now is None else now.share
    if share is None:
        return "Whether it was the right one is not tested: there are no test texts."
    when = " when it was trained" if now is None else ""
    return (
        "Whether it was the right one is not known of these texts. Of the test texts, whose intent "
        f"is known, the version answers {percent(share, 1)} right{when}."
    )


def _steps(view: TrafficView) -> tuple[str, ...]:
    """Return what to do; subjects come by their number of texts, and mixed groups are none."""
    subjects = [
        one
        for one in view.uncovered
        if one.name == NO_GROUP or (one.id and one.count >= _FEWEST and not one.mixed)
    ]
    found = list(map(_subject_step, subjects[: _STEPS + 1]))
    if view.blind_spots:
        named = ", ".join(view.blind_spots[:_BLIND])
        rest = len(view.blind_spots) - _BLIND
        more = f" and {rest} more" if rest > 0 else ""
        found.append(_silent_step(view, f"{named}{more}"))
    return tuple(found)


_FEWER = " For the team: count fewer days, so that more of their texts are counted."


def _silent_step(view: TrafficView, named: str) -> str:
    """Say that no text got the intents; a sample does not tell it of all texts."""
    if view.sent:
        is_longer = date.fromisoformat(view.before) - date.fromisoformat(view.after) > timedelta(1)
        return (
            f"None of the {counted(view.covered.n, 'text')} of the sample got {named}. "
            f"Whether others of these days did is not known.{_FEWER if is_longer else ''}"
        )
    return (
        f"No text of these days got {named}, and none is labelled so: if that stays so, ask "
        "whether it is still needed."
    )
