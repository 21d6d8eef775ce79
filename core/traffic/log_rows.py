"""Rows of a log with a column of times: CSV, TSV, JSONL, Excel or Parquet."""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from core.errors import InvalidInput
from core.formats.containers import find_container
from core.formats.decoding import find_encoding, read_lines
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

TIME_NAMES = (
    *("time", "timestamp", "datetime", "date", "created_at", "created", "sent_at", "said_at"),
    *("at", "when", "start_time"),
)
SOURCE_NAMES = ("source", "channel", "campaign", "platform", "language", "medium")
_OTHER = "The columns are: "


@dataclass(frozen=True, slots=True)
class LogColumns:
    """Names of the columns of a log; without `source` all rows are of one."""

    text: str | None = None
    time: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class LogRow:
    """A row of a log as it is written; `text` is "" where it is missing or too long."""

    text: str
    time: str
    source: str


def read_log(path: Path, options: ReadOptions, columns: LogColumns) -> Iterator[LogRow]:
    """Stream the rows of a log in order; memory does not grow with the file.

    Raises:
        InvalidInput: The file cannot be read, or has no column for texts or for times.
    """
    if _is_jsonl(path, options):
        return _objects(path, options, columns)
    names = preview_file(path, options).columns
    text = columns.text or _found(names, TEXT_NAMES) or options.text_column
    time = _required(path, names, columns.time, TIME_NAMES)
    source = columns.source or _found(names, SOURCE_NAMES)
    if columns.source is not None:
        _required(path, names, columns.source, ())
    return _cells(path, options, LogColumns(text, time, source))


def _is_jsonl(path: Path, options: ReadOptions) -> bool:
    if options.format != "auto" or find_container(path) is not None:
        return options.format == "jsonl"
    return find_format(path, find_encoding(path, options.encoding)) == "jsonl"


def _found(names: tuple[str, ...], wanted: tuple[str, ...]) -> str | None:
    plain = {name.strip().lower(): name for name in reversed(names)}
    return next((plain[name] for name in wanted if name in plain), None)


def _required(
    path: Path, names: tuple[str, ...], given: str | None, wanted: tuple[str, ...]
) -> str:
    name = _found(names, (given.strip().lower(),) if given else wanted)
    if name is None:
        said = f"has no column '{given}'" if given else "has no column of times"
        listed = ", ".join(names)[:200] or "not named"
        raise InvalidInput(f"{path} {said}.", f"{_OTHER}{listed}.")
    return name


def _cells(path: Path, options: ReadOptions, columns: LogColumns) -> Iterator[LogRow]:
    """Read each column as its own text: all formats of tables have one reader."""
    plain = replace(options, intent_column="", longest_text=LONGEST_TEXT)
    texts = read_rows(path, replace(plain, text_column=columns.text))
    times = read_rows(path, replace(plain, text_column=columns.time))
    if columns.source is None:
        for text, time in zip(texts, times, strict=True):
            yield LogRow(_cell(text), _cell(time), "")
        return
    sources = read_rows(path, replace(plain, text_column=columns.source))
    for text, time, source in zip(texts, times, sources, strict=True):
        yield LogRow(_cell(text), _cell(time), _cell(source))


def _cell(row: ImportedRow | RowProblem) -> str:
    return row.text if isinstance(row, ImportedRow) else ""


def _objects(path: Path, options: ReadOptions, columns: LogColumns) -> Iterator[LogRow]:
    encoding = find_encoding(path, options.encoding)
    wanted = [
        (columns.text,) if columns.text else TEXT_NAMES,
        (columns.time,) if columns.time else TIME_NAMES,
        (columns.source,) if columns.source else SOURCE_NAMES,
    ]
    for number, line in enumerate(read_lines(path, encoding), 1):
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
        text, time, source = (_of(value, names) for names in wanted)
        yield LogRow(text if len(text) <= LONGEST_TEXT else "", time, source)


def _of(value: dict[str, object], names: tuple[str, ...]) -> str:
    found = next((value[name] for name in names if name in value), None)
    return str(found) if isinstance(found, str | int | float) else ""
