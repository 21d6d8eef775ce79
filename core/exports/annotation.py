"""Files of tools in which people annotate: Prodigy, doccano, spaCy, Label Studio and Argilla.

Facts: as in the readers of `core/formats/tools`. What a file said beside a text when it was
imported is written back for the tool that it came from.
"""

import json
from collections.abc import Iterable
from typing import Any

from core.exports.content import Files, Fitted
from core.formats.beside import kept_fields
from core.formats.rows import ImportedRow
from core.platforms.utf16 import to_units
from core.templates.slots import Slot


def _lines(given: Fitted, records: Iterable[object]) -> Files:
    said = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    return {f"{given.name}.jsonl": "".join(said).encode()}


def prodigy(given: Fitted) -> Files:
    """Write a task a line; a text without a label or marked values is one that was skipped."""
    return _lines(given, (_task(row) for row in given.rows))


def _task(row: ImportedRow) -> dict[str, Any]:
    task: dict[str, Any] = {"text": row.text, **kept_fields(row, "prodigy")}
    if row.slots:
        task["spans"] = [_span(slot) for slot in row.slots]
    if row.intents is None:
        return task | {"answer": "accept" if row.slots else "ignore"}
    options = [{"id": name, "text": name} for name in row.intents]
    return task | {"options": options, "accept": list(row.intents), "answer": "accept"}


def _span(slot: Slot) -> dict[str, Any]:
    return {"start": slot.start, "end": slot.end, "label": slot.name}


def doccano(given: Fitted) -> Files:
    """Write a text a line, with categories and marked values."""
    return _lines(
        given,
        (
            {
                "id": row.id,
                "text": row.text,
                "cats": list(row.intents or ()),
                "entities": [
                    {"label": one.name, "start_offset": one.start, "end_offset": one.end}
                    for one in row.slots
                ],
                "Comments": [],
            }
            | kept_fields(row, "doccano")
            for row in given.rows
        ),
    )


def spacy(given: Fitted) -> Files:
    """Write a document a line, with a score for every category, as spaCy's training asks."""
    names = list(given.intents)
    return _lines(given, (_document(row, names) for row in given.rows))


def _document(row: ImportedRow, names: list[str]) -> dict[str, Any]:
    document: dict[str, Any] = {"text": row.text, "ents": [_span(slot) for slot in row.slots]}
    document |= kept_fields(row, "spacy")
    if row.intents is not None:
        true = set(row.intents)
        document["cats"] = {name: 1.0 if name in true else 0.0 for name in names}
    return document


def label_studio(given: Fitted) -> Files:
    """Write a list of tasks, each with one answer; places are counted as a browser counts."""
    tasks = [
        {"id": number, "data": {"text": row.text}, "annotations": _answers(row), "predictions": []}
        | kept_fields(row, "label-studio")
        for number, row in enumerate(given.rows, start=1)
    ]
    content = json.dumps(tasks, ensure_ascii=False, indent=2).encode()
    return {f"{given.name}.json": content}


def _answers(row: ImportedRow) -> list[dict[str, Any]]:
    place = {"from_name": "intent", "to_name": "text"}
    result: list[dict[str, Any]] = []
    if row.intents:
        result.append({**place, "type": "choices", "value": {"choices": list(row.intents)}})
    for slot in row.slots:
        start, end = to_units(row.text, slot.start, slot.end)
        said = {"start": start, "end": end, "text": row.text[slot.start : slot.end]}
        value = {**said, "labels": [slot.name]}
        result.append({**place, "from_name": "label", "type": "labels", "value": value})
    return [{"result": result}] if result else []


def argilla(given: Fitted) -> Files:
    """Write flat records, each answer as submitted."""
    return {
        f"{given.name}.json": json.dumps(
            [_record(row) for row in given.rows], ensure_ascii=False, indent=2
        ).encode()
    }


def _record(row: ImportedRow) -> dict[str, Any]:
    answer: list[Any] = []
    if row.intents:
        answer = [row.intents[0] if len(row.intents) == 1 else list(row.intents)]
    record: dict[str, Any] = {
        "id": row.id,
        "text": row.text,
        "intent.responses": answer or None,
        "intent.responses.status": ["submitted"] if answer else None,
    }
    if row.slots:
        record["slots.responses"] = [[_span(slot) for slot in row.slots]]
        record["slots.responses.status"] = ["submitted"]
    return record | kept_fields(row, "argilla")
