"""A phrase as a platform writes it, and what a platform allows."""

import json
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.platforms.agent import OUT_OF_SCOPE, ROLE, Platform
from core.platforms.arrays import as_google_writes
from core.platforms.line_breaks import without_breaks
from core.platforms.readers.bulk_csv import csv_line
from core.platforms.readers.flat import NONE
from core.platforms.readers.lu import lu_line
from core.platforms.readers.rasa_yaml import example_line
from core.platforms.utf16 import to_units
from core.templates.slots import Slot, SlottedText
from core.text import is_storable

_IDS = uuid.UUID("5b0b36a1-0c0e-4a36-9c52-7a4b7a3f0d51")
"""Namespace of the ids of new phrases: the same phrase gets the same id again."""

BRACES = re.compile(r"[{}]")
"""Signs between which Lex writes the name of a slot."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a platform allows: characters of a phrase, and phrases of an intent in a language."""

    longest_phrase: int
    most_phrases: int


LIMITS: Mapping[Platform, Limits] = {
    "dialogflow-es": Limits(768, 2_000),
    "dialogflow-cx": Limits(768, 2_000),
    "cx-csv": Limits(768, 1_000_000),
    "watson-csv": Limits(1_024, 25_000),
    "lu": Limits(500, 15_000),
    "luis": Limits(500, 15_000),
    "clu": Limits(500, 50_000),
    "watson": Limits(1_024, 25_000),
    "lex": Limits(500, 1_500),
    "rasa": Limits(1_000_000, 1_000_000),
    "rasa-json": Limits(1_000_000, 1_000_000),
}


@dataclass(frozen=True, slots=True)
class NewPhrase:
    """A phrase to be written.

    Attributes:
        intent: May be `OUT_OF_SCOPE`.
        marks: Types of slots; `ROLE` of those of an entity in a role.
        lang: Code that a phrase of Dialogflow ES names itself, as those since 2021 do; empty for
            none.
        is_test: Whether it is of the test set, which CLU's phrases say.
    """

    said: SlottedText
    intent: str
    language: str
    marks: Mapping[str, str]
    lang: str = ""
    is_test: bool = False


def written(platform: Platform, phrase: NewPhrase) -> str | dict[str, Any] | None:
    """Return a phrase's JSON value, or its line; None if the file cannot hold it."""
    said, text = phrase.said, phrase.said.text
    match platform:
        case "dialogflow-es" | "dialogflow-cx":
            return _dialogflow(platform, phrase)
        case "watson":
            return {"text": without_breaks(text)} | _mentions(said, phrase.intent)
        case "lex":
            return None if BRACES.search(text) else {"utterance": _template(said)}
        case "lu" | "rasa" | "cx-csv" | "watson-csv":
            return _line(platform, phrase)
        case _:
            return _flat(platform, phrase)


def _line(platform: Platform, phrase: NewPhrase) -> str | None:
    said = phrase.said
    match platform:
        case "lu":
            return lu_line(said, _whole(phrase))
        case "rasa":
            return example_line(said, phrase.marks)
        case "cx-csv":
            return csv_line([phrase.intent, phrase.language, said.text])
        case _:
            return csv_line([without_breaks(said.text), phrase.intent])


def _dialogflow(platform: Platform, phrase: NewPhrase) -> dict[str, Any]:
    said, text = phrase.said, phrase.said.text
    if platform == "dialogflow-cx":
        parts = [
            {"text": text[one.start : one.end]} | ({"parameterId": one.name} if one.name else {})
            for one in _pieces(said)
        ]
        return {"parts": parts, "repeatCount": 1, "languageCode": phrase.language}
    key = f"{phrase.intent}\n{phrase.language}\n{text}"
    return {
        "id": str(uuid.uuid5(_IDS, key)),
        "data": [_chunk(phrase, slot) for slot in _pieces(said)],
        "isTemplate": False,
        "count": 0,
        **({"lang": phrase.lang} if phrase.lang else {}),
        "updated": 0,
    }


def _flat(platform: Platform, phrase: NewPhrase) -> dict[str, Any]:
    said = phrase.said
    text = said.text
    if platform == "rasa-json":
        entities: list[dict[str, Any]] = [
            {"start": one.start, "end": one.end, "value": said.value(one)} | _named(one, phrase)
            for one in said.slots
        ]
        return {"text": text, "intent": phrase.intent, "entities": entities}
    places = [to_units(text, one.start, one.end) for one in said.slots]
    name = phrase.intent if phrase.intent != OUT_OF_SCOPE else NONE
    pairs = list(zip(said.slots, places, strict=True))
    if platform == "luis":
        entities = [_named(one, phrase) | {"startPos": s, "endPos": e - 1} for one, (s, e) in pairs]
        return {"text": text, "intent": name, "entities": entities}
    entities = [{"category": one.name, "offset": s, "length": e - s} for one, (s, e) in pairs]
    language = {"language": phrase.language} if phrase.language else {}
    dataset = {"dataset": "Test" if phrase.is_test else "Train"}
    return {"text": text, "intent": name, **language, **dataset, "entities": entities}


def _whole(phrase: NewPhrase) -> frozenset[str]:
    """Return the slots of which the package knows that a dot in their name parts off no role."""
    return frozenset(name for name, kind in phrase.marks.items() if kind != ROLE)


def _named(slot: Slot, phrase: NewPhrase) -> dict[str, str]:
    """Return entity and role of a slot such as `city.to`."""
    if slot.name in _whole(phrase):
        return {"entity": slot.name}
    entity, _, role = slot.name.partition(".")
    return {"entity": entity} | ({"role": role} if role else {})


def _pieces(said: SlottedText) -> list[Slot]:
    """Part a text into its values and what stands between them, which has no name."""
    pieces, at = list[Slot](), 0
    for slot in said.slots:
        if at < slot.start:
            pieces.append(Slot(at, slot.start, ""))
        pieces.append(slot)
        at = slot.end
    if at < len(said.text):
        pieces.append(Slot(at, len(said.text), ""))
    return pieces


def _chunk(phrase: NewPhrase, slot: Slot) -> dict[str, Any]:
    text = phrase.said.text[slot.start : slot.end]
    if not slot.name:
        return {"text": text, "userDefined": False}
    kind = phrase.marks.get(slot.name) or f"@{slot.name}"
    return {"text": text, "alias": slot.name, "meta": kind, "userDefined": True}


def _mentions(said: SlottedText, intent: str) -> dict[str, Any]:
    if not said.slots or intent == OUT_OF_SCOPE:
        return {}
    places = [list(to_units(said.text, one.start, one.end)) for one in said.slots]
    pairs = zip(said.slots, places, strict=True)
    return {"mentions": [{"entity": one.name, "location": place} for one, place in pairs]}


def _template(said: SlottedText) -> str:
    text = said.text
    return "".join(
        f"{{{one.name}}}" if one.name else text[one.start : one.end] for one in _pieces(said)
    )


def new_file(platform: Platform, elements: Sequence[str | dict[str, Any]]) -> str:
    """Return a file of phrases of an intent that has none in a language yet."""
    values = [json.loads(one) if isinstance(one, str) else one for one in elements]
    plain = not is_storable(json.dumps(values, ensure_ascii=False))  # half of a pair
    if platform == "dialogflow-cx":
        return as_google_writes({"trainingPhrases": values}, plain=plain) + "\n"
    return json.dumps(values, ensure_ascii=plain, indent=2)


def recounted(text: str, difference: int) -> str:
    """Change the number of training phrases in the file of an intent of Dialogflow CX."""
    return re.sub(
        r'("numTrainingPhrases"\s*:\s*)(\d+)',
        lambda found: found[1] + str(max(0, int(found[2]) + difference)),
        text,
        count=1,
    )
