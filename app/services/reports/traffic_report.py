"""The report about traffic: what people asked for, what got no answer, what changed, what to do."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from app.services.live.server_state import LiveStudio
from app.services.reports.pages import render
from app.services.traffic.coverage import NO_GROUP, Period, read_coverage
from app.services.traffic.coverage_views import TrafficChange, TrafficShare, TrafficView
from core.errors import InvalidInput
from core.text import counted

_STEPS = 3
_FEWEST = 3
"""Texts of a group that are worth a step of their own."""

_BLIND = 3


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
class TrafficReport:
    """What a report about traffic shows.

    Attributes:
        days: Length of the period, and of the one before it.
        overall: Change of the texts without an intent; None without traffic before.
        sentences: What changed by more than chance.
        steps: What to do next, the most worth first.
    """

    project: str
    view: TrafficView
    days: int
    overall: TrafficChange | None
    sentences: tuple[str, ...]
    asked: tuple[AskedLine, ...]
    steps: tuple[str, ...]


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
        raise InvalidInput(
            f"Nothing was said from {view.after} to before {view.before}.",
            "Choose other days, or send texts with their time first.",
        )
    return report_of(project, view, period.days)


def report_of(project: str, view: TrafficView, days: int) -> TrafficReport:
    """Put a count into the form of a report."""
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
        overall=next((one for one in view.changes if one.about == "no intent"), None),
        sentences=(
            *(one.sentence for one in view.changes if one.is_real),
            *(one.sentence for one in view.drifts if one.is_real),
        ),
        asked=tuple(asked),
        steps=_steps(view),
    )


def report_page(found: TrafficReport, downloads: Mapping[str, str], back: str = "") -> str:
    """Write the report as one self-contained page of HTML; a file has no downloads."""
    ways = {"Back to Discover": back} if back else {}
    return render("traffic.html", {"it": asdict(found), "downloads": downloads, "back": ways})


def waiting_page(project: str, back: str) -> str:
    """Write the page that stands in place of a report until it is counted."""
    ways = {"Back to Discover": back}
    return render("waiting.html", {"project": project, "downloads": {}, "back": ways})


def _steps(view: TrafficView) -> tuple[str, ...]:
    groups = [one for one in view.uncovered if one.name != NO_GROUP and one.count >= _FEWEST]
    found = [
        f"{counted(one.count, 'text')} about “{one.name}” got no intent: look through the group on "
        "the page Discover. What belongs together becomes an intent or joins one; what fits none "
        "was rightly refused."
        for one in groups[:_STEPS]
    ]
    for one in view.uncovered:
        if one.name == NO_GROUP:
            quoted = ", ".join(f"“{text}”" for text in one.typical)
            found.append(
                f"{counted(one.count, 'text')} without an intent "
                f"{'is' if one.count == 1 else 'are'} in no group yet"
                f"{f', such as {quoted}' if quoted else ''}: let Discover group them."
            )
    if view.blind_spots:
        named = ", ".join(view.blind_spots[:_BLIND])
        rest = len(view.blind_spots) - _BLIND
        more = f" and {rest} more" if rest > 0 else ""
        found.append(
            f"Nobody asked for {named}{more} in these days: if that stays so, ask whether it is "
            "still needed."
        )
    return tuple(found)
