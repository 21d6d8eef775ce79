"""CSV files that platforms take in bulk, with the place of each cell.

Facts: as in `core/formats/tools/bulk_csv.py`. The standard library reads CSV without places, and
writes it again with quotes of its own choice; so cells are found here.
"""

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from core.errors import InvalidInput
from core.platforms.agent import Agent, Home, Phrase
from core.platforms.arrays import ArrayEdits
from core.platforms.gathering import Gathering
from core.platforms.json_places import Node
from core.platforms.packages import Package

ENDING = ".csv"
_HEAD = ("intent display name", "language", "phrase")
_CELL = re.compile(r'"((?:[^"]|"")*)"(?=[,\r\n]|\Z)|([^",\r\n][^,\r\n]*|)')
_END = re.compile(r"\r\n|\r|\n|\Z")
_SPECIAL = re.compile(r'[",\r\n]|^\s|\s$')
_WATSON_COLUMNS = 2

Row: TypeAlias = list[Node]


def is_bulk_csv(package: Package) -> bool:
    """Whether all files are CSV."""
    names = list(package.files)
    return bool(names) and all(name.lower().endswith(ENDING) for name in names)


def read_bulk_csv(package: Package) -> Agent:
    """Read the phrases of a CSV of Dialogflow CX, or of Watson's CSVs of intents.

    Raises:
        InvalidInput: A row is neither, or cannot be read.
    """
    names = [name for name in package.files if "entit" not in name.rpartition("/")[2].lower()]
    rows = {name: list(_rows(_text(package, name), name)) for name in names}
    first = next((row for name in names for row in rows[name]), [])
    is_cx = [str(cell.value).strip().lower() for cell in first[: len(_HEAD)]] == list(_HEAD)
    found = Gathering("cx-csv" if is_cx else "watson-csv", package)
    for name in names:
        found.documents[name] = _text(package, name)
        found.files[name] = 0
        array = Node(0, len(found.documents[name]), [])
        (_cx if is_cx else _watson)(found, Home(name, array), rows[name])
        for intent in found.intents:
            found.homes.setdefault((intent, ""), Home(name, array))
    return found.agent()


def _text(package: Package, name: str) -> str:
    """Decode a file; a byte order mark, which Excel writes, stays in it."""
    try:
        return package.files[name].decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{name} is not UTF-8, at byte {error.start + 1}.", "Save it as CSV in UTF-8."
        ) from error


def _rows(text: str, name: str) -> Iterator[Row]:
    """Yield the cells of each row that is not blank."""
    at = len(text) - len(text.removeprefix("\ufeff"))
    number = 0
    while at < len(text):
        number, row = number + 1, list[Node]()
        while True:
            if (cell := _CELL.match(text, at)) is None:
                raise InvalidInput(
                    f"{name}, row {number}: a quote is not closed.", "Check the quotes of this row."
                )
            said = cell[2] if cell[1] is None else cell[1].replace('""', '"')
            row.append(Node(at, cell.end(), said))
            at = cell.end() + 1
            if text[cell.end() : at] != ",":
                break
        end = _END.match(text, row[-1].end)
        if end is None:
            raise InvalidInput(
                f"{name}, row {number}: text follows a closing quote.",
                "Check the quotes of this row.",
            )
        at = end.end()
        if len(row) > 1 or row[0].value:
            yield row


def _cx(found: Gathering, home: Home, rows: Sequence[Row]) -> None:
    """Keep the phrases; a row without a name has that of the row before."""
    intent = ""
    for row in rows[1:]:
        label, language, said = (row[at] if at < len(row) else None for at in range(3))
        intent = str(label.value).strip() if label and label.value else intent
        if said is None or not str(said.value).strip():
            found.lose("rows without a phrase", intent)
            continue
        if not intent:
            raise InvalidInput(
                f"{home.file}: the first row names no intent.", "Write one into its first cell."
            )
        _keep(found, home, row, (str(said.value), intent, label, language))


def _watson(found: Gathering, home: Home, rows: Sequence[Row]) -> None:
    for number, row in enumerate(rows, start=1):
        if len(row) != _WATSON_COLUMNS or not str(row[1].value).strip():
            raise InvalidInput(
                f"{home.file}, row {number}: a CSV of Watson has a text and an intent in each row.",
                "Name the file that the platform exported.",
            )
        _keep(found, home, row, (str(row[0].value), str(row[1].value).strip(), row[1], None))


def _keep(
    found: Gathering, home: Home, row: Row, said: tuple[str, str, Node | None, Node | None]
) -> None:
    text, intent, label, language = said
    array = home.array or Node(0, 0, [])
    array.items.append(Node(row[0].start, row[-1].end, [label] if label else []))
    found.intents.setdefault(intent, "")
    found.add(
        Phrase(
            text=text,
            intent=intent,
            file=home.file,
            array=array,
            index=len(array.items) - 1,
            label=label,
            language="" if language is None else str(language.value).strip(),
        )
    )


def csv_line(cells: Sequence[str]) -> str:
    """Write a row; only cells that need quotes get them."""
    return ",".join(
        '"' + cell.replace('"', '""') + '"' if _SPECIAL.search(cell) else cell for cell in cells
    )


class RowEdits(ArrayEdits):
    """Changes of a CSV file, in which each element is a row with the cell of its intent."""

    __slots__ = ()

    def rendered(self) -> str:
        """Return the rows that stay, with other names in their cells, and those that are added."""
        written = [(one.start, one.end, csv_line([name])) for one, name in self._named()]
        gone = [(*self._row(index), "") for index in self._removed]
        pieces, at = list[str](), self.start
        for start, end, cell in sorted(written + gone):
            pieces += [self.text[at:start], cell]
            at = end
        kept = "".join([*pieces, self.text[at : self.end]])
        if not self.appended:
            return kept
        is_open = bool(kept) and kept[-1] not in "\r\n"
        added = "".join(f"{one}{self._line_end}" for one in self.appended)
        return kept + self._line_end * is_open + added

    def _row(self, index: int) -> tuple[int, int]:
        """Return the start of a row, and its end behind the line break."""
        item = self._items[index]
        end = _END.match(self.text, item.end)
        return item.start, item.end if end is None else end.end()

    def _named(self) -> Iterator[tuple[Node, str]]:
        """Yield the cells to be written; a row that had its name from one of them gets its own."""
        current, is_told = "", True  # the name that a blank cell means, and whether it stands above
        for index, item in enumerate(self._items):
            (label,) = item.items
            own = str(label.value).strip()
            current = own or current
            if index in self._removed:
                is_told = is_told and not own
            elif index in self._relabelled:
                is_told = False
                yield self._relabelled[index]
            elif own:
                is_told = True
            elif not is_told:
                is_told = True
                yield label, current
