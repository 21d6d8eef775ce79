"""Routes of the Discover page: groups of the texts that wait for a label, and acts on them."""

from collections.abc import Iterator
from datetime import date
from typing import Annotated

from fastapi import Depends, Query, Response, UploadFile
from fastapi.responses import FileResponse

from app.api.http import schemas
from app.api.http.discover_bodies import GroupChangeBody, GroupingBody, TakingBody
from app.api.http.downloads import BYTES, download
from app.api.http.routers import rest_router
from app.api.http.server_state import IN_TURN, Live, OpenStudio
from app.api.http.text_bodies import TrafficBody
from app.services.data.uploads import delete_upload
from app.services.discover.acts import TakenView, change_group, take_group
from app.services.discover.fitting import fitted
from app.services.discover.runs import start_grouping
from app.services.discover.splitting import split_group
from app.services.discover.stored import (
    GroupsView,
    GroupText,
    OpenedGroup,
    list_groups,
    open_group,
    texts_of_group,
)
from app.services.traffic.comparing import SourcePair, compare_sources
from app.services.traffic.coverage import MOST_DAYS, Period, read_coverage, read_texts
from app.services.traffic.coverage_views import ComparedSources, SaidTexts, TrafficView
from app.services.traffic.exporting import SaidChoice, export_traffic
from app.services.traffic.logs import (
    LogReading,
    TrafficLogReport,
    WaitingTrafficLog,
    import_received,
    look_at_log,
    receive_log,
)
from app.services.traffic.receiving import ReceivedTraffic, receive_traffic
from app.services.traffic.undoing import UndoneLog, undo_log
from core.formats.rows import SaidFormat
from core.traffic.log_rows import LogColumns


async def _period(
    after: date | None = None,
    before: date | None = None,
    days: Annotated[int, Query(ge=1, le=MOST_DAYS)] = 7,
) -> Period:
    return Period(after, before, days)


PeriodInQuery = Annotated[Period, Depends(_period)]
_PIECE = 1 << 20
Zone = Annotated[str, Query(min_length=1, max_length=60)]
SourceName = Annotated[str, Query(min_length=1, max_length=1_000)]
ColumnName = Annotated[str | None, Query(max_length=1_000)]


async def _columns(
    text: ColumnName = None,
    time: ColumnName = None,
    source: ColumnName = None,
    speaker: ColumnName = None,
    second_source: ColumnName = None,
    began: Annotated[str | None, Query(max_length=60)] = None,
) -> LogColumns:
    return LogColumns(text, time, source, speaker, second_source, began)


async def _reading(
    zone: Zone,
    columns: Annotated[LogColumns, Depends(_columns)],
    mask: bool = True,
    source_name: Annotated[str, Query(max_length=1_000)] = "",
) -> LogReading:
    return LogReading(zone, columns, mask, source_name)


ReadingInQuery = Annotated[LogReading, Depends(_reading)]
router = rest_router("groups")


@router.get("/projects/{project}/groups")
def groups(studio: OpenStudio, project: str) -> GroupsView:
    """List the groups of the texts that wait for a label, the open ones first."""
    return list_groups(studio, project)


@router.post("/projects/{project}/groups", status_code=202)
def group(studio: OpenStudio, project: str, body: GroupingBody) -> schemas.Started:
    """Queue a job that groups the texts that wait for a label."""
    wish = body.out_of_scope
    job = start_grouping(studio, project, body.n_groups, anew=body.anew, out_of_scope=wish)
    return schemas.Started(job.id)


@router.get("/projects/{project}/groups/{number}")
def opened(live_studio: Live, project: str, number: int) -> OpenedGroup:
    """Return a group with its typical and border texts, and the intents nearest to it."""
    return fitted(live_studio, project, open_group(live_studio.studio, project, number))


@router.get("/projects/{project}/groups/{number}/texts")
def texts(studio: OpenStudio, project: str, number: int) -> tuple[GroupText, ...]:
    """Return a group's texts, at most 500, the closest to its middle first."""
    return texts_of_group(studio, project, number)


@router.post("/projects/{project}/groups/{number}/take")
def take(studio: OpenStudio, project: str, number: int, body: TakingBody) -> TakenView:
    """Label a group's texts as one action, once for each key; the rest is set aside.

    `POST /api/projects/{project}/undo` with the same key takes it back.
    """
    return take_group(studio, project, number, body.read())


@router.post("/projects/{project}/groups/{number}/split")
def split(studio: OpenStudio, project: str, number: int) -> schemas.NewGroups:
    """Divide a group by meaning; merging the new groups into it takes that back."""
    return schemas.NewGroups(split_group(studio, project, number))


@router.patch("/projects/{project}/groups/{number}", status_code=204)
def change(studio: OpenStudio, project: str, number: int, body: GroupChangeBody) -> Response:
    """Rename a group, set it aside, or merge it into another; no label changes."""
    change_group(studio, project, number, body.read())
    return Response(status_code=204)


@router.post("/projects/{project}/traffic")
def receive(live_studio: Live, project: str, body: TrafficBody) -> ReceivedTraffic:
    """Take in what users said, with time and source: a fair sample of each day and source.

    It may be repeated: what is stored already is not stored again.
    """
    return receive_traffic(live_studio, project, body.read(), mask=body.mask)


@router.get("/projects/{project}/traffic")
def coverage(live_studio: Live, project: str, period: PeriodInQuery) -> TrafficView:
    """Count what the live version answers, by default of the last seven days with traffic.

    `after` is the first day, `before` the day behind the last, in UTC.
    """
    return read_coverage(live_studio, project, period)


@router.get("/projects/{project}/traffic/texts")
def said_texts(
    live_studio: Live, project: str, period: PeriodInQuery, intent: str = ""
) -> SaidTexts:
    """List the texts that are answered with an intent, by its id; without one, the unanswered."""
    return read_texts(live_studio, project, period, intent)


@router.get("/projects/{project}/traffic/sources")
def compared_sources(
    live_studio: Live, project: str, period: PeriodInQuery, source: SourceName, against: SourceName
) -> ComparedSources:
    """Compare what people say by a source with what they say by another one."""
    return compare_sources(live_studio, project, period, SourcePair(source, against))


@router.get("/projects/{project}/traffic/export", responses=BYTES)
def export_said(
    studio: OpenStudio,
    project: str,
    kind: SaidFormat = "csv",
    after: date | None = None,
    before: date | None = None,
) -> FileResponse:
    """Download what people said as a CSV of times, sources and texts, by default all that is kept.

    `after` is the first day, `before` the day behind the last, in UTC. The file can be imported
    again as a log. `kind=spreadsheet` is to look at: an apostrophe stands before what a spreadsheet
    would compute.
    """
    choice = SaidChoice(after, before, kind)
    return download(
        f"{project}-traffic.csv", lambda out: export_traffic(studio, project, out, choice)
    )


@router.post("/projects/{project}/traffic/logs", status_code=201, dependencies=[IN_TURN])
def upload_log(
    live_studio: Live, project: str, file: UploadFile, reading: ReadingInQuery
) -> WaitingTrafficLog:
    """Store a log, and count what importing it would do.

    `zone` is that of times that name none, such as Europe/Berlin. `text`, `time`, `source` and
    `speaker` name columns; without them they are found by their names, and with an empty `source`
    or `speaker` there is none. `second_source` names a column whose value follows the source, as in
    “app · de”; `source_name` is the source of rows without one, else the file's name. Where a
    column says who speaks, by its name or as all its cells are words such as customer and agent,
    rows of a bot, an agent or a system are left out; `speaker_column` is it.
    Of a transcript, `began` is its day and time, and `speaker` is the customer's name.
    Personal data is masked, unless `mask` is false.
    """
    pieces: Iterator[bytes] = iter(lambda: file.file.read(_PIECE), b"")
    return receive_log(live_studio, project, file.filename or "log.csv", pieces, reading)


@router.get("/projects/{project}/traffic/logs/{key}", dependencies=[IN_TURN])
def look_at(
    live_studio: Live, project: str, key: str, reading: ReadingInQuery
) -> WaitingTrafficLog:
    """Count what importing an uploaded log would do, read by these columns."""
    return look_at_log(live_studio, project, key, reading)


@router.post("/projects/{project}/traffic/logs/{key}")
def store_log(
    live_studio: Live, project: str, key: str, reading: ReadingInQuery
) -> TrafficLogReport:
    """Import an uploaded log; what is stored already is not stored again."""
    return import_received(live_studio, project, key, reading)


@router.post("/projects/{project}/traffic/logs/{key}/undo")
def take_log_back(live_studio: Live, project: str, key: str) -> UndoneLog:
    """Take the import of a log back: its rows, and its texts that nobody has touched since."""
    return undo_log(live_studio, project, key)


@router.delete("/projects/{project}/traffic/logs/{key}", status_code=204)
def drop_log(studio: OpenStudio, key: str) -> Response:
    """Delete an uploaded log."""
    delete_upload(studio, key)
    return Response(status_code=204)
