"""Read CSV and TSV with any delimiter, with or without a header."""

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from core.errors import InvalidInput
from core.formats.decoding import read_lines, unreadable
from core.formats.detect import TableLayout, find_layout
from core.formats.rows import (
    LONGEST_CELL,
    LONGEST_RECORD,
    FilePlace,
    ImportedRow,
    ReadOptions,
    RowProblem,
    accept,
    is_validation,
    read_split,
    split_intents,
    too_long_cell,
    unreadable_line,
)


def read_delimited(
    path: Path, encoding: str, options: ReadOptions
) -> Iterator[ImportedRow | RowProblem]:
    """Read a CSV or TSV file row by row; quoted cells may span lines, blank lines are skipped.

    Raises:
        InvalidInput: No text column, a NUL, a damaged byte, unbalanced quotes, a cell of over
            `LONGEST_CELL` characters, or a row with more cells than the others.
    """
    layout = _layout(path, encoding, options)
    waiting_for_header = bool(layout.names)
    for line, cells in _records(path, encoding, layout):
        if not cells:
            continue  # also before the header
        if waiting_for_header:
            waiting_for_header = False
        else:
            _check_shape(path, line, cells, layout)
            yield row_of(FilePlace(path, line), cells, layout, options)


def read_columns(
    path: Path, encoding: str, options: ReadOptions, names: Sequence[str]
) -> Iterator[tuple[str, ...] | None]:
    """Read some columns of a CSV or TSV file, named as in its header, or by numbers without one.

    A row with too few cells, or with more than the others, is None: it does not say which cell is
    which. Blank lines are skipped.

    Raises:
        InvalidInput: A column is missing, or the file cannot be read as `read_delimited` says.
    """
    found = [_layout(path, encoding, replace(options, text_column=name)) for name in names]
    layout, places = found[0], [one.text for one in found]
    waiting_for_header = bool(layout.names)
    for _, cells in _records(path, encoding, layout):
        if not cells:
            continue
        if waiting_for_header:
            waiting_for_header = False
        else:
            fits = max(places) < len(cells) and not any(map(str.strip, cells[layout.width :]))
            yield tuple(cells[place] for place in places) if fits else None


def _layout(path: Path, encoding: str, options: ReadOptions) -> TableLayout:
    """Find out how a file is laid out; a column that is not found may have a damaged name."""
    try:
        return find_layout(path, encoding, options)
    except InvalidInput:
        with closing(read_lines(path, encoding)) as lines:
            for number, line in enumerate(lines, start=1):
                if fault := unreadable(line):
                    raise unreadable_line(FilePlace(path, number), fault) from None
                if line.strip():
                    break
        raise


@dataclass(slots=True)
class _Record:
    """The lines of the record being parsed; each line is checked when the parser reads it."""

    path: Path
    layout: TableLayout
    source: Iterator[str]
    begins: int = 1
    pieces: list[str] = field(default_factory=list)
    characters: int = 0
    ended: bool = False

    def __iter__(self) -> "_Record":
        return self

    def __next__(self) -> str:
        self.ended = True
        line = next(self.source)
        self.ended = False
        self.pieces.append(line)
        self.characters += len(line)
        if self.characters > LONGEST_RECORD:
            raise self.too_long()
        if fault := unreadable(line):
            before = "".join(self.pieces[:-1]) + line[: fault[0]]
            place = self.place(_walk(before, self.layout).last)
            raise InvalidInput(f"{place}: {fault[1]}.", fault[2])
        return line

    @property
    def text(self) -> str:
        """The lines read so far."""
        return "".join(self.pieces)

    def place(self, column: int) -> FilePlace:
        """Return a column of this record, counted from 1, as a place for messages."""
        return _place(self.path, self.begins, column, self.layout)

    def finish(self) -> None:
        """Start the next record at the next line."""
        self.begins += len(self.pieces)
        self.pieces.clear()
        self.characters = 0

    def fault(self) -> InvalidInput:
        """Return the error for a record that the parser refused."""
        walked = _walk(self.text, self.layout)
        if walked.trouble == "stray":
            said = "there is text after the closing quote of the cell"
            hint = 'Write a quote inside a quoted cell twice: "".'
        elif walked.trouble == "open" and self.ended:
            said, hint = "a quote is opened and never closed", "Add the closing quote."
        else:
            return self.too_long()
        return InvalidInput(f"{self.place(walked.last)}: {said}.", hint)

    def too_long(self) -> InvalidInput:
        """Return the error for an overlong cell, or for the record if no cell is too long."""
        walked = _walk(self.text, self.layout)
        # csv's own limit is global, so other code may have lowered it.
        limit = min(LONGEST_CELL, csv.field_size_limit())
        if walked.size > limit:
            return too_long_cell(self.place(walked.longest), limit)
        row = FilePlace(self.path, self.begins)
        return InvalidInput(
            f"{row}: a row of more than {LONGEST_RECORD:,} characters.",
            "Leave out the columns that are not needed.",
        )


@dataclass(frozen=True, slots=True)
class _Walked:
    """The longest cell's size and column, and the column where the walk ended; columns from 1."""

    size: int
    longest: int
    last: int
    trouble: Literal["open", "stray"] | None = None


def _walk(record: str, layout: TableLayout) -> _Walked:
    """Walk through a record's cells to find the faulty column; the csv parser does not name it."""
    end = re.escape(layout.dialect.delimiter)
    quoted = '"[^"]*+(?:""[^"]*+)*+"'
    bare = rf"[^{end}\r\n]*+"
    cell = rf'(?:{quoted}|(?!"){bare})' if layout.dialect.quoted else bare
    whole, closed = re.compile(rf"{cell}(?={end}|[\r\n]|\Z)"), re.compile(quoted)
    begins, column, longest = 0, 1, (-1, 1)
    while match := whole.match(record, begins):
        longest = max(longest, (len(match[0]), column))
        if match.end() == len(record) or record[match.end()] != layout.dialect.delimiter:
            return _Walked(*longest, column)
        begins, column = match.end() + 1, column + 1
    longest = max(longest, (len(record) - begins, column))
    return _Walked(*longest, column, "stray" if closed.match(record, begins) else "open")


def _place(path: Path, row: int, column: int, layout: TableLayout) -> FilePlace:
    named = column <= len(layout.names)
    return FilePlace(path, row, column, layout.names[column - 1].strip() if named else None)


def _records(path: Path, encoding: str, layout: TableLayout) -> Iterator[tuple[int, list[str]]]:
    record = _Record(path, layout, read_lines(path, encoding))
    parser = layout.dialect.parse(record)
    while True:
        try:
            cells = next(parser)
        except StopIteration:
            return
        except csv.Error as error:
            raise record.fault() from error
        yield record.begins, cells
        record.finish()


def row_of(
    place: FilePlace, cells: list[str], layout: TableLayout, options: ReadOptions
) -> ImportedRow | RowProblem:
    """Read a row of a table by its layout.

    Raises:
        InvalidInput: There is no split of the name that the row gives.
    """
    path, line = place.path, place.row
    row = ImportedRow(
        text=_cell(cells, layout.text),
        intents=split_intents(_cell(cells, layout.intent), options.separator),
        split=read_split(
            _cell(cells, layout.split),
            _place(path, line, (layout.split or 0) + 1, layout),
            options.default_split,
        ),
        id=_cell(cells, layout.id).strip() or None,
        line=line,
        synthetic=_cell(cells, layout.synthetic).strip(),
        validation=is_validation(_cell(cells, layout.split)),
    )
    return accept(row, _place(path, line, layout.text + 1, layout), options.longest_text)


def _cell(cells: list[str], place: int | None) -> str:
    return cells[place] if place is not None and place < len(cells) else ""


def _check_shape(path: Path, line: int, cells: list[str], layout: TableLayout) -> None:
    longest = max(range(len(cells)), key=lambda place: len(cells[place]))
    if len(cells[longest]) > LONGEST_CELL:
        raise too_long_cell(_place(path, line, longest + 1, layout))
    if layout.text >= len(cells):
        place = _place(path, line, layout.text + 1, layout)
        fault = f"{place}: the text is missing; the row has {len(cells)} of {layout.width} columns."
        raise InvalidInput(fault, "Check the delimiter and the quotes of this row.")
    if any(cell.strip() for cell in cells[layout.width :]):
        place = FilePlace(path, line, layout.width + 1)
        raise InvalidInput(
            f"{place}: the row has {len(cells)} columns, the others have {layout.width}.",
            f"Put quotes around a cell that has the delimiter '{layout.dialect.delimiter}' in it.",
        )
