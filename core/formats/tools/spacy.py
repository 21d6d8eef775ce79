"""spaCy's documents in JSON: `Doc.to_json()` a line, or pairs of a text and its annotations.

Facts: spaCy's documentation of `Doc.to_json` and of the training data of version 2. Categories
are true from 0.5 on. Places of entities are characters.
"""

from typing import Any

from core.formats.rows import FilePlace, ImportedRow, RowProblem
from core.formats.tools.tool import About, Record, ToolReading, fault, listed, mark_of
from core.templates.slots import Slot

_TRUE = 0.5
_NUMBERS = {bool, int, float}
_PLAIN = {0, 1}
"""Scores of people; models write others."""
_KNOWN = {"text", "cats", "ents", "entities", "tokens", "sents"}


def is_spacy(value: Any) -> bool:
    """Whether an item is a document of spaCy, or a pair of a text and its annotations."""
    if isinstance(value, list):
        return len(value) == 2 and isinstance(value[0], str) and _has_marks(value[1])
    return isinstance(value, dict) and isinstance(value.get("text"), str) and _is_document(value)


def _has_marks(value: Any) -> bool:
    return isinstance(value, dict) and any(
        (isinstance(value.get("entities"), list), isinstance(value.get("cats"), dict))
    )


def _is_document(value: Record) -> bool:
    entities = value.get("ents")
    return isinstance(value.get("cats"), dict) or (
        isinstance(entities, list) and all(isinstance(one, dict) for one in entities)
    )


def spacy_row(
    reading: ToolReading, place: FilePlace, item: Record | list[Any]
) -> ImportedRow | RowProblem:
    """Return a document as a row; without categories it is unlabelled."""
    document = {**_object(place, item[1]), "text": item[0]} if isinstance(item, list) else item
    marks = [*listed(place, document, "ents"), *listed(place, document, "entities")]
    intents = _categories(reading, place, document)
    slots = [_mark(place, one) for one in marks]
    about = About(fields=reading.beside(document, _KNOWN))
    return reading.row(place, document.get("text"), intents, slots=slots, about=about)


def _object(place: FilePlace, value: Any) -> Record:
    if not isinstance(value, dict):
        raise fault(place, "the annotations of a text are no object")
    return value


def _categories(reading: ToolReading, place: FilePlace, document: Record) -> tuple[str, ...] | None:
    scores = document.get("cats")
    if not scores:
        return None
    named = _object(place, scores)
    if {*map(type, named.values())} <= _NUMBERS and {*named.values()} <= _PLAIN:
        return tuple([name.strip() for name, score in named.items() if score])
    chosen = []
    for name, score in named.items():
        if not isinstance(score, bool | int | float):
            raise fault(place, f"the score of '{name[:40]}' is no number")
        if score not in (0, 1):
            reading.losses.add(
                "scores between 0 and 1, of which those from 0.5 on are read as a label"
            )
        if score >= _TRUE:
            chosen.append(name.strip())
    return tuple(chosen)


def _mark(place: FilePlace, one: Any) -> Slot:
    if isinstance(one, dict):
        return mark_of(place, one.get("start"), one.get("end"), one.get("label"))
    if isinstance(one, list) and len(one) >= 3:
        return mark_of(place, *one[:3])
    raise fault(place, f"{str(one)[:40]!r} is no entity")
