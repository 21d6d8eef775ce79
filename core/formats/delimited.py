"""CSV and TSV, with a header or without, whatever the delimiter."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from core.errors import InvalidInput
from core.formats.decoding import find_encoding, lines
from core.formats.labels import read_split, split_intents
from core.formats.rows import LONGEST_CELL, ReadOptions, Row

_DELIMITERS = (",", "\t", ";", "|")
_NAMES = {
    "text": ("text", "utterance", "example", "sentence", "query", "phrase"),
    "intent": ("intent", "label", "intents", "labels", "category", "class"),
    "split": ("split",),
    "id": ("id",),
}
_SAMPLE_ROWS = 200


@dataclass(frozen=True, slots=True)
class _Columns:
    """Where each thing stands in a row; None where it does not."""

    text: int
    intent: int | None
    split: int | None
    id: int | None
    has_header: bool


def read_delimited(path: Path, options: ReadOptions) -> Iterator[Row]:
    """Read a CSV or TSV file row by row.

    Raises:
        InvalidInput: Not text, no text column, a NUL, a cell without end, a row of another shape.
    """
    encoding = find_encoding(path)
    sample = list(islice(lines(path, encoding), _SAMPLE_ROWS))
    delimiter = "\t" if options.format == "tsv" else _find_delimiter(sample)
    columns = _find_columns(path, _parsed(sample, delimiter), options)
    begins = 1
    records = _records(path, lines(path, encoding), delimiter)
    for number, (ends, cells) in enumerate(records):
        if (number > 0 or not columns.has_header) and any(cell.strip() for cell in cells):
            yield _row(path, begins, cells, columns, options)
        begins = ends + 1


def _records(path: Path, source: Iterator[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Parse records with the line each ends on; quoted cells may span lines."""
    # The module's own limit is shared by the whole program, and small; the lines are bounded, so
    # a private count of a record's characters does its work here.
    counted = _Counted(path, source)
    reader = csv.reader(counted, delimiter=delimiter, strict=False)
    while True:
        counted.in_record = 0
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise InvalidInput(
                f"{path}, row {reader.line_num}, column 1: {error}.",
                "Check the quotes and line ends of this row.",
            ) from error
        yield reader.line_num, cells


class _Counted:
    """Lines that count the characters of the record being parsed."""

    def __init__(self, path: Path, source: Iterator[str]) -> None:
        self.path = path
        self.source = source
        self.in_record = 0
        self.number = 0

    def __iter__(self) -> "_Counted":
        return self

    def __next__(self) -> str:
        line = next(self.source)
        self.number += 1
        self.in_record += len(line)
        if self.in_record > LONGEST_CELL:
            raise InvalidInput(
                f"{self.path}, row {self.number}, column 1: a cell of over "
                f"{LONGEST_CELL:,} characters.",
                "A quote may be missing its partner; check the rows before this one.",
            )
        return line


def _find_delimiter(sample: Sequence[str]) -> str:
    """Choose the delimiter that gives the same, largest number of columns most often."""

    def fitness(delimiter: str) -> tuple[float, int]:
        widths = [len(cells) for cells in _parsed(sample, delimiter) if cells]
        usual = max(set(widths), key=widths.count, default=1)
        return (widths.count(usual) / len(widths) if usual > 1 else 0.0, usual)

    return max(_DELIMITERS, key=fitness)


def _parsed(sample: Sequence[str], delimiter: str) -> list[list[str]]:
    try:
        return [cells for cells in csv.reader(sample, delimiter=delimiter) if cells]
    except csv.Error:
        return [line.rstrip("\r\n").split(delimiter) for line in sample]


def _find_columns(path: Path, sample: list[list[str]], options: ReadOptions) -> _Columns:
    header = [cell.strip().lower() for cell in sample[0]]
    wanted = {"text": options.text_column, "intent": options.intent_column}
    for kind, name in wanted.items():
        if name is not None and name.strip().lower() not in header:
            raise InvalidInput(
                f"{path}, row 1 has no column '{name}' for the {kind}; it has: "
                f"{', '.join(sample[0])}.",
                f"Name one of them with --{kind}-column.",
            )
    found = {kind: _place(header, kind, wanted.get(kind)) for kind in _NAMES}
    if found["text"] is not None:
        return _Columns(
            found["text"], found["intent"], found["split"], found["id"], has_header=True
        )
    if found["intent"] is not None:
        raise InvalidInput(
            f"{path}, row 1: no column is named text; it has: {', '.join(sample[0])}.",
            "Name the column of the utterances with --text-column.",
        )
    return _without_header(path, sample)


def _place(header: list[str], kind: str, wanted: str | None) -> int | None:
    names = (wanted.strip().lower(),) if wanted else _NAMES[kind]
    return next((header.index(name) for name in names if name in header), None)


def _without_header(path: Path, sample: list[list[str]]) -> _Columns:
    """Take the column with more words for the text and the other for the intent."""
    width = max(len(cells) for cells in sample)
    if width == 1:
        return _Columns(0, None, None, None, has_header=False)
    if width > 2:
        raise InvalidInput(
            f"{path}, row 1: {width} columns, and none is named text.",
            "Add a header such as text,intent, or name the columns with --text-column.",
        )
    pairs = [cells for cells in sample if len(cells) == 2]
    words = [sum(len(cells[place].split()) for cells in pairs) for place in (0, 1)]
    text = 0 if words[0] >= words[1] else 1
    return _Columns(text, 1 - text, None, None, has_header=False)


def _row(path: Path, line: int, cells: list[str], columns: _Columns, options: ReadOptions) -> Row:
    if columns.text >= len(cells):
        raise InvalidInput(
            f"{path}, row {line}, column {columns.text + 1}: the text is missing; "
            f"the row has {len(cells)} column{'s' if len(cells) != 1 else ''}.",
            "Check the delimiter and quotes of this row.",
        )

    def cell(place: int | None) -> str:
        return cells[place] if place is not None and place < len(cells) else ""

    return Row(
        line=line,
        text=cells[columns.text],
        intents=split_intents(cell(columns.intent), options.separator),
        split=read_split(path, line, cell(columns.split)),
        id=cell(columns.id).strip() or None,
    )
