"""Write utterances; the same rows give the same bytes, and reading them returns the rows."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from core.errors import InvalidInput
from core.files import write_atomically
from core.formats.rasa import rasa_lines
from core.formats.rows import NO_INTENT, ImportedRow, TableFormat, WriteFormat
from core.templates.slots import Slot

COLUMNS = ("id", "text", "intent", "split")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\0")


def write_rows(
    path: Path, rows: Iterable[ImportedRow], format: WriteFormat, separator: str | None = None
) -> None:
    """Write rows as UTF-8 with LF line ends, replacing the file atomically.

    `jsonl` loses nothing; `csv` and `tsv` lose the slots. `text` keeps only texts, each on one
    line; `rasa` keeps labelled rows with their slots, grouped by intent. `spreadsheet` is a CSV for
    viewing: an apostrophe before a cell stops it being read as a formula (OWASP ASVS 1.2.10).
    `separator` joins several intents in one cell; None allows one intent.

    Raises:
        InvalidInput: The file cannot be written, or a label does not fit into a cell.
    """
    write_atomically(path, encode_rows(rows, format, separator))


def encode_rows(
    rows: Iterable[ImportedRow], format: WriteFormat, separator: str | None = None
) -> Iterator[bytes]:
    """Yield the bytes that `write_rows` writes, for a download or a digest.

    Raises:
        InvalidInput: A label does not fit into a cell, or a text has half a surrogate pair.
    """
    if format == "jsonl":
        return _encoded(_json_line(row) for row in rows)
    if format == "rasa":
        labelled = ((_label(row, separator), row) for row in rows if row.intents)
        return _encoded(rasa_lines(labelled))
    if format == "text":
        return _encoded(re.sub(r"[\r\n]+", " ", row.text) + "\n" for row in rows)
    return _encoded(_labelled_lines(rows, format, separator))


def encode_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], format: TableFormat
) -> Iterator[bytes]:
    """Yield the bytes of a table with other columns, row by row, its cells as `encode_rows` does.

    Raises:
        InvalidInput: A cell has half a surrogate pair.
    """
    return _encoded(_table_lines(head, rows, format))


def _encoded(pieces: Iterable[str]) -> Iterator[bytes]:
    for piece in pieces:
        try:
            yield piece.encode()
        except UnicodeEncodeError as error:
            raise InvalidInput(
                f"The row {piece.strip()[:80]!r} has half of a character (a surrogate).",
                "Edit the text, then export again.",
            ) from error


def _json_line(row: ImportedRow) -> str:
    value: dict[str, object] = {"text": row.text}
    if row.id is not None:
        value = {"id": row.id, **value}
    if row.intents is not None:
        value["intents"] = list(row.intents)
    if row.split is not None:
        value["split"] = row.split
    if row.slots:
        value["slots"] = [_slot_object(row.text, slot) for slot in row.slots]
    if row.synthetic:
        value["synthetic"] = row.synthetic
    if row.language:
        value["language"] = row.language
    if row.kept:
        value["kept"] = json.loads(row.kept)
    return json.dumps(value, ensure_ascii=False) + "\n"


def _slot_object(text: str, slot: Slot) -> dict[str, object]:
    value = text[slot.start : slot.end]
    return {"slot": slot.name, "value": value, "start": slot.start, "end": slot.end}


def _labelled_lines(
    rows: Iterable[ImportedRow], format: TableFormat, separator: str | None
) -> Iterator[str]:
    rows = list(rows)
    marked = any(row.synthetic for row in rows)  # a column that most projects need not see
    head = (*COLUMNS, "synthetic") if marked else COLUMNS
    every = (
        (row.id or "", row.text, _label(row, separator), row.split or "", row.synthetic)
        for row in rows
    )
    yield from _table_lines(head, (cells[: len(head)] for cells in every), format)


def _table_lines(
    head: Sequence[str], rows: Iterable[Sequence[str]], format: TableFormat
) -> Iterator[str]:
    delimiter = "\t" if format == "tsv" else ","
    change = defused if format == "spreadsheet" else str
    yield delimiter.join(head) + "\n"
    # The standard writer leaves a lone carriage return bare, so it is not used.
    special = re.compile(f'["\r\n{delimiter}]|^ | $')
    for row in rows:
        yield delimiter.join(_cell(change(cell), special) for cell in row) + "\n"


def _cell(content: str, special: re.Pattern[str]) -> str:
    if not special.search(content):
        return content
    return '"' + content.replace('"', '""') + '"'


def _label(row: ImportedRow, separator: str | None) -> str:
    """Join the intents of a row into one cell; "no intent" is not blank."""
    if row.intents is None:
        return ""
    if separator is None:
        if len(row.intents) > 1:
            raise InvalidInput(
                f"'{row.text[:80]}' has {len(row.intents)} intents, and a cell holds one.",
                "Choose a separator such as '|', or the format JSONL.",
            )
        if NO_INTENT in row.intents:
            raise InvalidInput(
                f"An intent named '{NO_INTENT}' looks like a label without intent.",
                "Rename it, or choose the format JSONL.",
            )
        return row.intents[0] if row.intents else NO_INTENT
    for name in row.intents:
        if separator in name:
            raise InvalidInput(
                f"The intent '{name}' has the separator '{separator}' in its name.",
                "Choose another separator, or the format JSONL.",
            )
    return separator.join(row.intents) or separator


def defused(cell: str) -> str:
    """Return a cell that no spreadsheet computes: an apostrophe stands before a formula."""
    return "'" + cell if cell.startswith(_FORMULA) else cell
