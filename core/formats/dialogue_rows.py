"""Read the lines of a conversation log, or the rows of each conversation."""

import csv
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path

from core.errors import InvalidInput
from core.formats.gzipped import open_text
from core.formats.rows import LONGEST_RECORD, FilePlace, too_long_cell

LONGEST_CONVERSATION = 10_000
"""Turns. A longer conversation means that the id column was recognised wrongly."""

_NAMES = {
    "conversation": ("conversation_id", "conversation", "dialogue_id", "dialogue", "id"),
    "turn": ("turn", "turn_id", "turn_number", "position"),
    "speaker": ("speaker", "role", "author"),
    "text": ("text", "utterance", "message", "content"),
}
_COLUMNS = "Name the columns conversation id, turn, speaker and text in the first row."
_NO_LOG = (
    "A log of conversations names the columns conversation id, turn, speaker and text in its first "
    "row. Single messages are not a log: import them as texts."
)


def log_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Stream the lines of a UTF-8 file, gzipped or not, each with its number from 1.

    Raises:
        InvalidInput: The file cannot be read, is not UTF-8, unpacks to too much, or has a line over
            `LONGEST_RECORD`.
    """
    number = 0
    try:
        with open_text(path, newline="") as stream:
            while line := stream.readline(LONGEST_RECORD + 1):
                number += 1
                if len(line) > LONGEST_RECORD:
                    raise too_long_cell(FilePlace(path, number), LONGEST_RECORD)
                yield number, line
    except UnicodeDecodeError as error:
        fault = f"{path}, after row {number}: bytes that are not UTF-8."
        raise InvalidInput(fault, "Save it as UTF-8.") from error
    except (OSError, EOFError, zlib.error) as error:
        fault = getattr(error, "strerror", None) or "the archive is damaged"
        raise InvalidInput(f"{path} cannot be read: {fault}.", "Check the path.") from error


@dataclass(frozen=True, slots=True)
class _Row:
    conversation: str
    turn: float
    speaker: str
    text: str


def conversation_rows(path: Path) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Stream the conversations of a table: id, then speaker and text of each turn in order.

    The rows of a conversation must be adjacent; an id that recurs later starts a new conversation.

    Raises:
        InvalidInput: A column is missing, or a row cannot be read.
    """
    for name, rows in groupby(_rows(path), key=lambda row: row.conversation):
        kept = list(islice(rows, LONGEST_CONVERSATION + 1))
        if len(kept) > LONGEST_CONVERSATION:
            fault = f"{path}: conversation '{name[:40]}' has over {LONGEST_CONVERSATION:,} turns."
            raise InvalidInput(fault, "Is this column the conversation's id?")
        ordered = sorted(kept, key=lambda row: row.turn)
        yield name, [(row.speaker, row.text) for row in ordered]


def _rows(path: Path) -> Iterator[_Row]:
    delimiter = "\t" if ".tsv" in path.name.lower() else ","
    reader = csv.reader((line for _, line in log_lines(path)), delimiter=delimiter)
    columns: dict[str, int] | None = None
    try:
        for cells in reader:
            if columns is None:
                columns = _columns(cells, path)
            elif cells:
                yield _row(cells, columns, FilePlace(path, reader.line_num))
    except csv.Error as error:
        place = FilePlace(path, reader.line_num)
        raise InvalidInput(f"{place}: {error}.", "Check the quotes of this row.") from error


def _columns(cells: list[str], path: Path) -> dict[str, int]:
    names = [cell.strip().lower().replace(" ", "_") for cell in cells]
    columns = {
        kind: names.index(next(name for name in accepted if name in names))
        for kind, accepted in _NAMES.items()
        if set(accepted) & set(names)
    }
    missing = [kind for kind in ("conversation", "text") if kind not in columns]
    if missing:
        raise InvalidInput(f"{path}: there is no column '{missing[0]}'.", _NO_LOG)
    return columns


def _row(cells: list[str], columns: dict[str, int], place: FilePlace) -> _Row:
    if len(cells) <= max(columns.values()):
        raise InvalidInput(f"{place}: the row has {len(cells)} columns.", _COLUMNS)
    turn = cells[columns["turn"]].strip() if "turn" in columns else ""
    try:
        order = float(turn) if turn else 0.0
    except ValueError as error:
        raise InvalidInput(f"{place}: the turn '{turn}' is no number.", _COLUMNS) from error
    speaker = cells[columns["speaker"]] if "speaker" in columns else ""
    return _Row(cells[columns["conversation"]], order, speaker, cells[columns["text"]])
