"""Guess from the cells of a table whether its first row names the columns, and what these hold."""

import re
from collections.abc import Sequence
from typing import TypeAlias

from core.formats.rows import SPLITS, VALIDATION

Rows: TypeAlias = Sequence[Sequence[str]]
"""Rows of cells; the first may name the columns."""

_INTENT_WORDS = frozenset(
    {"intent", "intents", "intention", "label", "labels", "topic", "topics", "category"}
    | {"categories", "class", "theme", "tag", "tags"}
)
_SPLIT_WORDS = frozenset({"split", "splits", "set", "subset", "partition", "dataset"})
_PLAIN_SPLITS = frozenset(name for name, split in SPLITS.items() if split != "pool")
"""What tells a column of splits under any name; a pool may be one for swimming."""
_LONGEST_NAME = 4
"""Words of a column's name."""
_ENOUGH_ROWS = 20
_RECURRING = 0.95
_NEARLY_ALL = 0.95
"""Share of the filled cells; what is left are slips of the pen, which the reader refuses."""
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


def split_column(rows: Rows, taken: Sequence[int | None], header: Sequence[str] = ()) -> int | None:
    """Return the column whose cells say train or test, and that is not taken; None without one.

    Of several it is the first whose name speaks of a set. Such a one may be blank in these rows,
    and may name a pool or validation alone: `rows` are only the first of the table.
    """
    width = len(header) or max(map(len, rows), default=0)
    free = [place for place in range(width) if place not in taken]
    named = [place for place in free if place < len(header) and _speaks_of_sets(header[place])]
    known = frozenset(SPLITS) | VALIDATION
    for place in named:
        cells = [cell.lower() for cell in _column(rows, place)]
        if not cells or _nearly_all(cells, known):
            return place
    for place in free:
        cells = [cell.lower() for cell in _column(rows, place)]
        if not _PLAIN_SPLITS.isdisjoint(cells) and _nearly_all(cells, _PLAIN_SPLITS | VALIDATION):
            return place
    return None


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


def _speaks_of_sets(name: str) -> bool:
    words = _WORD.findall(name.casefold())
    return len(words) <= _LONGEST_NAME and "id" not in words and not _SPLIT_WORDS.isdisjoint(words)


def _nearly_all(cells: Sequence[str], known: frozenset[str]) -> bool:
    return sum(cell in known for cell in cells) >= _NEARLY_ALL * len(cells)


def _is_numbers(cells: Sequence[str]) -> bool:
    return len(cells) > 1 and all(map(_NUMBER.fullmatch, cells))


def _recurs(cells: Sequence[str]) -> bool:
    """Whether nearly every cell is there again; the first of such a column would be, too."""
    often = sum(cells.count(cell) > 1 for cell in cells)
    return len(cells) >= _ENOUGH_ROWS and often >= _RECURRING * len(cells)


def _is_varied(cells: Sequence[str]) -> bool:
    """Whether these may be texts: no ids or dates, and mostly unlike each other."""
    return len(set(cells)) > len(cells) / 2 and not all(map(_CODE.fullmatch, cells))
