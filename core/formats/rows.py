"""The rows that readers yield and writers take, and the options for reading."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from core.characters import NO_CHARACTER
from core.errors import InvalidInput
from core.platforms.agent import Platform
from core.templates.slots import Slot
from core.text import is_blank
from core.types import Split

Tool = Literal[
    "argilla",
    "botpress",
    "cx-csv",
    "datasets",
    "doccano",
    "humanfirst",
    "label-studio",
    "prodigy",
    "rasa",
    "semantic-router",
    "spacy",
    "watson-csv",
]
ReadFormat = (
    Literal["auto", "csv", "tsv", "jsonl", "text", "rasa", "xlsx", "parquet"] | Platform | Tool
)
WriteFormat = Literal["csv", "tsv", "jsonl", "text", "spreadsheet", "rasa"]
AnswerFormat = Literal["csv", "jsonl", "spreadsheet"]
TableFormat = Literal["csv", "tsv", "spreadsheet"]
SaidFormat = Literal["csv", "spreadsheet"]

LONGEST_TEXT = 5_000
"""Characters; a longer text is reported and left out, unless the options say otherwise."""

LONGEST_CELL = 100_000
"""Characters; a longer cell of a table or line of text means that the format was detected wrongly,
and stops the reading."""

LONGEST_RECORD = 1_000_000
"""Characters in all cells of one row together; memory never holds more of a file."""

SEPARATOR = "|"
"""Separates several intents in one cell by default."""

JOINED = "+"
"""Joins the names of several intents in one of Rasa."""

NO_INTENT = "|"
"""The cell for "no intent fits" where a cell holds one intent; a blank cell is unlabelled."""

LANGUAGE_CODE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")
"""Code of a language, which may stand in the name of a file."""

TEXT_NAMES = (
    *("text", "utterance", "example", "sentence", "query", "phrase", "question", "message"),
    *("texts", "utterances", "examples", "sentences", "queries", "phrases", "questions"),
    *("messages", "user message", "user_message", "content", "input"),
)
INTENT_NAMES = ("intent", "intents", "label", "labels", "category", "class")
SPLIT_NAMES = ("split",)
ID_NAMES = ("id",)
SYNTHETIC_NAMES = ("synthetic",)


@dataclass(frozen=True, slots=True)
class ImportedRow:
    """One utterance of a file, character for character.

    Attributes:
        intents: The label: None is unlabelled, an empty tuple means that no intent fits.
        line: First line of the row in the file, from 1.
        slots: Values marked in the text, where the options ask for them.
        synthetic: Id of the utterance whose template it fills; empty if not synthetic.
        language: Code of its language, such as `en`; empty where the file says none.
        kept: What else the file says of it, by format: a JSON object; empty for nothing.
        validation: Whether the file has it in a set for validation, which is no split here.
    """

    text: str
    intents: tuple[str, ...] | None = None
    split: Split | None = None
    id: str | None = None
    line: int = 0
    slots: tuple[Slot, ...] = ()
    synthetic: str = ""
    language: str = ""
    kept: str = ""
    validation: bool = False


@dataclass(frozen=True, slots=True)
class RowProblem:
    """A row that is left out, while the rest of the file is read.

    `empty` has no text, `too-long` more text than the options allow; `line` counts from 1.
    """

    line: int
    kind: Literal["empty", "too-long"]
    message: str


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read a file; what is None is detected.

    Attributes:
        format: `auto` detects by the ending of the name, then by the content.
        text_column: Name of the text's column or key; without a header its number, from 1.
        intent_column: The same of the intent's; empty reads every row as unlabelled.
        separator: Separates several intents in one cell; None reads a cell as one intent.
        default_split: Split of the rows for which the file names none.
        split_column: Name of the split's column or key; without a header its number. None finds it
            by its name and its cells; empty reads none.
        slots: Whether to read the values marked in JSONL or Rasa.
        several: Whether a text may have several intents; then Rasa's `a+b` is both, if both exist.
        sheet: Sheet of an Excel workbook; None is the first with rows.
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
    several: bool = False
    sheet: str | None = None
    split_column: str | None = None


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A place in a file, for messages; row and column count from 1, None is no column."""

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
    """Return the error for a cell that is too long to be an utterance."""
    return InvalidInput(
        f"{place}: a cell of more than {limit:,} characters.",
        "A text is a sentence or two. Is a closing quote or a line end missing here?",
    )


def refuse_long(place: FilePlace, values: Collection[object]) -> None:
    """Refuse a row of texts that a small file holds once and gives to many cells."""
    lengths = [len(value) if isinstance(value, str) else 0 for value in values]
    longest = max(lengths, default=0)
    if longest > LONGEST_CELL:
        raise too_long_cell(FilePlace(place.path, place.row, lengths.index(longest) + 1))
    if sum(lengths) > LONGEST_RECORD:
        raise too_long_row(place)


def too_long_row(place: FilePlace) -> InvalidInput:
    """Return the error for a row of over `LONGEST_RECORD` characters."""
    fault = f"{place}: a row of more than {LONGEST_RECORD:,} characters."
    return InvalidInput(fault, "Leave out the columns that are not needed.")


def unreadable_line(place: FilePlace, fault: tuple[int, str, str]) -> InvalidInput:
    """Return the error for a character, as `unreadable` returns it, that text cannot hold."""
    at, what, hint = fault
    return InvalidInput(f"{place}: {what}, at character {at + 1}.", hint)


def check_characters(place: FilePlace, text: str) -> None:
    """Refuse NUL and halves of surrogate pairs, which JSON can escape but text cannot hold."""
    if match := NO_CHARACTER.search(text):
        fault = "a NUL character" if match.group() == "\0" else "half of a character (a surrogate)"
        raise InvalidInput(f"{place}: {fault}, at character {match.start() + 1}.", "Remove it.")


def accept(row: ImportedRow, place: FilePlace, longest: int) -> ImportedRow | RowProblem:
    """Return the row, or the problem with its text."""
    if is_blank(row.text):
        return RowProblem(row.line, "empty", f"{place}: the text is empty.")
    if len(row.text) > longest:
        message = f"{place}: a text of {len(row.text):,} characters; at most {longest:,} are read."
        return RowProblem(row.line, "too-long", message)
    return row


class NamesCell(str):
    """A cell of several names that the file keeps apart, so that no separator has to part them."""

    __slots__ = ("names",)
    names: tuple[str, ...]

    def __new__(cls, names: Sequence[str]) -> "NamesCell":
        """Make the cell; without a name it is `NO_INTENT`."""
        cell = super().__new__(cls, SEPARATOR.join(names) or NO_INTENT)
        cell.names = _each_once(names)
        return cell


def _each_once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in names if name.strip()))


def split_intents(cell: str, separator: str | None) -> tuple[str, ...] | None:
    """Read a cell of intents; a blank cell is unlabelled, separators alone mean no intent."""
    if not cell.strip():
        return None
    if isinstance(cell, NamesCell):
        return cell.names
    if separator is None:
        return () if cell.strip() == NO_INTENT else (cell.strip(),)
    return _each_once(cell.split(separator))


def parts_of(name: str, known: Collection[str]) -> tuple[str, ...]:
    """Return the intents that a name such as Rasa's `a+b` joins; itself, unless all are known."""
    parts = tuple(dict.fromkeys(name.split(JOINED)))
    return parts if len(parts) > 1 and all(part in known for part in parts) else (name,)


SPLITS: dict[str, Split] = {
    "train": "train",
    "training": "train",
    "test": "test",
    "testing": "test",
    "eval": "test",
    "evaluation": "test",
    "heldout": "test",
    "held-out": "test",
    "holdout": "test",
    "pool": "pool",
    "unsupervised": "pool",
}
"""Split by what files call it, in small letters."""

VALIDATION = frozenset({"validation", "valid", "val", "dev", "development"})
"""What files call a set on which settings are chosen. Here that is done by cross-validation on the
training texts, so its rows are read like those without a split."""


def is_validation(cell: str) -> bool:
    """Whether a cell names a set for validation."""
    return cell.strip().lower() in VALIDATION


def read_split(cell: str, place: FilePlace, default: Split | None) -> Split | None:
    """Read the name of a split; a blank cell, and a set for validation, take the default.

    Raises:
        InvalidInput: There is no split of that name.
    """
    name = cell.strip().lower()
    if not name or name in VALIDATION:
        return default
    if name not in SPLITS:
        raise InvalidInput(
            f"{place}: '{cell.strip()[:40]}' is not a split.",
            "Splits are train (examples), test (test texts) and pool (unlabelled); leave the cell "
            "empty for none, or say that no column holds the split.",
        )
    return SPLITS[name]


def cell_text(value: object) -> str:
    """Write a typed value of a table as the text of a cell; "" for a missing one."""
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case float() if value.is_integer():
            return str(int(value))
        case _:
            return str(value)
