"""What tools answer: JSON of a limited size, and a cursor to what follows."""

import base64
import binascii
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from core.errors import InvalidInput

MOST_BYTES = 7_500
"""UTF-8 of one answer, which is fewer than 4,000 tokens: JSON with ids has about two bytes each."""
_ROOM_FOR_CURSOR = 100
_LONGEST = 240
"""Bytes of a text that is shown."""

_Item = TypeVar("_Item")


def written(value: object) -> str:
    """Write an answer as compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def size_of(value: object) -> int:
    """Return the bytes of an answer in UTF-8."""
    return len(written(value).encode())


def shown(text: str) -> str:
    """Return a text, or the beginning of a long one."""
    cut = text.encode()[:_LONGEST].decode(errors="ignore")
    return text if cut == text else f"{cut.rstrip()} …"


def paged(
    head: dict[str, Any], name: str, items: Sequence[dict[str, Any]], start: int, total: int
) -> dict[str, Any]:
    """Return an answer with as many items as fit, and `next` where there are more.

    `items` begin at place `start` of `total`; at least one is shown.
    """
    answer = {"total": total, **head}
    room = MOST_BYTES - _ROOM_FOR_CURSOR - size_of(answer)
    fitting = list[dict[str, Any]]()
    for item in items:
        room -= size_of(item) + 1
        if room < 0 and fitting:
            break
        fitting.append(item)
    answer[name] = fitting
    if start + len(fitting) < total and fitting:
        answer["next"] = cursor_of(start + len(fitting))
    return answer


def shortened(make: Callable[[int], dict[str, Any]], most: Iterable[int]) -> dict[str, Any]:
    """Return the first answer that fits, made with fewer and fewer items of each list."""
    answer = dict[str, Any]()
    for n in most:
        answer = make(n)
        if size_of(answer) <= MOST_BYTES:
            break
    return answer


def cursor_of(place: int) -> str:
    """Return the cursor to the items from a place on."""
    return base64.urlsafe_b64encode(f"from {place}".encode()).decode().rstrip("=")


def place_of(cursor: str) -> int:
    """Return the place that a cursor names; "" is the beginning.

    Raises:
        InvalidInput: No tool gave this cursor.
    """
    if not cursor:
        return 0
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        word, _, number = base64.urlsafe_b64decode(padded).decode("ascii").partition(" ")
        if word == "from" and number.isdecimal() and len(number) < 10:
            return int(number)
    except (binascii.Error, UnicodeError, ValueError):
        pass
    raise InvalidInput(
        f"'{cursor[:40]}' is no cursor.", "Give `next` of the answer before, or leave it out."
    )


def without_empty(value: dict[str, Any]) -> dict[str, Any]:
    """Leave out what says nothing: None, "", and empty lists and objects."""
    return {key: one for key, one in value.items() if one not in (None, "", [], (), {})}
