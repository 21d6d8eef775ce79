"""What readers yield and writers take, and how a file is to be read. No file is opened here."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from core.errors import InvalidInput
from core.templates.slots import Slot
from core.types import Split

ReadFormat = Literal["auto", "csv", "tsv", "jsonl", "text", "rasa"]
WriteFormat = Literal["csv", "tsv", "jsonl", "text", "spreadsheet", "rasa"]

LONGEST_TEXT = 5_000
"""Characters; a longer text is reported and left out, unless the options say otherwise."""

LONGEST_CELL = 100_000
"""Characters; a longer cell means that the file is not what it seems, and stops the reading."""

LONGEST_RECORD = 1_000_000
"""Characters in all cells of one row together; never more of a file is held in memory."""

SEPARATOR = "|"
"""What parts several intents in one cell, where nothing else is asked for."""

NO_INTENT = "|"
"""A cell that says that no intent fits, where a cell holds one; a blank one is unlabelled."""

TEXT_NAMES = ("text", "utterance", "example", "sentence", "query", "phrase", "question")
INTENT_NAMES = ("intent", "intents", "label", "labels", "category", "class")
SPLIT_NAMES = ("split",)
ID_NAMES = ("id",)
SYNTHETIC_NAMES = ("synthetic",)


@dataclass(frozen=True, slots=True)
class ImportedRow:
    """One utterance of a file, character for character.

    Attributes:
        text: The utterance; not blank.
        intents: Its label: None is unlabelled, an empty tuple says that no intent fits.
        line: Line of the file on which it begins, from 1.
        slots: Values marked in the text, where the options ask for them.
        synthetic: Id of the utterance whose template it fills; empty if not synthetic.
    """

    text: str
    intents: tuple[str, ...] | None = None
    split: Split | None = None
    id: str | None = None
    line: int = 0
    slots: tuple[Slot, ...] = ()
    synthetic: str = ""


@dataclass(frozen=True, slots=True)
class RowProblem:
    """A row that is left out, while the rest of the file is read.

    Attributes:
        line: Line of the file on which it begins, from 1.
        kind: `empty` has no text, `too-long` more text than the options allow.
        message: The same for a person, naming row and column.
    """

    line: int
    kind: Literal["empty", "too-long"]
    message: str


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read a file; what is None is found out from the file.

    Attributes:
        format: `auto` goes by the ending of the name, then by the content.
        text_column: Name of the text's column or key; in a file without header its number, from 1.
        separator: What parts several intents in one cell; None takes a cell for one intent.
        encoding: Name of a text encoding, such as `cp1251`.
        delimiter: The character between the cells of a CSV file.
        default_split: Split of the rows for which the file names none.
        longest_text: Characters; a longer text is a `RowProblem`.
        slots: Whether the values marked in JSONL or Rasa are read, too.
    """

    format: ReadFormat = "auto"
    text_column: str | None = None
    intent_column: str | None = None
    separator: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    default_split: Split | None = None
    longest_text: int = LONGEST_TEXT
    slots: bool = False


@dataclass(frozen=True, slots=True)
class FilePlace:
    """Where in a file something stands, for messages.

    Attributes:
        row: Line on which the row begins, from 1.
        column: Number of the column from 1, or None where a row has no columns.
        name: The column's name, where it has one.
    """

    path: Path
    row: int
    column: int | None = None
    name: str | None = None

    def __str__(self) -> str:
        name = f" ('{self.name}')" if self.name else ""
        column = f", column {self.column}{name}" if self.column else ""
        if self.name and not self.column:
            column = f", column '{self.name}'"
        return f"{self.path}, row {self.row}{column}"


def too_long_cell(place: FilePlace, limit: int = LONGEST_CELL) -> InvalidInput:
    """Return the error for a cell that no utterance can be."""
    return InvalidInput(
        f"{place}: a cell of more than {limit:,} characters.",
        "An utterance is a sentence or two. Is a closing quote or a line end missing here?",
    )


def accept(row: ImportedRow, place: FilePlace, longest: int) -> ImportedRow | RowProblem:
    """Return the row, or the problem for which its text is left out."""
    if not row.text.strip():
        return RowProblem(row.line, "empty", f"{place}: the text is empty.")
    if len(row.text) > longest:
        message = f"{place}: a text of {len(row.text):,} characters; at most {longest:,} are read."
        return RowProblem(row.line, "too-long", message)
    return row


def split_intents(cell: str, separator: str | None) -> tuple[str, ...] | None:
    """Read a cell of intents; a blank one is unlabelled, one of separators alone names none."""
    if not cell.strip():
        return None
    if separator is None:
        return () if cell.strip() == NO_INTENT else (cell.strip(),)
    parts = cell.split(separator)
    return tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))


_SPLITS: dict[str, Split] = {
    "train": "train",
    "training": "train",
    "test": "test",
    "testing": "test",
    "pool": "pool",
}


def read_split(cell: str, place: FilePlace, default: Split | None) -> Split | None:
    """Read the name of a split; a blank cell takes the default.

    Raises:
        InvalidInput: The cell names something else.
    """
    name = cell.strip().lower()
    if not name:
        return default
    if name not in _SPLITS:
        raise InvalidInput(
            f"{place}: '{cell.strip()[:40]}' is not a split.",
            "Splits are train, test and pool; leave the cell empty for none.",
        )
    return _SPLITS[name]
