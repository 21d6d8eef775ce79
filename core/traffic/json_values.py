"""JSON values of a file: one document, a list of them, or one on each line; gzipped or not."""

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from core.errors import InvalidInput
from core.formats.rows import FilePlace

LONGEST_VALUE = 50_000_000
"""Characters of one line: a whole conversation with all that a program noted beside it."""

ENDINGS = (".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz", ".ndjson.gz")


def read_objects(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a file in order; one on each line is read line by line.

    A file with another ending, or that does not begin as JSON, has none.

    Raises:
        InvalidInput: The file cannot be read, or is JSON that breaks off; the line is named.
    """
    if not path.name.lower().endswith(ENDINGS):
        return
    opener = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8-sig") as stream:
            for value in _values(path, stream):
                if isinstance(value, dict):
                    yield value
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} has bytes that are not UTF-8.", "Save it as UTF-8.") from error
    except (OSError, EOFError, zlib.error) as error:
        fault = getattr(error, "strerror", None) or "the archive is damaged"
        raise InvalidInput(f"{path} cannot be read: {fault}.", "Check the path.") from error


def _values(path: Path, stream: TextIO) -> Iterator[object]:
    number = 0
    while line := stream.readline(LONGEST_VALUE + 1):
        number += 1
        if len(line) > LONGEST_VALUE:
            fault = f"{FilePlace(path, number)}: a line of over {LONGEST_VALUE:,} characters."
            raise InvalidInput(fault, "Write one conversation on each line.")
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            if number > 1 or line.lstrip()[0] not in "[{":
                raise _broken(FilePlace(path, number)) from error
            yield from _document(path, line + stream.read())
            return
        yield from value if isinstance(value, list) else [value]


def _document(path: Path, text: str) -> list[object]:
    """Return what a document over several lines holds."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _broken(FilePlace(path, 1)) from error
    return value if isinstance(value, list) else [value]


def _broken(place: FilePlace) -> InvalidInput:
    return InvalidInput(
        f"{place}: not JSON.", "Was the file cut off? Export it again, or leave this line out."
    )
