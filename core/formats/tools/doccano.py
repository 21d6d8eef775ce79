"""doccano's JSONL: a text a line, with labels, marked values, or both.

Facts: doccano's documentation and its `data_export`. Places of values are characters.
"""

from typing import Any

from core.formats.rows import FilePlace, ImportedRow, RowProblem
from core.formats.tools.tool import About, Record, ToolReading, fault, listed, mark_of, names_in
from core.templates.slots import Slot

_COMMENTS = ("Comments", "comments")
_KNOWN = {"id", "text", "data", "label", "labels", "cats", "entities"}


def is_doccano(value: Any) -> bool:
    """Whether a line has what only doccano writes: marked values by place, or comments."""
    if not (isinstance(value, dict) and isinstance(value.get("text", value.get("data")), str)):
        return False
    if any(isinstance(value.get(key), list) for key in _COMMENTS):
        return True
    return any(
        isinstance(marks := value.get(key), list) and bool(marks) and all(map(_is_mark, marks))
        for key in ("label", "labels", "entities")
    )


def _is_mark(one: Any) -> bool:
    if isinstance(one, dict):
        return "start_offset" in one
    return isinstance(one, list) and len(one) == 3


def doccano_row(reading: ToolReading, place: FilePlace, record: Record) -> ImportedRow | RowProblem:
    """Return a line as a row; one that has marked values alone is unlabelled."""
    given = [
        one for key in ("label", "labels", "cats", "entities") for one in _of(place, record, key)
    ]
    marks = [one for one in given if _is_mark(one)]
    names = names_in(place, (one for one in given if not _is_mark(one)))
    return reading.row(
        place,
        record.get("text", record.get("data")),
        names or None,
        slots=[_slot(place, one) for one in marks],
        about=About(record.get("id"), fields=reading.beside(record, _KNOWN)),
    )


def _of(place: FilePlace, record: Record, key: str) -> list[Any]:
    """Return a list; one name stands for a list of it."""
    value = record.get(key)
    return [value] if isinstance(value, str) and value else listed(place, record, key)


def _slot(place: FilePlace, one: Any) -> Slot:
    if isinstance(one, dict):
        return mark_of(place, one.get("start_offset"), one.get("end_offset"), one.get("label"))
    if len(one) != 3:
        raise fault(place, f"{str(one)[:40]!r} is no marked value")
    return mark_of(place, *one)
