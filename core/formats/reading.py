"""Read any file of utterances that the studio knows."""

from collections.abc import Iterator
from pathlib import Path

from core.formats.decoding import find_encoding, lines
from core.formats.delimited import read_delimited
from core.formats.jsonl import read_jsonl
from core.formats.rows import Format, ReadOptions, Row

_ENDINGS: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".txt": "text",
}


def read_rows(path: Path, options: ReadOptions | None = None) -> Iterator[Row]:
    """Stream a file's rows; memory does not grow with the file.

    Raises:
        InvalidInput: The file or one of its rows cannot be read; row and column are named.
    """
    chosen = options or ReadOptions()
    kind = chosen.format if chosen.format != "auto" else _ENDINGS.get(path.suffix.lower())
    if kind is None:
        kind = _by_content(path)
    if kind == "jsonl":
        return read_jsonl(path, chosen)
    if kind == "text":
        return _read_plain(path)
    return read_delimited(path, ReadOptions(kind, *_columns(chosen)))


def _columns(options: ReadOptions) -> tuple[str | None, str | None, str | None]:
    return options.text_column, options.intent_column, options.separator


def _by_content(path: Path) -> Format:
    first = next(lines(path, find_encoding(path)), "")
    if first.lstrip().startswith("{"):
        return "jsonl"
    return "csv" if any(sign in first for sign in ",;\t|") else "text"


def _read_plain(path: Path) -> Iterator[Row]:
    for line, content in enumerate(lines(path, find_encoding(path)), start=1):
        if content.strip():
            yield Row(line, content.rstrip("\r\n"))
