"""JSON with the place of each value, so that one is changed and every other character stays.

The standard library's parser gives no places, and libraries that write JSON again keep neither
white space nor escapes. Strings are still read by the standard library.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from json import JSONDecodeError
from json.decoder import scanstring  # type: ignore[attr-defined]  # typeshed leaves it out
from sys import intern
from typing import Any, TypeAlias, cast

from core.errors import InvalidInput

_SPACE = re.compile(r"[ \t\r\n]*")
_COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
_PLAIN_KEY = re.compile(r'"([^"\\\x00-\x1f]*+)"[ \t\r\n]*+:[ \t\r\n]*+')
_NEXT = re.compile(r"[ \t\r\n]*([,\]}])[ \t\r\n]*")
_SCALAR = re.compile(r"true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?")
_WORDS = {"true": True, "false": False, "null": None}
_DEEPEST = 100

MOST_VALUES = 10_000_000
"""Of documents in memory, a value of which takes 200 bytes; an app of 50 MB has half as many."""

Value: TypeAlias = "str | int | float | bool | list[Node] | dict[str, Node] | None"


@dataclass(slots=True, eq=False)
class Node:
    """A value and its place: characters from `start` up to, not including, `end`."""

    start: int
    end: int
    value: Value

    def get(self, key: str) -> "Node | None":
        """Return the value under a key; None where there is none, or this is no object."""
        return self.value.get(key) if isinstance(self.value, dict) else None

    def text(self, key: str) -> str:
        """Return the string under a key; empty where there is none."""
        found = self.get(key)
        return found.value if found is not None and isinstance(found.value, str) else ""

    def number(self, key: str) -> int:
        """Return the whole number under a key; -1 where there is none."""
        found = self.get(key)
        value = None if found is None else found.value
        return value if isinstance(value, int) and not isinstance(value, bool) else -1

    def is_true(self, key: str) -> bool:
        """Whether `true` stands under a key."""
        found = self.get(key)
        return found is not None and found.value is True

    def array(self, key: str) -> "Node | None":
        """Return the array under a key; None where there is none."""
        found = self.get(key)
        return found if found is not None and isinstance(found.value, list) else None

    @property
    def items(self) -> "list[Node]":
        """The elements of an array; none where this is no array."""
        return self.value if isinstance(self.value, list) else []

    def under(self, key: str) -> "list[Node]":
        """Return the elements of the array under a key."""
        found = self.get(key)
        return [] if found is None else found.items

    def fields(self, known: Collection[str]) -> dict[str, Any] | None:
        """Return the plain values of an object's keys that are not known; None for none."""
        if not isinstance(self.value, dict):
            return None
        found = {key: one.plain() for key, one in self.value.items() if key not in known}
        return found or None

    def plain(self) -> Any:
        """Return the value without places."""
        match self.value:
            case dict() as values:
                return {key: one.plain() for key, one in values.items()}
            case list() as items:
                return [one.plain() for one in items]
            case _:
                return self.value

    def strings(self, key: str) -> tuple[str, ...]:
        """Return the strings of the array under a key."""
        return tuple(one.value for one in self.under(key) if isinstance(one.value, str))


def n_values(text: str) -> int:
    """Return how many values a document can have at most, without reading it."""
    return 1 + sum(map(text.count, "[{,"))


def require_few_values(text: str, name: str, before: int = 0) -> int:
    """Return how many values a document has at most, with those of others `before` it.

    Raises:
        InvalidInput: They are too many for the memory.
    """
    n = before + n_values(text)
    if n > MOST_VALUES:
        raise InvalidInput(f"{name} holds over {MOST_VALUES:,} values.", "Export a smaller part.")
    return n


def parse(text: str, name: str) -> Node:
    """Parse a document; `name` is the file's, for messages.

    Raises:
        InvalidInput: It is no JSON, an object has a key twice, or it is nested too deeply.
    """
    try:
        node = _value(text, _space(text, 0), 0)
        _refuse_more(text, _space(text, node.end))
    except JSONDecodeError as error:
        raise InvalidInput(
            f"{name}, line {error.lineno}, column {error.colno}: no JSON ({error.msg}).",
            "Export it again from the platform, and leave it as it is.",
        ) from error
    return node


def _refuse_more(text: str, end: int) -> None:
    if end != len(text):
        raise JSONDecodeError("more follows the value", text, end)


def _space(text: str, at: int) -> int:
    return cast("re.Match[str]", _SPACE.match(text, at)).end()


def _value(text: str, at: int, depth: int) -> Node:
    sign = text[at : at + 1]
    if sign == '"':
        value, end = scanstring(text, at + 1)
        return Node(at, end, value)
    if depth > _DEEPEST:
        raise JSONDecodeError("nested too deeply", text, at)
    if sign == "{":
        return _object(text, at, depth)
    if sign == "[":
        return _array(text, at, depth)
    found = _SCALAR.match(text, at)
    if found is None:
        raise JSONDecodeError("a value is missing", text, at)
    word = found.group()
    if word in _WORDS:
        return Node(at, found.end(), _WORDS[word])
    is_whole = not any(sign in word for sign in ".eE") and len(word) < 20
    return Node(at, found.end(), int(word) if is_whole else float(word))


def _object(text: str, start: int, depth: int) -> Node:
    values: dict[str, Node] = {}
    at = _space(text, start + 1)
    if text[at : at + 1] == "}":
        return Node(start, at + 1, values)
    while True:
        key, place = _key(text, at)
        if key in values:
            raise JSONDecodeError(f"the key {key!r} occurs twice", text, at)
        value = values[key] = _value(text, place, depth + 1)
        if (follows := _NEXT.match(text, value.end)) is None:
            raise JSONDecodeError("',' is missing", text, _space(text, value.end))
        sign = follows[1]
        if sign == "}":
            return Node(start, follows.end(1), values)
        if sign != ",":
            raise JSONDecodeError("',' is missing", text, follows.start(1))
        at = follows.end()


def _key(text: str, at: int) -> tuple[str, int]:
    """Return a key, of which equal ones are one string, and the place of its value."""
    if (found := _PLAIN_KEY.match(text, at)) is not None:
        return intern(found[1]), found.end()
    if text[at : at + 1] != '"':
        raise JSONDecodeError("a key is missing", text, at)
    key, end = scanstring(text, at + 1)
    if (colon := _COLON.match(text, end)) is None:
        raise JSONDecodeError("':' is missing", text, _space(text, end))
    return key, colon.end()


def _array(text: str, start: int, depth: int) -> Node:
    items: list[Node] = []
    at = _space(text, start + 1)
    if text[at : at + 1] == "]":
        return Node(start, at + 1, items)
    while True:
        item = _value(text, at, depth + 1)
        items.append(item)
        if (follows := _NEXT.match(text, item.end)) is None:
            raise JSONDecodeError("',' is missing", text, _space(text, item.end))
        sign = follows[1]
        if sign == "]":
            return Node(start, follows.end(1), items)
        if sign != ",":
            raise JSONDecodeError("',' is missing", text, follows.start(1))
        at = follows.end()
