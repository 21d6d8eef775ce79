"""Botpress 12: a file for each intent, with its phrases by language.

Facts: the intents of bots in botpress/v12 (`intents/NAME.json`). `[Boston](city)` marks a value;
the intent `none` is for what fits no other.
"""

import re
from typing import Any

from core.formats.tools.json_items import json_document
from core.formats.tools.tool import (
    About,
    Rows,
    ToolReading,
    fault,
    listed,
    name_of,
    place_in,
)
from core.platforms.packages import Package
from core.templates.slots import Slot

_INTENT = re.compile(r"(?:.*/)?intents/[^/]+\.json")
_ENTITY = re.compile(r"(?:.*/)?entities/[^/]+\.json")
_MARK = re.compile(r"\[([^\[\]]+)\]\(([\w. :-]+)\)")
_NONE = "none"
_KNOWN = {"name", "utterances", "filename"}


def is_botpress_intent(value: Any) -> bool:
    """Whether a document is an intent: a name, and lists of phrases by language."""
    if not (isinstance(value, dict) and isinstance(value.get("name"), str)):
        return False
    phrases = value.get("utterances")
    if isinstance(phrases, list):  # as early versions wrote them
        return isinstance(value.get("contexts"), list)
    return isinstance(phrases, dict) and all(isinstance(one, list) for one in phrases.values())


def botpress_intents(package: Package) -> list[str]:
    """Return the names of the files that may be intents."""
    return [name for name in package.files if package.kind == "file" or _INTENT.fullmatch(name)]


def read_botpress(reading: ToolReading) -> Rows:
    """Read a bot's intents."""
    for name in reading.package.files:
        if _ENTITY.fullmatch(name):
            _read_entity(reading, name)
    number = 0
    for name in botpress_intents(reading.package):
        intent = json_document(reading.package, name)
        if not is_botpress_intent(intent):
            raise fault(place_in(name, 1), "no intent with phrases by language")
        reading.files.setdefault(name, 0)
        reading.lose_fields(intent, _KNOWN)
        label = intent["name"].strip()
        by_language = intent["utterances"]
        if isinstance(by_language, list):
            by_language = {"": by_language}
        said = ((key, one) for key, many in by_language.items() for one in many)
        for language, phrase in said:
            number += 1
            if not isinstance(phrase, str):
                raise fault(place_in(name, number), "a phrase is no text")
            text, slots = marked_text(phrase)
            labels = () if label == _NONE else (label,)
            place = place_in(name, number)
            yield reading.row(place, text, labels, slots=slots, about=About(language=language))


def _read_entity(reading: ToolReading, name: str) -> None:
    """Keep the values of a list; a pattern has none."""
    entity = json_document(reading.package, name)
    if not isinstance(entity, dict) or entity.get("type") != "list":
        reading.losses.add("patterns of values", name.rpartition("/")[2])
        return
    found = reading.values.setdefault(name_of(place_in(name, 1), entity.get("name")), {})
    for one in listed(place_in(name, 1), entity, "occurrences"):
        value = one.get("name") if isinstance(one, dict) else None
        if isinstance(value, str) and value.strip():
            said = listed(place_in(name, 1), one, "synonyms")
            found[value] = tuple(word for word in said if isinstance(word, str))


def marked_text(phrase: str) -> tuple[str, list[Slot]]:
    """Return a phrase without its brackets, and what they mark."""
    text, slots, at = "", list[Slot](), 0
    for match in _MARK.finditer(phrase):
        text += phrase[at : match.start()]
        slots.append(Slot(len(text), len(text) + len(match[1]), match[2].strip()))
        text += match[1]
        at = match.end()
    return text + phrase[at:], slots
