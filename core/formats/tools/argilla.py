"""Argilla's records: `records.to_list()` or `to_json()`, flat or nested, as an array or lines.

Facts: Argilla's guide "Import and export". A question's answers are those that people submitted;
what a model suggests is no label.
"""

from collections.abc import Iterator
from typing import Any

from core.formats.rows import INTENT_NAMES, TEXT_NAMES, FilePlace, ImportedRow, RowProblem
from core.formats.tools.tool import About, Record, ToolReading, fault, mark_of, most_say, names_in
from core.templates.slots import Slot

_ANSWERS, _SUGGESTION, _STATUS = ".responses", ".suggestion", ".responses.status"
_KNOWN = {"id", "fields", "responses", "suggestions", "status", "_server_id"}


def is_argilla(value: Any) -> bool:
    """Whether an item is a record of Argilla."""
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("fields"), dict):
        return any(isinstance(value.get(key), dict) for key in ("responses", "suggestions"))
    return any(key.endswith((_ANSWERS, _SUGGESTION)) for key in value)


def argilla_row(reading: ToolReading, place: FilePlace, record: Record) -> ImportedRow | RowProblem:
    """Return a record as a row, with the label that most people gave."""
    is_nested = isinstance(record.get("fields"), dict)
    fields = record["fields"] if is_nested else record
    name = reading.options.text_column
    key = next((one for one in ((name,) if name else TEXT_NAMES) if one in fields), None)
    if key is None and is_nested:
        key = _only_text(fields)
    text = fields[key] if key else None
    if is_nested:
        others = {f"{one} of a record": fields[one] for one in fields.keys() - {key}}
        reading.lose_fields(others, set())
    answers = dict(_nested(record) if is_nested else _flat(record))
    kept = _kept(reading, record, {*_KNOWN, "" if is_nested else key or ""}, is_nested=is_nested)
    shown = str(text)[:200]
    votes, slots = list[tuple[str, ...]](), list[Slot]()
    for question in sorted(answers, key=lambda one: one.lower() not in INTENT_NAMES):
        values = answers[question]
        if all(map(_is_marks, values)):
            slots = slots or _marks(place, values)
        elif not votes and all(isinstance(one, str | list) for one in values):
            votes = [names_in(place, [one] if isinstance(one, str) else one) for one in values]
        elif values:
            reading.losses.add(f"answers to “{question[:40]}”", shown)
    about = About(record.get("id"), fields=kept)
    return reading.row(place, text, most_say(reading, votes, shown), slots=slots, about=about)


def _only_text(fields: Record) -> str | None:
    """Return the name of the only field that is a text."""
    texts = [key for key, one in fields.items() if isinstance(one, str)]
    return texts[0] if len(texts) == 1 else None


def _nested(record: Record) -> Iterator[tuple[str, list[Any]]]:
    responses = record.get("responses")
    for question, given in (responses if isinstance(responses, dict) else {}).items():
        yield (
            question,
            [
                one.get("value")
                for one in (given if isinstance(given, list) else [])
                if isinstance(one, dict) and one.get("status", "submitted") == "submitted"
            ],
        )


def _flat(record: Record) -> Iterator[tuple[str, list[Any]]]:
    for key, given in record.items():
        if key.endswith(_ANSWERS) and isinstance(given, list):
            question = key.removesuffix(_ANSWERS)
            states = record.get(question + _STATUS)
            if not isinstance(states, list) or len(states) != len(given):
                states = ["submitted"] * len(given)
            pairs = zip(given, states, strict=True)
            yield question, [value for value, state in pairs if state == "submitted"]


def _kept(reading: ToolReading, record: Record, known: set[str], *, is_nested: bool) -> Record:
    """Tell of what a model suggests, and return the fields that are not read."""
    suggested = record.get("suggestions") if is_nested else None
    flat = [record[key] for key in record if not is_nested and key.endswith(_SUGGESTION)]
    if count := len(suggested) if isinstance(suggested, dict) else sum(v is not None for v in flat):
        reading.losses.add("suggestions of a model", count=count)
    rest = {key: one for key, one in record.items() if is_nested or not _is_of_question(key)}
    return reading.beside(rest, known)


def _is_of_question(key: str) -> bool:
    return _ANSWERS in key or _SUGGESTION in key


def _is_marks(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _marks(place: FilePlace, values: list[Any]) -> list[Slot]:
    """Return the marks of the first person."""
    if not values:
        return []
    if any(not {"start", "end", "label"} <= one.keys() for one in values[0]):
        raise fault(place, "a marked value has no start, end and label")
    return [mark_of(place, one["start"], one["end"], one["label"]) for one in values[0]]
