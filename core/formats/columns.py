"""Guess from the cells of a table whether its first row names the columns, and what these hold."""

import re
from collections.abc import Sequence
from typing import TypeAlias

Rows: TypeAlias = Sequence[Sequence[str]]
"""Rows of cells; the first may name the columns."""

_INTENT_WORDS = frozenset(
    {"intent", "intents", "intention", "label", "labels", "topic", "topics", "category"}
    | {"categories", "class", "theme", "tag", "tags"}
)
_LONGEST_NAME = 4
"""Words of a column's name."""
_ENOUGH_ROWS = 20
_RECURRING = 0.95
_CLEARLY_LONGER = 1.5
_SHORTEST_TEXTS = 6.0
"""Characters of a text on average."""
_WORD = re.compile(r"[^\W\d_]+")
# Both look ahead for a digit once: without that, and anchors, 10,000 digits or spaces took seconds.
_NUMBER = re.compile(r"\A(?=\D*\d)[\d.,:/\s+-]+\Z")
_CODE = re.compile(r"\A(?=\D*\d)\S+\Z")
"""A number, a date, or an id: one piece with a digit."""


def names_columns(rows: Rows) -> bool:
    """Whether the first of these rows can only be the names of the columns.

    Its cells are short, unlike each other, and unlike all cells below them. Besides, one of them
    speaks of intents, or stands over numbers, or over cells that all recur.
    """
    header, below = rows[0], rows[1:]
    filled = [cell.strip() for cell in header if cell.strip()]
    if len(filled) < 2 or len(set(filled)) < len(filled) or not below:
        return False
    if any(len(name.split()) > _LONGEST_NAME or _NUMBER.fullmatch(name) for name in filled):
        return False
    columns = [_column(below, place) for place in range(len(header))]
    if any(name.strip() in cells for name, cells in zip(header, columns, strict=True) if name):
        return False
    return any(
        bool(name.strip()) and (_speaks_of_intents(name) or _is_numbers(cells) or _recurs(cells))
        for name, cells in zip(header, columns, strict=True)
    )


def intent_column(header: Sequence[str], taken: Sequence[int | None]) -> int | None:
    """Return the first column whose name speaks of intents and that is not taken."""
    free = (place for place in range(len(header)) if place not in taken)
    return next((place for place in free if _speaks_of_intents(header[place])), None)


def text_column(rows: Rows) -> int | None:
    """Return the column whose cells are clearly the longest and seldom recur; None if unclear."""
    below = rows[1:]
    columns = [_column(below, place) for place in range(len(rows[0]))]
    lengths = [sum(map(len, cells)) / len(cells) if _is_varied(cells) else 0.0 for cells in columns]
    longest = max(lengths, default=0.0)
    others = sorted(lengths)[:-1]
    if longest < _SHORTEST_TEXTS or (others and longest < _CLEARLY_LONGER * others[-1]):
        return None
    return lengths.index(longest)


def _column(rows: Rows, place: int) -> list[str]:
    cells = (row[place].strip() for row in rows if place < len(row))
    return [cell for cell in cells if cell]


def _speaks_of_intents(name: str) -> bool:
    words = _WORD.findall(name.casefold())
    return len(words) <= _LONGEST_NAME and "id" not in words and not _INTENT_WORDS.isdisjoint(words)


def _is_numbers(cells: Sequence[str]) -> bool:
    return len(cells) > 1 and all(map(_NUMBER.fullmatch, cells))


def _recurs(cells: Sequence[str]) -> bool:
    """Whether nearly every cell is there again; the first of such a column would be, too."""
    often = sum(cells.count(cell) > 1 for cell in cells)
    return len(cells) >= _ENOUGH_ROWS and often >= _RECURRING * len(cells)


def _is_varied(cells: Sequence[str]) -> bool:
    """Whether these may be texts: no ids or dates, and mostly unlike each other."""
    return len(set(cells)) > len(cells) / 2 and not all(map(_CODE.fullmatch, cells))
