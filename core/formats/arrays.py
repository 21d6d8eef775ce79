"""A JSON array of objects with texts, read as if each stood on a line of its own."""

from collections.abc import Iterator
from pathlib import Path

from core.errors import InvalidInput
from core.formats.jsonl import EXAMPLE, row_of_object
from core.formats.rows import TEXT_NAMES, FilePlace, ImportedRow, ReadOptions, RowProblem
from core.formats.tools.json_items import first_item, json_items
from core.platforms.packages import open_package

_SAMPLE = 64 << 10
_BEFORE = b"\xef\xbb\xbf \t\r\n"


def is_array_of_texts(path: Path, options: ReadOptions) -> bool:
    """Whether a file is a JSON array whose first element is an object with a text."""
    may_be = options.format in ("auto", "jsonl") and path.suffix.lower() == ".json"
    if not may_be or not path.is_file():
        return False
    with path.open("rb") as stream:
        if not stream.read(_SAMPLE).lstrip(_BEFORE).startswith(b"["):
            return False
    first = first_item(open_package(path), path.name)
    wanted = (options.text_column,) if options.text_column else TEXT_NAMES
    return isinstance(first, dict) and not first.keys().isdisjoint(wanted)


def read_array(path: Path, options: ReadOptions) -> Iterator[ImportedRow | RowProblem]:
    """Read the objects of an array as those of JSONL; rows are counted from 1.

    Raises:
        InvalidInput: As `read_jsonl`, or the file is no JSON in UTF-8.
    """
    for number, value in json_items(open_package(path), path.name):
        if not isinstance(value, dict):
            raise InvalidInput(f"{FilePlace(path, number)}: not a JSON object.", EXAMPLE)
        yield row_of_object(path, number, value, options)
