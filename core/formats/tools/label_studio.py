"""Label Studio's JSON: a list of tasks, each with the annotations of several people.

Facts: Label Studio's documentation of its export formats. Places of values are taken to be in
UTF-16 units, as a browser counts, unless the value beside them stands at these characters.
"""

import re
from typing import Any

from core.formats.rows import TEXT_NAMES, FilePlace, ImportedRow, RowProblem
from core.formats.tools.tool import (
    About,
    Record,
    ToolReading,
    fault,
    listed,
    mark_of,
    most_say,
    names_in,
)
from core.platforms.utf16 import to_characters
from core.templates.slots import Slot

_ADDRESS = re.compile(r"[a-z][\w+.-]*://\S+|/\S+\.\w{2,5}|data:\S+", re.IGNORECASE)
_NO_TEXTS = ("image", "img", "audio", "video", "pdf", "url")
"""Names of what is annotated and no text; its value is an address."""
_KNOWN = {"id", "data", "annotations", "completions", "created_at", "updated_at", "project"}
_KNOWN |= {"inner_id", "total_annotations", "cancelled_annotations", "total_predictions"}
_KNOWN |= {"comment_count", "unresolved_comment_count", "last_comment_updated_at", "updated_by"}
_KNOWN |= {"comment_authors", "file_upload", "drafts"}


def is_label_studio(value: Any) -> bool:
    """Whether an element is a task of Label Studio."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("data"), dict)
        and any(isinstance(value.get(key), list) for key in ("annotations", "completions"))
    )


def label_studio_row(
    reading: ToolReading, place: FilePlace, task: Record
) -> ImportedRow | RowProblem:
    """Return a task as a row with the label that most people give; a gold answer counts alone."""
    about = About(task.get("id"), fields=reading.beside(task, _KNOWN))
    data = task.get("data")
    fields: Record = data if isinstance(data, dict) else {}
    key = _text_key(reading, fields)
    text = None if key is None else fields[key]
    reading.lose_fields(
        {f"{name} of a task": fields[name] for name in fields.keys() - {key}}, set()
    )
    given = [*listed(place, task, "annotations"), *listed(place, task, "completions")]
    annotations = [one for one in given if isinstance(one, dict)]
    answers = [one for one in annotations if one.get("was_cancelled") is not True]
    if skipped := len(given) - len(answers):
        reading.losses.add("answers that skip a text", str(text)[:200], skipped)
    answers = [one for one in answers if one.get("ground_truth") is True] or answers
    labelled = [(one, labels) for one in answers if (labels := _labels(reading, place, one))]
    label = most_say(reading, [labels for _, labels in labelled], str(text)[:200])
    told = next((one for one, labels in labelled if labels == label), None)
    if told is None:
        told = answers[0] if answers else {}
    slots = _marks(place, told, text if isinstance(text, str) else "")
    return reading.row(place, text, label, slots=slots, about=about)


def _text_key(reading: ToolReading, fields: Record) -> str | None:
    """Return which field of a task is its text: by its name, or the only one there is."""
    named = reading.options.text_column
    for key in (named,) if named else TEXT_NAMES:
        if isinstance(fields.get(key), str):
            return key
    texts = [
        key
        for key, one in fields.items()
        if isinstance(one, str) and key.lower() not in _NO_TEXTS and not _ADDRESS.fullmatch(one)
    ]
    return texts[0] if len(texts) == 1 and not named else None


def _results(place: FilePlace, annotation: Record) -> list[tuple[str, Record]]:
    """Return kind and value of what a person said."""
    found = []
    for one in listed(place, annotation, "result"):
        value = one.get("value") if isinstance(one, dict) else None
        if isinstance(value, dict):
            found.append((str(one.get("type")), value))
    return found


def _labels(reading: ToolReading, place: FilePlace, annotation: Record) -> tuple[str, ...]:
    names: list[str] = []
    for kind, value in _results(place, annotation):
        if kind == "choices":
            names += names_in(place, listed(place, value, "choices"))
        elif kind != "labels":
            reading.losses.add(f"answers of the kind “{kind[:40]}”")
    return tuple(names)


def _marks(place: FilePlace, annotation: Record, text: str) -> list[Slot]:
    slots = []
    for kind, value in _results(place, annotation):
        for name in listed(place, value, "labels") if kind == "labels" else ():
            mark = mark_of(place, value.get("start"), value.get("end"), name)
            slots.append(_placed(place, mark, text, value.get("text")))
    return slots


def _placed(place: FilePlace, mark: Slot, text: str, value: object) -> Slot:
    if value is not None and not isinstance(value, str):
        raise fault(place, f"{str(value)[:40]!r} is no value")
    if value and text[max(0, mark.start) : max(0, mark.end)] == value:
        return mark
    start, end = to_characters(text, mark.start, mark.end)
    return Slot(start, end, mark.name)
