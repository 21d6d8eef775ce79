"""Plain text: one unlabelled utterance a line."""

from collections.abc import Iterator
from pathlib import Path

from core.formats.decoding import read_lines, unreadable
from core.formats.rows import (
    LONGEST_CELL,
    FilePlace,
    ImportedRow,
    ReadOptions,
    RowProblem,
    accept,
    too_long_cell,
    unreadable_line,
)


def read_plain(
    path: Path, encoding: str, options: ReadOptions
) -> Iterator[ImportedRow | RowProblem]:
    """Read a file line by line; a blank line is an empty text.

    Raises:
        InvalidInput: A NUL, a damaged byte, or a line of over `LONGEST_CELL` characters.
    """
    for number, line in enumerate(read_lines(path, encoding), start=1):
        place = FilePlace(path, number, 1)
        if len(line) > LONGEST_CELL:
            raise too_long_cell(place)
        if fault := unreadable(line):
            raise unreadable_line(place, fault)
        row = ImportedRow(line.rstrip("\r\n"), split=options.default_split, line=number)
        yield accept(row, place, options.longest_text)
