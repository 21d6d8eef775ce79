"""Import a log of what users said: a file with a column of times."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from itertools import islice
from pathlib import Path

from app.services.data.uploads import delete_upload, naming_upload, store_upload, upload_path
from app.services.live.live_studio import LiveStudio
from app.services.studio import Studio
from app.services.traffic.receiving import (
    EARLIEST,
    LONGEST_SOURCE,
    ReadTraffic,
    ReceivedTraffic,
    Sent,
    foresee,
    latest_time,
    read_sent,
    store_read,
)
from core.characters import storable
from core.errors import InvalidInput
from core.formats.rows import ReadOptions
from core.text import counted, is_blank, is_storable, normalise, text_hash
from core.traffic.conversation_logs import ConversationTool
from core.traffic.log_rows import LogColumns, LogRow, LogShape, find_shape, read_log
from core.traffic.times import TimeForm, form_of, read_time, zone_named
from storage import projects
from storage.people.acts import Act, note_aside
from storage.said import traffic

_MOST_ROWS = 2_000_000
"""Rows of one log, which is held whole: a packed file of 50 MB may have many times as many."""

_SHOWN = 3
_SIGNS = 40


class _TooManyRows(InvalidInput):
    """A log is too long, by whichever columns it is read."""


@dataclass(frozen=True, slots=True)
class LogRequest:
    """A log to import.

    Attributes:
        source: Of rows that name none; empty is the file's name.
        zone: Of times that name none, unless all are days alone.
        mask: Whether personal data is masked before anything is stored.
        dry_run: Count alone.
        upload: Key and name of the upload, whose import can be taken back by the key.
    """

    project: str
    path: Path
    options: ReadOptions = field(default_factory=ReadOptions)
    columns: LogColumns = field(default_factory=LogColumns)
    source: str = ""
    zone: tzinfo = UTC
    mask: bool = True
    dry_run: bool = False
    upload: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class TrafficLogReport:
    """What an import of a log did, or would do.

    Attributes:
        rows: Of the file.
        untimed: Rows without a time that can be read, which are left out; `examples` of these.
        textless: Rows without a text, or with one of over 5,000 characters; left out.
        misshapen: Rows with too few cells, or with more than the others; left out.
        first, last: Days of the others, in UTC; empty without any.
        sources: Number of the others by source.
        repeated: Stored already by an import or a request before.
        kept: Stored, or not counted yet and None; `left_out`: not in the sample of their day and
            source, which is full.
        added: Texts of rows that are stored that the project does not have.
        masked: Masked pieces of personal data by kind; None without masking.
        unmasked: Without masking, pieces of personal data by kind that are stored as they are.
        tool: Which tool wrote the conversations, of which the users' turns alone are read; or None.
        times: The columns of days and of times of the day that were joined; else empty.
        others: Rows that a bot, an agent or a system said; left out.
        speaker_column: The column that tells these from what users said; "" where none does.
    """

    rows: int
    untimed: int
    examples: tuple[str, ...]
    textless: int
    misshapen: int
    first: str
    last: str
    sources: dict[str, int]
    repeated: int
    kept: int | None
    left_out: int | None
    added: int
    masked: dict[str, int] | None
    tool: ConversationTool | None
    dry_run: bool
    unmasked: dict[str, int] | None = None
    times: tuple[str, ...] = ()
    others: int = 0
    speaker_column: str = ""


@dataclass(frozen=True, slots=True)
class WaitingTrafficLog:
    """An uploaded log, and what importing it would do.

    Attributes:
        names: Its columns; empty for conversations of a known tool; of a transcript, who speaks.
        columns: Which of these are read; None is not known, and "" none.
        report: None where it cannot be read like that: `problem` and `hint` say why.
    """

    key: str
    name: str
    names: tuple[str, ...]
    columns: LogColumns
    report: TrafficLogReport | None
    problem: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class LogReading:
    """How to read an uploaded log: its columns, and the zone of times that name none.

    Without `mask` its texts are stored as they are. `source_name` is the source of rows that name
    none; empty is the file's name.
    """

    zone: str
    columns: LogColumns = field(default_factory=LogColumns)
    mask: bool = True
    source_name: str = ""


def receive_log(
    live_studio: LiveStudio, project: str, name: str, chunks: Iterable[bytes], reading: LogReading
) -> WaitingTrafficLog:
    """Store an uploaded log, and count what importing it would do; an unreadable one is deleted.

    Raises:
        InvalidInput: It is larger than 50 MB, or cannot be read as a log.
        NotFound: There is no such project.
    """
    key = store_upload(live_studio.studio, name, chunks)
    try:
        return look_at_log(live_studio, project, key, reading)
    except BaseException:
        delete_upload(live_studio.studio, key)
        raise


def look_at_log(
    live_studio: LiveStudio, project: str, key: str, reading: LogReading
) -> WaitingTrafficLog:
    """Count what importing an uploaded log would do; where it cannot be read so, say why.

    Raises:
        InvalidInput: It is no table, or lacks a column that was named.
        NotFound: There is no such project, or the upload was deleted.
    """
    path = upload_path(live_studio.studio, key)
    with naming_upload(path):
        request = _request_of(path, project, reading)
        shape = find_shape(path, request.options, reading.columns)
    waiting = WaitingTrafficLog(key, path.name, shape.names, shape.columns, None)
    try:
        with naming_upload(path):
            report = _import(live_studio, replace(request, dry_run=True), shape)
    except InvalidInput as error:
        is_too_long = isinstance(error.__cause__, _TooManyRows)
        if not shape.names or is_too_long:  # no other columns would help
            raise
        return replace(waiting, problem=error.message, hint=error.hint)
    return replace(waiting, report=report)


def import_received(
    live_studio: LiveStudio, project: str, key: str, reading: LogReading
) -> TrafficLogReport:
    """Import an uploaded log, and delete the upload; `undo_log` takes it back by the same key."""
    path = upload_path(live_studio.studio, key)
    with naming_upload(path):
        request = _request_of(path, project, reading)
        found = import_log(live_studio, replace(request, upload=(key, path.name)))
    delete_upload(live_studio.studio, key)
    return found


def _request_of(path: Path, project: str, reading: LogReading) -> LogRequest:
    return LogRequest(
        project,
        path,
        columns=reading.columns,
        source=normalise(reading.source_name),
        zone=zone_named(reading.zone),
        mask=reading.mask,
    )


def import_log(live_studio: LiveStudio, request: LogRequest) -> TrafficLogReport:
    """Store the rows of a log that have a text and a time; a second import changes nothing.

    Raises:
        InvalidInput: The file cannot be read or is too long, or day and month cannot be told apart.
        NotFound: There is no such project.
    """
    return _import(live_studio, request, find_shape(request.path, request.options, request.columns))


def _import(live_studio: LiveStudio, request: LogRequest, shape: LogShape) -> TrafficLogReport:
    every = list(islice(read_log(request.path, shape), _MOST_ROWS + 1))
    if len(every) > _MOST_ROWS:
        raise _TooManyRows(
            f"{request.path} has more than {_MOST_ROWS:,} rows.",
            "Cut it into several files, such as one for each week.",
        )
    read, found = _read(every, shape, request)
    with live_studio.studio.database.read() as connection:
        project_id = projects.find(connection, request.project).id
    if request.dry_run:
        return _foretold(live_studio.studio, project_id, read, found)
    done = store_read(live_studio, project_id, read, request.upload)
    found = replace(
        found,
        repeated=done.repeated,
        kept=done.kept,
        left_out=done.left_out,
        added=done.added,
    )
    act = Act("import log", live_studio.studio.settings.actor, _about(request, found, done))
    note_aside(live_studio.studio.database, project_id, act)
    return found


def _read(
    every: list[LogRow], shape: LogShape, request: LogRequest
) -> tuple[ReadTraffic, TrafficLogReport]:
    """Return the texts as they would be stored, and what the file alone tells of them."""
    rows = [row for row in every if not row.is_misshapen]
    form = form_of([row.time for row in rows], request.zone)
    of_users = [row for row in rows if not row.is_others]
    sent, untimed, textless = _usable(of_users, form, request)
    if untimed and form.day_first is None:
        _refuse_unclear_days(untimed, request.zone)
    read = read_sent(sent, mask=request.mask)
    days = sorted(one.at[: traffic.DAY] for one in read.texts)
    return read, TrafficLogReport(
        rows=len(every),
        untimed=len(untimed),
        examples=tuple(storable(time[:_SIGNS]) for time in dict.fromkeys(untimed))[:_SHOWN],
        textless=textless,
        misshapen=len(every) - len(rows),
        first=days[0] if days else "",
        last=days[-1] if days else "",
        sources=dict(Counter(one.source for one in read.texts).most_common()),
        repeated=0,
        kept=None,
        left_out=None,
        added=0,
        masked=read.masked,
        tool=shape.tool,
        dry_run=request.dry_run,
        unmasked=read.unmasked,
        times=shape.times if len(shape.times) > 1 else (),
        others=len(rows) - len(of_users),
        speaker_column=shape.speaker_column,
    )


def _about(request: LogRequest, found: TrafficLogReport, done: ReceivedTraffic) -> str:
    """Say what an import did: the log's actions are of texts that were new alone."""
    counts = {
        f"{counted(found.rows, 'row')} read": True,
        f"{done.kept:,} stored": True,
        f"{counted(done.added, 'text')} new": True,
        f"{done.repeated:,} stored before": done.repeated,
        f"{done.left_out:,} beyond the sample of their day": done.left_out,
    }
    return f"{request.path.name}: {', '.join(words for words, told in counts.items() if told)}"


def _usable(
    rows: list[LogRow], form: TimeForm, request: LogRequest
) -> tuple[list[Sent], list[str], int]:
    """Return what can be stored, the times that cannot be read, and how many rows lack a text."""
    sent, untimed, textless = list[Sent](), list[str](), 0
    latest, otherwise = latest_time(), request.source or request.path.name
    for row in rows:
        at = read_time(row.time, form)
        if is_blank(row.text) or not is_storable(row.text):
            textless += 1
        elif at is None or not EARLIEST <= at <= latest:
            untimed.append(row.time.strip())
        else:
            source = normalise(row.source)
            usable = not is_blank(source) and is_storable(source)
            name = (source if usable else otherwise)[:LONGEST_SOURCE]
            sent.append(Sent(row.text, at.isoformat(), name))
    return sent, untimed, textless


def _refuse_unclear_days(untimed: list[str], zone: tzinfo) -> None:
    """Refuse a log in which no date tells whether days stand before months."""
    either = TimeForm(zone, day_first=True)
    unclear = next((time for time in untimed if read_time(time, either) is not None), None)
    if unclear is not None:
        raise InvalidInput(
            f"'{unclear[:_SIGNS]}' may be a day before a month, or a month before a day.",
            "No date of the file tells; write them like 2026-11-26.",
        )


def _foretold(
    studio: Studio, project_id: int, read: ReadTraffic, found: TrafficLogReport
) -> TrafficLogReport:
    """Add what would become of the rows, and how many texts the project would get with them."""
    seen = foresee(studio, project_id, read)
    hashes = list({text_hash(one.text): None for one in read.texts if one.key in seen.kept})
    with studio.database.read() as connection:
        held = traffic.holders(connection, project_id, hashes)
    return replace(
        found,
        repeated=len(seen.known),
        left_out=len(read.texts) - len(seen.known) - len(seen.kept),
        added=len(hashes) - len(held),
    )
