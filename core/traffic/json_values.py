"""JSON values of a file: one document, a list of them, or one on each line; gzipped or not."""

import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from core.errors import InvalidInput
from core.formats.gzipped import open_text
from core.formats.rows import FilePlace
from core.platforms.json_places import MOST_VALUES, n_values

LONGEST_VALUE = 50_000_000
"""Characters of one line: a whole conversation with all that a program noted beside it."""

LONGEST_DOCUMENT = 200_000_000
"""Characters of a document over several lines, which the memory holds as a whole."""

ENDINGS = (".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz", ".ndjson.gz")


def read_objects(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a file in order; one on each line is read line by line.

    A file with another ending, or that does not begin as JSON, has none.

    Raises:
        InvalidInput: The file cannot be read, is JSON that breaks off, or holds too much; the line
            is named.
    """
    if not path.name.lower().endswith(ENDINGS):
        return
    try:
        with open_text(path) as stream:
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
        place = FilePlace(path, number)
        if len(line) > LONGEST_VALUE:
            raise _too_much(place, f"a line of over {LONGEST_VALUE:,} characters")
        if not line.strip():
            continue
        try:
            value = _loaded(place, line)
        except (ValueError, RecursionError) as error:
            if number > 1 or line.lstrip()[0] not in "[{":
                raise _broken(place) from error
            yield from _document(path, line + stream.read(LONGEST_DOCUMENT))
            return
        yield from value if isinstance(value, list) else [value]


def _document(path: Path, text: str) -> list[object]:
    """Return what a document over several lines holds."""
    place = FilePlace(path, 1)
    if len(text) > LONGEST_DOCUMENT:
        raise _too_much(place, f"a document of over {LONGEST_DOCUMENT:,} characters")
    try:
        value = _loaded(place, text)
    except (ValueError, RecursionError) as error:
        raise _broken(place) from error
    return value if isinstance(value, list) else [value]


def _loaded(place: FilePlace, text: str) -> Any:
    if len(text) > MOST_VALUES and n_values(text) > MOST_VALUES:
        raise _too_much(place, f"over {MOST_VALUES:,} values")
    return json.loads(text)


def _too_much(place: FilePlace, what: str) -> InvalidInput:
    return InvalidInput(f"{place}: {what}.", "Write one conversation on each line.")


def _broken(place: FilePlace) -> InvalidInput:
    return InvalidInput(
        f"{place}: not JSON.", "Was the file cut off? Export it again, or leave this line out."
    )
