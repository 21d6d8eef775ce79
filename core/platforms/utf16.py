"""Places in a text counted in UTF-16 units, as platforms written for .NET and JavaScript count."""

from bisect import bisect_left
from itertools import accumulate


def to_characters(text: str, *units: int) -> tuple[int, ...]:
    """Convert places in UTF-16 units to places in characters; -1 for one inside a character."""
    if text.isascii():
        return tuple(unit if 0 <= unit <= len(text) else -1 for unit in units)
    starts = _starts(text)
    found = []
    for unit in units:
        at = bisect_left(starts, unit)
        found.append(at if at < len(starts) and starts[at] == unit else -1)
    return tuple(found)


def to_units(text: str, *places: int) -> tuple[int, ...]:
    """Convert places in characters to places in UTF-16 units."""
    starts = _starts(text)
    return tuple(starts[place] for place in places)


def _starts(text: str) -> list[int]:
    return [0, *accumulate(2 if ord(sign) > 0xFFFF else 1 for sign in text)]
