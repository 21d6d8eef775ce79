"""Texts with their groups as a CSV, written and read again."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from app.services.discover.views import PlacedText
from core.files import write_atomically
from core.formats.reading import read_rows
from core.formats.rows import ImportedRow, ReadOptions
from core.formats.writing import defused
from core.text import normalise


def write_placed(path: Path, placed: Iterable[PlacedText], *, spreadsheet: bool = False) -> None:
    """Write the columns text, group and closeness, replacing the file atomically.

    For a `spreadsheet`, no cell is computed; such a file is not read again.

    Raises:
        InvalidInput: The file cannot be written.
    """
    write_atomically(path, _lines(placed, defused if spreadsheet else str))


def read_placed(path: Path) -> dict[str, str]:
    """Return each text's group, as `write_placed` wrote them, or as a person changed them.

    Raises:
        InvalidInput: The file cannot be read, or lacks a column.
    """
    rows = read_rows(path, ReadOptions(text_column="text", intent_column="group"))
    read = [row for row in rows if isinstance(row, ImportedRow)]
    return {normalise(row.text): row.intents[0] for row in read if row.intents}


def _lines(placed: Iterable[PlacedText], change: Callable[[str], str]) -> Iterator[bytes]:
    yield b"text,group,closeness\n"
    for one in placed:
        line = io.StringIO()
        # All words in quotes: a lone carriage return stays within its cell.
        writer = csv.writer(line, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        writer.writerow((change(one.text), change(one.group), round(one.closeness, 4)))
        yield line.getvalue().encode()
