"""Write utterances so that reading them gives back the same."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from core.errors import InvalidInput
from core.formats.rows import Format, Row

SEPARATOR = "|"
_ENDINGS: dict[str, Format] = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".txt": "text"}
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def format_of(path: Path, asked: Format) -> Format:
    """Return the format to write, by the name's ending where it was not said.

    Raises:
        InvalidInput: The ending says nothing.
    """
    found = asked if asked != "auto" else _ENDINGS.get(path.suffix.lower())
    if found is None:
        raise InvalidInput(
            f"'{path.name}' does not say in which format to write.",
            "End it with .csv, .tsv, .jsonl or .txt, or use --format.",
        )
    return found


def encode_rows(rows: Iterable[Row], kind: Format) -> Iterator[bytes]:
    """Write rows as UTF-8 with LF line ends; equal rows give equal bytes.

    `spreadsheet` is a CSV whose cells no spreadsheet takes for a formula; it is for looking at.
    """
    if kind == "jsonl":
        return (_json_line(row) for row in rows)
    if kind == "text":
        return (" ".join(row.text.split()).encode() + b"\n" for row in rows)
    return _delimited(rows, "\t" if kind == "tsv" else ",", safe=kind == "spreadsheet")


def _json_line(row: Row) -> bytes:
    value: dict[str, object] = {"id": row.id, "text": row.text}
    if row.intents is not None:
        value["intents"] = list(row.intents)
    value["split"] = row.split
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


def _delimited(rows: Iterable[Row], delimiter: str, *, safe: bool) -> Iterator[bytes]:
    yield delimiter.join(("id", "text", "intent", "split")).encode() + b"\n"
    for row in rows:
        cells = (row.id or "", row.text, SEPARATOR.join(row.intents or ()), row.split or "")
        buffer = io.StringIO()
        writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
        writer.writerow([_defused(cell) for cell in cells] if safe else cells)
        yield buffer.getvalue().encode()


def _defused(cell: str) -> str:
    return "'" + cell if cell.startswith(_FORMULA) else cell
