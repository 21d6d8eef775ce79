"""Rows of a log: a table or JSONL with times, conversations of a known tool, or a transcript."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from core.characters import storable
from core.errors import ChoiceMissing, InvalidInput
from core.formats.containers import find_container
from core.formats.decoding import find_encoding, read_lines
from core.formats.delimited import read_columns
from core.formats.detect import find_format
from core.formats.preview import preview_file
from core.formats.reading import read_rows
from core.formats.rows import (
    LONGEST_RECORD,
    LONGEST_TEXT,
    TEXT_NAMES,
    FilePlace,
    ImportedRow,
    ReadOptions,
    RowProblem,
    too_long_cell,
)
from core.text import is_blank, is_storable, normalise
from core.traffic.conversation_logs import ConversationTool, conversation_tool, user_turns
from core.traffic.speakers import (
    SPEAKER_NAMES,
    Speakers,
    are_roles,
    is_role,
    may_name_speakers,
    speakers_in,
)
from core.traffic.times import at_clock, is_clock, is_day, is_time
from core.traffic.transcripts import is_transcript, read_beginning, read_turns

TIME_NAMES = (
    *("time", "timestamp", "datetime", "date", "created_at", "created", "sent_at", "said_at"),
    *("at", "when", "start_time"),
)
SOURCE_NAMES = ("source", "channel", "campaign", "platform", "language", "medium")
Rows = Sequence[Sequence[str]]
_OTHER = "The columns are: "
_LOOKED_AT = 50
"""Lines of JSONL whose keys are offered as columns."""

_DAYS = ("date", "day", "datum", "tag", "fecha", "dia", "día", "jour", "data", "giorno")
_CLOCKS = ("time", "hour", "clock", "zeit", "uhrzeit", "hora", "heure", "ora", "tijd")
_HALVES = (*_DAYS, *_CLOCKS)
"""Names of columns of which one has the day, and the other the time of the day."""


@dataclass(frozen=True, slots=True)
class LogColumns:
    """Names of the columns of a log; None is found by its name.

    `source` and `speaker`, which says who speaks, may be "": none. The source of a row is its cell
    of `source`, and that of `second_source` after it; a second one is read only if it is named.
    A transcript has no columns: `speaker` is the customer's name, `source` the source itself, and
    `began` is when it began, "" if nobody has said it; of all others it is None.
    """

    text: str | None = None
    time: str | None = None
    source: str | None = None
    speaker: str | None = None
    second_source: str | None = None
    began: str | None = None

    @property
    def of_source(self) -> tuple[str, ...]:
        """The columns that make a row's source, in order."""
        return tuple(name for name in (self.source, self.second_source) if name)


@dataclass(frozen=True, slots=True)
class LogShape:
    """How a log is read.

    Attributes:
        names: Its columns, or the keys of its objects; empty for conversations of a tool; of a
            transcript, those who speak.
        columns: Which of these are read; None was not found.
        options: How its cells are read.
        tool: Which tool wrote its conversations; None is a table.
        times: The column of times; or that of days and that of times of the day, to be joined.
        speakers: How its column of speakers tells users; None where all rows are theirs.
    """

    names: tuple[str, ...]
    columns: LogColumns
    options: ReadOptions
    tool: ConversationTool | None = None
    times: tuple[str, ...] = ()
    speakers: Speakers | None = None

    @property
    def speaker_column(self) -> str:
        """The column that tells users from others; "" where none does, as in a transcript."""
        is_told = self.speakers is not None and self.columns.began is None
        return self.columns.speaker or "" if is_told else ""


@dataclass(frozen=True, slots=True)
class LogRow:
    """A row of a log as it is written.

    Attributes:
        text: "" where it is missing or too long.
        is_misshapen: Whether the row has too few or too many cells, so that none of them counts.
        is_others: Whether a bot, an agent or a system said it, and no user.
    """

    text: str
    time: str
    source: str
    is_misshapen: bool = False
    is_others: bool = False


_MISSHAPEN = LogRow("", "", "", is_misshapen=True)


def find_shape(path: Path, options: ReadOptions, given: LogColumns) -> LogShape:
    """Find out how to read a log; columns that were given are taken.

    Raises:
        InvalidInput: The file cannot be read, or lacks a column that was given.
    """
    tool = conversation_tool(path) if options.format == "auto" else None
    if tool is not None:
        return LogShape((), LogColumns(), options, tool)
    if _is_transcript(path, options):
        return _transcript_shape(path, options, given)
    if _is_jsonl(path, options):
        objects = list(islice(_lines(path, options), _LOOKED_AT))
        names = tuple(dict.fromkeys(key for value in objects for key in value))
        rows: Rows = [[_of(value, name) for name in names] for value in objects]
        guessed = LogColumns()
    else:
        preview = preview_file(path, options)
        if options.header is None and not preview.header and _stands_over_times(preview.rows):
            options = replace(options, header=True)
            preview = preview_file(path, options)
        names, rows, text = preview.columns, preview.rows, preview.text_column or None
        timed = _timed(names, rows)
        guessed = LogColumns(None if text == timed else text, timed)
    speaker = "" if given.speaker == "" else _column(path, names, given.speaker, SPEAKER_NAMES)
    columns = LogColumns(
        text=_column(path, names, given.text, TEXT_NAMES) or guessed.text,
        time=_column(path, names, given.time, TIME_NAMES) or guessed.time,
        source="" if given.source == "" else _column(path, names, given.source, SOURCE_NAMES),
        speaker=speaker,
        second_source=_column(path, names, given.second_source, ()),
    )
    if columns.second_source == columns.source:
        columns = replace(columns, second_source=None)  # “app · app” says no more than “app”
    cells = {name: [row[at] for row in rows if at < len(row)] for at, name in enumerate(names)}
    speakers = speakers_in(cells[speaker]) if speaker else None
    if speakers is None and given.speaker is None:  # an author is a name, and says nothing
        columns = replace(columns, speaker=_column_of_roles(path, options, columns, cells))
        speakers = Speakers(names_users=True) if columns.speaker else None
    times = () if columns.time is None else _joined(columns.time, cells)
    return LogShape(names, columns, options, times=times, speakers=speakers)


def _column_of_roles(
    path: Path, options: ReadOptions, columns: LogColumns, cells: Mapping[str, Sequence[str]]
) -> str | None:
    """Return the one column in which all cells are roles, whatever its name; else None.

    Its first cells tell whether the others are worth reading: an intent may be “agent”, too. With
    two such columns, as of who wrote and to whom, nobody knows.
    """
    taken = (columns.text, columns.time, *columns.of_source)
    likely = [
        name
        for name, first in cells.items()
        if first and all(map(is_role, first)) and name not in taken and may_name_speakers(name)
    ]
    found = []
    for name in likely:
        with suppress(InvalidInput):  # a fault of a row is told as the rows are read
            read = _cells_of(path, options, [name])
            if are_roles(row[0] for row in read if row is not None):
                found.append(name)
    return found[0] if len(found) == 1 else None


def _is_transcript(path: Path, options: ReadOptions) -> bool:
    if options.format != "auto" or find_container(path) is not None:
        return False
    return is_transcript(path, find_encoding(path, options.encoding))


def _transcript_shape(path: Path, options: ReadOptions, given: LogColumns) -> LogShape:
    turns = read_turns(path, find_encoding(path, options.encoding))
    names = tuple(dict.fromkeys(turn.speaker for turn in turns if turn.speaker))
    user = _column(path, names, given.speaker, (), "speaker")
    speakers = speakers_in(names) if user is None else Speakers(names_users=True, named=user)
    if speakers is not None and not speakers.names_users:
        # Beside "System" an agent's name stands like a customer's: with two of them nobody knows.
        speakers = speakers if sum(map(speakers.is_user, names)) == 1 else None
    columns = LogColumns(speaker=user, began=given.began or "", source=given.source)
    return LogShape(names, columns, options, speakers=speakers)


def _transcript_rows(path: Path, shape: LogShape) -> Iterator[LogRow]:
    speakers = shape.speakers
    if speakers is None or not shape.columns.began:
        raise _untold(path, shape)
    began = read_beginning(shape.columns.began)
    turns = read_turns(path, find_encoding(path, shape.options.encoding))
    return (
        LogRow(
            _usable(turn.text),
            (began + turn.offset).isoformat(),
            shape.columns.source or "",
            is_others=not (turn.speaker and speakers.is_user(turn.speaker)),
        )
        for turn in turns
    )


def _untold(path: Path, shape: LogShape) -> ChoiceMissing:
    """Tell at once all that a person has to say of a transcript."""
    lacks = dict[str, tuple[str, str]]()
    if not shape.columns.began:
        lacks["began"] = ("on which day it was said", "say when it began, by day and time")
    if shape.speakers is None:
        listed = ", ".join(shape.names)[:200]
        lacks["speaker"] = ("who is the customer", f"name one of those who speak: {listed}")
    faults, steps = (", and ".join(words) for words in zip(*lacks.values(), strict=True))
    hint = f"{steps[0].upper()}{steps[1:]}."
    return ChoiceMissing(f"{path} does not say {faults}.", hint, *lacks)


def _joined(time: str, cells: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the columns of a time: of the day and of the time of the day, where that is apart."""
    for is_own, is_other in ((is_clock, is_day), (is_day, is_clock)):
        if not _most(is_own, cells[time]):
            continue
        # By its name, too: a duration is written like a time of the day.
        named = [
            name
            for name, column in cells.items()
            if name != time and name.strip().lower() in _HALVES and _most(is_other, column)
        ]
        if len(named) == 1:
            return (time, named[0]) if is_own is is_day else (named[0], time)
    return (time,)


def _most(is_one: Callable[[str], bool], column: Sequence[str]) -> bool:
    """Whether most cells are such; empty ones are left out."""
    told = [cell for cell in column if cell.strip()]
    return 2 * sum(map(is_one, told)) > len(told)


def _stands_over_times(rows: Rows) -> bool:
    """Whether the first row names the columns: one of its cells stands over times and is none."""
    if len(rows) < 2:
        return False
    columns = range(min(map(len, rows)))
    return any(
        not is_time(rows[0][at]) and all(is_time(row[at]) for row in rows[1:]) for at in columns
    )


def _timed(names: Sequence[str], rows: Rows) -> str | None:
    """Return the only column in which all cells are times, or None."""
    width = min(map(len, rows), default=0)
    found = [name for at, name in enumerate(names[:width]) if all(is_time(row[at]) for row in rows)]
    return found[0] if len(found) == 1 else None


def read_log(path: Path, shape: LogShape) -> Iterator[LogRow]:
    """Stream the rows of a log in order.

    Raises:
        InvalidInput: The file cannot be read, or has no column for texts or for times; or nobody
            says when a transcript began or who of it is the customer.
    """
    if shape.tool is not None:
        turns = user_turns(path, shape.tool)
        return (LogRow(_usable(one.text), one.time, one.source) for one in turns)
    if shape.columns.began is not None:
        return _transcript_rows(path, shape)
    text = shape.columns.text
    if text is None or not shape.times:
        what = "texts" if shape.times else "times"
        listed = ", ".join(shape.names)[:200] or "not named"
        raise InvalidInput(f"{path} has no column of {what}.", f"{_OTHER}{listed}.")
    speaker = shape.columns.speaker
    named = [text, *shape.times, *shape.columns.of_source, *([speaker] if speaker else [])]
    rows = _cells_of(path, shape.options, named)
    return (_MISSHAPEN if cells is None else _row_of(cells, shape) for cells in rows)


def _cells_of(
    path: Path, options: ReadOptions, named: Sequence[str]
) -> Iterator[Sequence[str] | None]:
    """Stream the cells of some columns; None is a row with too few or too many cells."""
    if _is_jsonl(path, options):
        return ([_of(value, name) for name in named] for value in _lines(path, options))
    if find_container(path) is not None:
        return _table_cells(path, options, named)
    encoding = find_encoding(path, options.encoding)
    kind = options.format if options.format != "auto" else find_format(path, encoding)
    return read_columns(path, encoding, replace(options, format=kind), named)


def _is_jsonl(path: Path, options: ReadOptions) -> bool:
    if options.format != "auto" or find_container(path) is not None:
        return options.format == "jsonl"
    return find_format(path, find_encoding(path, options.encoding)) == "jsonl"


def _column(
    path: Path,
    names: Sequence[str],
    given: str | None,
    wanted: tuple[str, ...],
    kind: str = "column",
) -> str | None:
    plain = {name.strip().lower(): name for name in reversed(names)}
    sought = (given.strip().lower(),) if given else wanted
    found = next((plain[name] for name in sought if name in plain), None)
    if found is None and given:
        listed = ", ".join(names)[:200] or "not named"
        raise InvalidInput(f"{path} has no {kind} '{given[:80]}'.", f"The {kind}s are: {listed}.")
    return found


def _table_cells(path: Path, options: ReadOptions, named: Sequence[str]) -> Iterator[Sequence[str]]:
    """Read each column of a workbook or of Parquet as its own text: both have one reader."""
    plain = replace(options, intent_column="", split_column="", longest_text=LONGEST_TEXT)
    readers = [read_rows(path, replace(plain, text_column=name)) for name in named]
    for row in zip(*readers, strict=True):
        yield [_cell(cell) for cell in row]


def _cell(row: ImportedRow | RowProblem) -> str:
    return row.text if isinstance(row, ImportedRow) else ""


def _row_of(cells: Sequence[str], shape: LogShape) -> LogRow:
    """Make a row of a text, one or two parts of a time and, where there are any, who and where."""
    text, *rest = cells
    n_times = len(shape.times)
    time = at_clock(rest[0], rest[1]) if n_times > 1 else rest[0]
    source = _source_of(rest[n_times : n_times + len(shape.columns.of_source)])
    is_others = shape.speakers is not None and not shape.speakers.is_user(rest[-1])
    return LogRow(_usable(text), time, source, is_others=is_others)


def _source_of(cells: Sequence[str]) -> str:
    """Join the parts of a source, as in “app · de”; blank parts are left out."""
    parts = [normalise(cell) for cell in cells]
    return " · ".join(part for part in parts if not is_blank(part) and is_storable(part))


def _usable(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else ""


def _lines(path: Path, options: ReadOptions) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(read_lines(path, find_encoding(path, options.encoding)), 1):
        if len(line) > LONGEST_RECORD:
            raise too_long_cell(FilePlace(path, number), LONGEST_RECORD)
        if not line.strip():
            continue
        value: object = None
        with suppress(ValueError, RecursionError):
            value = json.loads(line)
        if not isinstance(value, dict):
            raise InvalidInput(
                f"{FilePlace(path, number)}: not a JSON object.",
                'Each line is one object such as {"text": "hello", "time": "2026-11-26T14:30Z"}.',
            )
        yield {storable(key): one for key, one in value.items()}


def _of(value: dict[str, Any], name: str) -> str:
    found = value.get(name)
    return str(found) if isinstance(found, str | int | float) else ""
