"""Read JSON item by item: the elements of a long array, or an object a line, or one document."""

import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NoReturn

from core.errors import InvalidInput
from core.formats.rows import LONGEST_RECORD
from core.platforms.json_places import require_few_values
from core.platforms.packages import Package

LONGEST_ITEM = 16 << 20
"""Characters of one element of an array; of a route with all its phrases, for example."""

_CHUNK = 64 << 10
_BETWEEN = re.compile(r"[ \t\r\n]*")
_AGAIN = "Export it again from the tool, and leave it as it is."


class _TwiceError(ValueError):
    """An object has a key twice."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = next(key for key, n in counts.items() if n > 1)
        raise _TwiceError(f"the key {twice[:60]!r} occurs twice")
    return value


def _no_number(word: str) -> NoReturn:
    raise _TwiceError(f"{word} is no number of JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_number)


def json_items(package: Package, name: str) -> Iterator[tuple[int, Any]]:
    """Yield the elements of an array, or the objects of a file that has one a line, from 1.

    Elements are numbered, lines bear their number. Memory holds one piece of the file.

    Raises:
        InvalidInput: It is no JSON, not in UTF-8, has a key twice, or is nested too deeply.
    """
    with package.stream(name) as raw, io.TextIOWrapper(raw, "utf-8-sig", newline="") as stream:
        try:
            start = stream.read(_CHUNK)
            if start.lstrip().startswith("["):
                yield from _elements(stream, start, name)
                return
            yield from _lines(stream, start, name)
        except UnicodeDecodeError as error:
            raise not_utf8(name, error) from error


def json_document(package: Package, name: str) -> Any:
    """Return the value of a file.

    Raises:
        InvalidInput: As `json_items`, or it holds too many values.
    """
    try:
        text = package.files[name].decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise not_utf8(name, error) from error
    require_few_values(text, name)
    value, end = _decoded(text, _after_space(text, 0), name, "")
    if _after_space(text, end) != len(text):
        raise _no_json(name, "", "more follows the value")
    return value


def first_item(package: Package, name: str) -> Any:
    """Return the first element or line of a file; None if it has none that can be read."""
    try:
        return next((value for _, value in json_items(package, name)), None)
    except InvalidInput:
        return None


def not_utf8(name: str, error: UnicodeDecodeError) -> InvalidInput:
    """Return the error for a file in another encoding."""
    return InvalidInput(f"{name} is not UTF-8 (byte 0x{error.object[error.start]:02X}).", _AGAIN)


def _lines(stream: io.TextIOWrapper, start: str, name: str) -> Iterator[tuple[int, Any]]:
    rest, number = start, 0
    while rest:
        *lines, rest = rest.split("\n")
        more = stream.read(_CHUNK)
        if not more:
            lines, rest = [*lines, rest], ""
        if len(rest) > LONGEST_ITEM:
            raise _no_json(name, f", row {number + len(lines) + 1}", "a line without an end")
        for line in lines:
            number += 1
            if line.strip():
                yield number, _line(line, name, number)
        rest += more


def _line(line: str, name: str, number: int) -> Any:
    where = f", row {number}"
    if len(line) > LONGEST_RECORD:
        raise _no_json(name, where, f"over {LONGEST_RECORD:,} characters")
    value, end = _decoded(line, _after_space(line, 0), name, where)
    if _after_space(line, end) != len(line):
        raise _no_json(name, where, "more follows the object")
    return value


def _elements(stream: io.TextIOWrapper, buffer: str, name: str) -> Iterator[tuple[int, Any]]:
    at, number = _after_space(buffer, buffer.index("[") + 1), 0
    if buffer[at : at + 1] == "]":
        _refuse_more(buffer[at + 1 :] + stream.read(_CHUNK), name)
        return
    while True:
        number += 1
        value, buffer, at = _element(stream, buffer, at, name, f", row {number}")
        yield number, value
        if buffer[at] == "]":
            _refuse_more(buffer[at + 1 :] + stream.read(_CHUNK), name)
            return
        if buffer[at] != ",":
            raise _no_json(name, f", row {number}", "',' is missing behind it")
        at += 1


def _element(
    stream: io.TextIOWrapper, buffer: str, at: int, name: str, where: str
) -> tuple[Any, str, int]:
    """Return an element, what of the file is read by then, and the place of the sign behind it."""
    size = _CHUNK
    while True:
        at = _after_space(buffer, at)
        fault = _no_json(name, where, "the array does not end")
        try:
            value, end = _decoded(buffer, at, name, where)
            if (end := _after_space(buffer, end)) < len(buffer):
                return value, buffer, end
        except InvalidInput as error:
            fault = error
        # The element may be cut off: read on, by more each time.
        more = stream.read(size) if len(buffer) - at <= LONGEST_ITEM else ""
        if not more:
            raise fault
        buffer, at, size = buffer[at:] + more, 0, size * 2


def _refuse_more(rest: str, name: str) -> None:
    if rest.strip():
        raise _no_json(name, "", "more follows the array")


def _after_space(text: str, at: int) -> int:
    found = _BETWEEN.match(text, at)
    return at if found is None else found.end()


def _decoded(text: str, at: int, name: str, where: str) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise _no_json(name, where, f"{error.msg}, at character {error.pos - at + 1}") from error
    except _TwiceError as error:
        raise _no_json(name, where, str(error)) from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, deep nesting
        raise _no_json(name, where, "a number or a nesting that cannot be read") from error


def _no_json(name: str, where: str, words: str) -> InvalidInput:
    return InvalidInput(f"{name}{where}: no JSON ({words}).", _AGAIN)
