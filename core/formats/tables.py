"""Read Excel workbooks and Parquet files by the same columns as CSV."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

from core.errors import InvalidInput
from core.formats.containers import Container
from core.formats.delimited import row_of
from core.formats.detect import (
    Dialect,
    TableLayout,
    has_header,
    layout_of,
    refuse_many_columns,
)
from core.formats.parquet import parquet_columns, parquet_rows
from core.formats.rows import (
    FilePlace,
    ImportedRow,
    ReadOptions,
    RowProblem,
    check_characters,
)
from core.formats.workbooks import workbook_head, workbook_rows
from core.text import is_storable

_SAMPLE_ROWS = 200
_UNUSED = Dialect(",")


@dataclass(frozen=True, slots=True)
class TableHead:
    """The first rows of a table.

    Attributes:
        rows: The header, if there is one, and up to 200 rows.
        headed: Whether the first row names the columns.
        sheets: Names of a workbook's sheets; empty for Parquet.
    """

    rows: list[list[str]]
    headed: bool
    sheets: tuple[str, ...] = ()


def read_table(
    path: Path, kind: Container, options: ReadOptions
) -> Iterator[ImportedRow | RowProblem]:
    """Read a workbook's sheet or a Parquet file row by row; blank rows are skipped.

    Raises:
        InvalidInput: The file is damaged or too large, has no such sheet, or no text column; a cell
            has over `LONGEST_CELL` characters.
    """
    rows = _rows(path, kind, options)
    first = list(islice(rows, _SAMPLE_ROWS))
    if not first:
        raise _nothing(path)
    place, cells = FilePlace(path, first[0][0]), [cells for _, cells in first]
    options = _headed(kind, options)
    layout = layout_of(place, _UNUSED, _even(cells), options)
    for number, row in chain(first[1 if layout.names else 0 :], rows):
        _check(FilePlace(path, number), row)
        filled = [*row, *[""] * (layout.width - len(row))]
        yield row_of(FilePlace(path, number), filled, layout, options)


def read_table_head(path: Path, kind: Container, options: ReadOptions) -> TableHead:
    """Return a table's first rows, for a preview.

    Raises:
        InvalidInput: As `read_table`.
    """
    if kind == "xlsx":
        sheets, rows = workbook_head(path, options.sheet, _SAMPLE_ROWS)
    else:
        sheets, rows = (), [row for _, row in islice(_rows(path, kind, options), _SAMPLE_ROWS)]
    if not rows:
        raise _nothing(path)
    refuse_many_columns(path, rows)
    even = _even(rows)
    return TableHead(even, has_header(even, _headed(kind, options)), sheets)


def table_layout(
    path: Path, head: TableHead, kind: Container, options: ReadOptions
) -> TableLayout | None:
    """Return which of a table's columns holds what; None if that is unclear."""
    try:
        return layout_of(FilePlace(path, 1), _UNUSED, head.rows, _headed(kind, options))
    except InvalidInput:
        return None


def _headed(kind: Container, options: ReadOptions) -> ReadOptions:
    """Parquet always names its columns."""
    return replace(options, header=True) if kind == "parquet" else options


def _rows(path: Path, kind: Container, options: ReadOptions) -> Iterator[tuple[int, list[str]]]:
    if kind == "xlsx":
        return workbook_rows(path, options.sheet)
    header = [(0, list(parquet_columns(path)))]
    return chain(header, parquet_rows(path))


def _even(rows: Sequence[list[str]]) -> list[list[str]]:
    """Fill short rows, since a sheet leaves out the blank cells at the end of a row."""
    width = max(map(len, rows), default=0)
    return [[*row, *[""] * (width - len(row))] for row in rows]


def _check(place: FilePlace, row: Sequence[str]) -> None:
    for column, cell in enumerate(row, start=1):
        if not is_storable(cell):
            check_characters(replace(place, column=column), cell)


def _nothing(path: Path) -> InvalidInput:
    return InvalidInput(f"{path} has no rows.", "Choose a file with at least one text.")
