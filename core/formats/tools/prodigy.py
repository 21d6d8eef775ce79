"""Prodigy's `db-out`: a task a line, with the answer of the person who saw it.

Facts: Prodigy's documentation of annotation interfaces. Places of spans are characters.
"""

from typing import Any

from core.formats.rows import FilePlace, ImportedRow, RowProblem
from core.formats.tools.tool import About, Record, ToolReading, listed, mark_of, name_of

_HASHES = ("_input_hash", "_task_hash")
_ANSWERS = ("accept", "reject", "ignore")
_KNOWN = {*_HASHES, "text", "label", "options", "accept", "spans", "answer", "tokens", "config"}
_KNOWN |= {"_view_id", "_is_binary", "version", "priority", "score"}


def is_prodigy(value: Any) -> bool:
    """Whether a line is a task of Prodigy."""
    return (
        isinstance(value, dict)
        and "text" in value
        and (any(key in value for key in _HASHES) or value.get("answer") in _ANSWERS)
    )


def prodigy_row(reading: ToolReading, place: FilePlace, task: Record) -> ImportedRow | RowProblem:
    """Return a task as a row; one that was rejected or skipped has no label."""
    about = About(fields=reading.beside(task, _KNOWN))
    answer, text = task.get("answer", "accept"), task.get("text")
    if answer != "accept":
        told = "rejected labels" if answer == "reject" else "answers that skip a text"
        reading.losses.add(told, str(text)[:200])
        return reading.row(place, text, None, about=about)
    slots = [
        mark_of(place, span.get("start"), span.get("end"), span.get("label", ""))
        for span in listed(place, task, "spans")
        if isinstance(span, dict)
    ]
    return reading.row(place, text, _labels(place, task), slots=slots, about=about)


def _labels(place: FilePlace, task: Record) -> tuple[str, ...] | None:
    """Return the label of a task; options of which none is taken mean that none fits."""
    if "accept" in task:
        options = {
            str(one["id"]): one.get("text")
            for one in listed(place, task, "options")
            if isinstance(one, dict) and isinstance(one.get("id"), str | int)
        }
        return tuple(_option(place, one, options) for one in listed(place, task, "accept"))
    label = task.get("label")
    return None if label is None else (name_of(place, label),)


def _option(place: FilePlace, chosen: object, options: Record) -> str:
    """Return the name of an option; one whose id is a number is called by its text."""
    name = name_of(place, chosen)
    text = options.get(name)
    return text.strip() if isinstance(chosen, int) and isinstance(text, str) else name
