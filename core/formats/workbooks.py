"""Read the rows of an Excel workbook: stored values only, no formula is ever evaluated."""

import datetime
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice, pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from core.errors import MALFORMED, InvalidInput
from core.formats.rows import FilePlace, cell_text, refuse_long
from core.text import size_words

if TYPE_CHECKING:
    from openpyxl.workbook import Workbook

MOST_ROWS = 100_001
"""Rows with content that are read from one sheet: a header and 100,000 texts."""

_MOST_UNPACKED = 256_000_000
_MOST_SIGNS = 6_000_000
_MOST_SIGNS_OF_A_ROW = 300_000
_MOST_COLUMNS = 100
_LAST_ROW = 1_048_576
_CHUNK = 1 << 20
_ROW = re.compile(rb"<(?:[^\s<>/:]+:)?row[\s/>]")
_LETTERS = re.compile("_(?=x[0-9A-Fa-f]{4}[_\r])")
"""Begin of what would be read as the letters of a sign."""
_IN_LETTERS = re.compile("_x(000[Dd]|005[Ff])_")
_SMALLER = "Save the sheet as CSV, or delete what is not needed."
_BROKEN = (*MALFORMED, SyntaxError, zipfile.BadZipFile, zlib.error)
"""What openpyxl and zipfile raise about a damaged or encrypted workbook."""


def workbook_head(
    path: Path, sheet: str | None, most: int
) -> tuple[tuple[str, ...], list[list[str]]]:
    """Return the names of a workbook's sheets, visible ones first, and the first rows of one.

    Raises:
        InvalidInput: As `workbook_rows`.
    """
    with _opened(path) as book:
        names = _names(book)
        rows = [cells for _, cells in islice(_rows_of(path, book, sheet), most)]
    return names, rows


def workbook_rows(path: Path, sheet: str | None) -> Iterator[tuple[int, list[str]]]:
    """Stream the rows of a sheet that have content, with their numbers from 1.

    `sheet` None is the first that has rows. Cells are written as people see them: 7, not 7.0.

    Raises:
        InvalidInput: There is no such sheet, the file is damaged, or the sheet has over `MOST_ROWS`
            rows.
    """
    with _opened(path) as book:
        yield from _rows_of(path, book, sheet)


def _rows_of(path: Path, book: "Workbook", sheet: str | None) -> Iterator[tuple[int, list[str]]]:
    names = _names(book)
    if sheet and sheet not in names:
        raise InvalidInput(
            f"{path}: there is no sheet '{sheet[:80]}'.",
            f"Its sheets are {', '.join(names)[:300]}.",
        )
    for name in [sheet] if sheet else names:
        rows = _rows(path, book[name])
        first = next(rows, None)
        if first is not None:
            yield first
            yield from rows
            return


def _names(book: "Workbook") -> tuple[str, ...]:
    shown = sorted(book.worksheets, key=lambda sheet: sheet.sheet_state != "visible")
    return tuple(sheet.title for sheet in shown)


def _rows(path: Path, sheet: Any) -> Iterator[tuple[int, list[str]]]:
    sheet.reset_dimensions()  # what the file says of its own size may be wrong
    count = 0
    for number, values in enumerate(
        sheet.iter_rows(max_col=_MOST_COLUMNS, values_only=True), start=1
    ):
        # A row without content may be one of a million that a hostile file skips: it costs nothing.
        # Of the others, the columns behind the last cell are empty; few have a gap before it.
        end = len(values) - values.count(None)
        if None in values[:end]:
            end = max(at for at, value in enumerate(values, start=1) if value is not None)
        refuse_long(FilePlace(path, number), values[:end])
        cells = [_said(value) if type(value) is str else _written(value) for value in values[:end]]
        while cells and not cells[-1].strip():
            cells.pop()
        if number > _LAST_ROW or count == MOST_ROWS:
            raise InvalidInput(
                f"{path}: the sheet '{sheet.title}' has more than {MOST_ROWS:,} rows.", _SMALLER
            )
        if cells:
            count += 1
            yield number, cells


def in_letters(text: str) -> str:
    """Return a text as a workbook holds it: XML changes carriage returns, so letters name them."""
    return _LETTERS.sub("_x005F_", text).replace("\r", "_x000D_")


def _said(value: str) -> str:
    """Return a text of which `in_letters` is what the workbook holds."""
    return _IN_LETTERS.sub(_sign, value) if "_x" in value else value


def _sign(letters: re.Match[str]) -> str:
    return chr(int(letters[1], 16))


def _written(value: object) -> str:
    match value:
        case datetime.datetime() if value.time() == datetime.time():
            return value.date().isoformat()
        case datetime.datetime() | datetime.date() | datetime.time():
            return value.isoformat()
        case _:
            return cell_text(value)


@contextmanager
def _opened(path: Path) -> Iterator["Workbook"]:
    from openpyxl import load_workbook

    with _naming(path), path.open("rb") as stream:
        _refuse_bombs(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and extensions, which nobody asks for
            book = load_workbook(stream, read_only=True, data_only=True, keep_links=False)
        if not all(_is_checked(sheet._worksheet_path) for sheet in book.worksheets):
            raise InvalidInput(f"{path} is no workbook that Excel would write.", _SMALLER)
        yield book


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    try:
        yield
    except _BROKEN as error:
        raise InvalidInput(
            f"{path} cannot be read as an Excel workbook.",
            "It may be damaged or locked with a password. Open it in Excel and save it again.",
        ) from error


def _refuse_bombs(path: Path) -> None:
    """Refuse a small file that would fill the memory, before anything of it is parsed whole."""
    with zipfile.ZipFile(path) as archive:
        parts = archive.infolist()
        if sum(part.file_size for part in parts) > _MOST_UNPACKED:
            most = size_words(_MOST_UNPACKED)
            raise InvalidInput(f"{path} unpacks to more than {most}.", _SMALLER)
        signs = 0
        for part in parts:
            if _is_checked(part.filename):
                with archive.open(part) as stream:
                    signs += _signs(path, stream)
                if signs > _MOST_SIGNS:
                    raise InvalidInput(f"{path} has too many cells to be read.", _SMALLER)


def _is_checked(part: str) -> bool:
    return part.startswith("xl/") and part.endswith(".xml")


def _signs(path: Path, stream: IO[bytes]) -> int:
    """Count the `<` of a part, at least one an element, and refuse rows with too many of them.

    A row is parsed as a whole. Comments, entities and UTF-16 could hide where one begins; no
    program writes them into a workbook.
    """
    total, of_row, rest = 0, 0, b""
    inside = False
    while chunk := stream.read(_CHUNK):
        piece = rest + chunk
        end = max(piece.rfind(b"<"), 0)  # a tag cut in two is read with the next chunk
        piece, rest = piece[:end], piece[end:]
        if b"\0" in piece or b"<!" in piece or len(rest) > _CHUNK:
            raise InvalidInput(f"{path} is no workbook that Excel would write.", _SMALLER)
        total += piece.count(b"<")
        starts = [match.start() for match in _ROW.finditer(piece)]
        for place, (begin, stop) in enumerate(pairwise([0, *starts, len(piece)])):
            inside = inside or place > 0
            of_row = (0 if place else of_row) + piece.count(b"<", begin, stop) * inside
            if of_row > _MOST_SIGNS_OF_A_ROW:
                raise InvalidInput(f"{path} has too many cells in a row to be read.", _SMALLER)
    return total
