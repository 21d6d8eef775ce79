"""Import a log of what users said: a file with a column of times."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from pathlib import Path

from app.services.data.uploads import delete_upload, naming_upload, store_upload, upload_path
from app.services.live.server_state import LiveStudio
from app.services.traffic.receiving import (
    EARLIEST,
    LONGEST_SOURCE,
    ReadTraffic,
    Sent,
    latest_time,
    read_sent,
    store_read,
)
from core.errors import InvalidInput
from core.formats.rows import ReadOptions
from core.text import is_blank, is_storable, normalise, text_hash
from core.traffic.log_rows import LogColumns, LogRow, read_log
from core.traffic.times import TimeForm, is_day_first, read_time, zone_named
from storage import projects
from storage.said import traffic

_SHOWN = 3
_SIGNS = 40


@dataclass(frozen=True, slots=True)
class LogRequest:
    """A log to import.

    Attributes:
        source: Of rows that name none; empty is the file's name.
        zone: Of times that name none.
        mask: Whether personal data is masked before anything is stored.
        dry_run: Count alone.
    """

    project: str
    path: Path
    options: ReadOptions = field(default_factory=ReadOptions)
    columns: LogColumns = field(default_factory=LogColumns)
    source: str = ""
    zone: tzinfo = UTC
    mask: bool = True
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class TrafficLogReport:
    """What an import of a log did, or would do.

    Attributes:
        rows: Of the file.
        untimed: Rows without a time that can be read, which are left out; `examples` of these.
        textless: Rows without a text, or with one of over 5,000 characters; left out.
        first, last: Days of the others, in UTC; empty without any.
        sources: Number of the others by source.
        repeated: Stored already by an import or a request before.
        kept: Stored, or not counted yet and None; `left_out`: not in the sample of their day and
            source, which is full.
        added: Texts that the project does not have.
        masked: Masked pieces of personal data by kind; None without masking.
    """

    rows: int
    untimed: int
    examples: tuple[str, ...]
    textless: int
    first: str
    last: str
    sources: dict[str, int]
    repeated: int
    kept: int | None
    left_out: int | None
    added: int
    masked: dict[str, int] | None
    dry_run: bool


@dataclass(frozen=True, slots=True)
class WaitingTrafficLog:
    """An uploaded log, and what importing it would do."""

    key: str
    name: str
    report: TrafficLogReport


def receive_log(
    live_studio: LiveStudio, project: str, name: str, chunks: Iterable[bytes], zone: str
) -> WaitingTrafficLog:
    """Store an uploaded log, and count what importing it would do; an unreadable one is deleted.

    Raises:
        InvalidInput: It is larger than 50 MB, or cannot be read as a log.
        NotFound: There is no such project.
    """
    key = store_upload(live_studio.studio, name, chunks)
    try:
        found = _import_upload(live_studio, project, key, zone, dry_run=True)
    except BaseException:
        delete_upload(live_studio.studio, key)
        raise
    return WaitingTrafficLog(key, upload_path(live_studio.studio, key).name, found)


def import_received(live_studio: LiveStudio, project: str, key: str, zone: str) -> TrafficLogReport:
    """Import an uploaded log, and delete the upload."""
    found = _import_upload(live_studio, project, key, zone, dry_run=False)
    delete_upload(live_studio.studio, key)
    return found


def _import_upload(
    live_studio: LiveStudio, project: str, key: str, zone: str, *, dry_run: bool
) -> TrafficLogReport:
    path = upload_path(live_studio.studio, key)
    with naming_upload(path):
        request = LogRequest(project, path, zone=zone_named(zone), dry_run=dry_run)
        return import_log(live_studio, request)


def import_log(live_studio: LiveStudio, request: LogRequest) -> TrafficLogReport:
    """Store the rows of a log that have a text and a time; a second import changes nothing.

    Raises:
        InvalidInput: The file cannot be read, or day and month cannot be told apart.
        NotFound: There is no such project.
    """
    rows = list(read_log(request.path, request.options, request.columns))
    form = TimeForm(request.zone, is_day_first(row.time for row in rows))
    sent, untimed, textless = _usable(rows, form, request)
    if untimed and form.day_first is None:
        _refuse_unclear_days(untimed, request.zone)
    read = read_sent(sent, mask=request.mask)
    known, fresh = _compared(live_studio, request.project, read)
    days = sorted(one.at[: traffic.DAY] for one in read.texts)
    found = TrafficLogReport(
        rows=len(rows),
        untimed=len(untimed),
        examples=tuple(time[:_SIGNS] for time in dict.fromkeys(untimed))[:_SHOWN],
        textless=textless,
        first=days[0] if days else "",
        last=days[-1] if days else "",
        sources=dict(Counter(one.source for one in read.texts).most_common()),
        repeated=known,
        kept=None,
        left_out=None,
        added=fresh,
        masked=read.masked,
        dry_run=request.dry_run,
    )
    if request.dry_run:
        return found
    done = store_read(live_studio, request.project, read)
    return replace(
        found,
        repeated=done.repeated,
        kept=done.kept,
        left_out=done.left_out,
        added=done.added,
    )


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


def _compared(live_studio: LiveStudio, project: str, read: ReadTraffic) -> tuple[int, int]:
    """Return how many rows are stored already, and how many texts the project does not have."""
    with live_studio.studio.database.read() as connection:
        project_id = projects.find(connection, project).id
        known = traffic.known(connection, project_id, [one.key for one in read.texts])
        hashes = list({text_hash(one.text): None for one in read.texts})
        held = traffic.holders(connection, project_id, hashes)
    return len(known), len(hashes) - len(held)
