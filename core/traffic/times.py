"""Times as logs write them, in UTC."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from email.utils import parsedate_to_datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from core.errors import InvalidInput

_SECONDS = re.compile(r"\d{9,10}(?:\.\d{1,9})?")
_MILLISECONDS = re.compile(r"\d{12,13}")
_NUMBERED = re.compile(
    r"(?P<a>\d{1,4})(?P<sign>[./-])(?P<b>\d{1,2})(?P=sign)(?P<c>\d{1,4})"
    r"(?:,?[ T]+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d{1,9})?)?"
    r"(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?)?"
    r"(?: ?(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2}))?"
)
_NAMED = ("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%B %d %Y")
_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
_CLOCK = re.compile(
    r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?: ?[AaPp]\.?[Mm]\.?)?"
    r"(?: ?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2}))?"
)
_MIDNIGHT = re.compile(r"[ T](?:0?0:00(?::00(?:\.0+)?)?|12:00(?::00)? ?[Aa]\.?[Mm]\.?)$")
"""With this some programs write a day."""

_HOUR = re.compile(r"\d{4}-?\d{2}-?\d{2}[T ](?!0+$)\d{2}")
"""A day with an hour behind it, which ISO 8601 also writes without a colon: 20261126T1430."""

_MONTHS, _YEAR_SIGNS = 12, 4
_TWO_DIGITS = 100


@dataclass(frozen=True, slots=True)
class TimeForm:
    """How to read times.

    Attributes:
        zone: Of times that name none.
        day_first: Whether 3/4/2026 is the third of April; None where both would do.
    """

    zone: tzinfo = UTC
    day_first: bool | None = None


_EITHER = (TimeForm(day_first=True), TimeForm(day_first=False))


def is_time(cell: str) -> bool:
    """Whether a cell is a time that can be read, whether days stand before months or not."""
    return any(read_time(cell, form) is not None for form in _EITHER)


def is_clock(cell: str) -> bool:
    """Whether a cell is a time of the day alone, such as 14:30 or 2:30 PM."""
    return _CLOCK.fullmatch(cell.strip()) is not None


def is_day(cell: str) -> bool:
    """Whether a cell is a day alone, such as 26.11.2026."""
    return not _tells_clock(cell) and is_time(_MIDNIGHT.sub("", cell.strip()))


def _tells_clock(cell: str) -> bool:
    """Whether a cell tells a time of the day, if it is a time at all."""
    day = _MIDNIGHT.sub("", cell.strip())
    is_count = _SECONDS.fullmatch(day) or _MILLISECONDS.fullmatch(day)
    return ":" in day or is_count is not None or _HOUR.match(day) is not None


def at_clock(day: str, clock: str) -> str:
    """Return the time of a day and a time of the day, as one cell would write it."""
    return f"{_MIDNIGHT.sub('', day.strip())} {clock.strip()}".strip()


def zone_named(name: str) -> tzinfo:
    """Return a time zone by its name, such as Europe/Berlin, or its offset, such as +02:00.

    Raises:
        InvalidInput: There is no such zone.
    """
    try:
        if re.fullmatch(r"[+-]\d{2}:\d{2}", name):
            return datetime.fromisoformat(f"2000-01-01T00:00{name}").tzinfo or UTC
        return ZoneInfo(name)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        raise InvalidInput(
            f"'{name[:60]}' is no time zone.", "Write one such as Europe/Berlin, UTC or +02:00."
        ) from None


def is_day_first(times: Iterable[str]) -> bool | None:
    """Tell by all times of a log whether days stand before months; None if none of them tells."""
    found: bool | None = None
    for time in times:
        match = _NUMBERED.fullmatch(time.strip())
        if match is None or len(match["a"]) == _YEAR_SIGNS:
            continue
        if match["sign"] == ".":
            return True
        first, second = int(match["a"]), int(match["b"])
        if first > _MONTHS:
            return True
        if second > _MONTHS:
            found = False
    return found


def form_of(times: Sequence[str], zone: tzinfo) -> TimeForm:
    """Tell by all times of a log how to read them; `zone` is that of those without one.

    Days without a time of the day are days of UTC: in a zone they would begin the day before.
    """
    has_clocks = any(_tells_clock(time) and is_time(time) for time in set(times))
    return TimeForm(zone if has_clocks else UTC, is_day_first(times))


def read_time(time: str, form: TimeForm) -> datetime | None:
    """Return a time in UTC; None is what cannot be read.

    Read are ISO 8601, seconds or milliseconds since 1970, 26.11.2026 14:30, 11/26/2026 2:30 PM,
    26 Nov 2026 14:30 and the form of e-mails.
    """
    told = " ".join(time.split())
    for read in (_counted, _iso, _numbered, _named, _mailed):
        try:
            found = read(told, form)
            if found is not None:
                zoned = found if found.tzinfo else found.replace(tzinfo=form.zone)
                return zoned.astimezone(UTC)
        except (ValueError, OverflowError, OSError, TypeError):
            continue
    return None


def _counted(time: str, _: TimeForm) -> datetime | None:
    if _SECONDS.fullmatch(time):
        return datetime.fromtimestamp(float(time), UTC)
    return datetime.fromtimestamp(int(time) / 1000, UTC) if _MILLISECONDS.fullmatch(time) else None


def _iso(time: str, _: TimeForm) -> datetime | None:
    plain = re.sub(r" ?(?:UTC|GMT)$", "Z", time)
    return datetime.fromisoformat(re.sub(r"(\d) ([+-]\d{2}:?\d{2})$", r"\1\2", plain))


def _numbered(time: str, form: TimeForm) -> datetime | None:
    match = _NUMBERED.fullmatch(time)
    if match is None:
        return None
    a, b, c = int(match["a"]), int(match["b"]), int(match["c"])
    if len(match["a"]) == _YEAR_SIGNS:
        year, month, day = a, b, c
    elif match["sign"] == "." or form.day_first:
        day, month, year = a, b, c
    elif form.day_first is False:
        month, day, year = a, b, c
    else:
        return None
    hour = int(match["hour"] or 0)
    if match["half"]:
        hour = hour % 12 + 12 * (match["half"] in "Pp")
    read = datetime(  # noqa: DTZ001 - the zone follows
        year + 2000 * (year < _TWO_DIGITS),
        month,
        day,
        hour,
        int(match["minute"] or 0),
        int(match["second"] or 0),
    )
    return read.replace(tzinfo=_offset(match["zone"]))


def _offset(zone: str | None) -> tzinfo | None:
    if zone is None:
        return None
    told = "+00:00" if zone.isalpha() else zone
    return datetime.fromisoformat(f"2000-01-01T00:00{told}").tzinfo


def _named(time: str, _: TimeForm) -> datetime | None:
    for day in _NAMED:
        for clock in _CLOCKS:
            try:
                return datetime.strptime(time, day + clock)  # noqa: DTZ007 - the zone follows
            except ValueError:
                continue
    return None


def _mailed(time: str, _: TimeForm) -> datetime | None:
    return parsedate_to_datetime(time)
