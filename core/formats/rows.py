"""What readers yield and writers take, and how a file is to be read."""

from dataclasses import dataclass
from typing import Literal

from core.types import Split

Format = Literal["auto", "csv", "tsv", "jsonl", "text", "spreadsheet"]

LONGEST_TEXT = 5_000
"""Characters; longer rows are reported and left out."""

LONGEST_CELL = 1_000_000
"""Characters; a longer cell means that the file is not what it seems, and stops the reading."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a file.

    Attributes:
        line: Line of the file that it begins on, from 1.
        text: The utterance.
        intents: Its label; None is unlabelled.
        split: Its split, where the file says so.
        id: Its id, where the file says so.
    """

    line: int
    text: str
    intents: tuple[str, ...] | None = None
    split: Split | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read a file; what is None is found out.

    Attributes:
        format: `auto` goes by the name's ending, then by the content.
        text_column: Header of the column with the text.
        intent_column: Header of the column with the intent.
        separator: What parts several intents in one cell; None takes a cell as one intent.
    """

    format: Format = "auto"
    text_column: str | None = None
    intent_column: str | None = None
    separator: str | None = None
