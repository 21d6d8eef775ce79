"""A phrase of a package with other marks, or in the other set; all else of it stays."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from math import isfinite
from typing import Any

from core.platforms.agent import Agent, Phrase, Platform
from core.platforms.json_places import Node
from core.platforms.readers.rasa_extras import extras_of
from core.platforms.readers.rasa_yaml import as_written, example_line, unmarked
from core.platforms.writing import NewPhrase, written
from core.templates.moved_slots import normalised
from core.templates.slots import Slot, SlottedText
from core.text import is_storable

_MARKS: Mapping[Platform, str] = {
    "dialogflow-es": "data",
    "dialogflow-cx": "parts",
    "luis": "entities",
    "clu": "entities",
    "rasa-json": "entities",
    "watson": "mentions",
}
"""Key of a phrase under which its marked values stand."""
_SIGNS: Mapping[Platform, tuple[str, ...]] = {"lu": ("{",), "rasa": ("](", "]{")}
"""What opens each marked value on a line, but for a sign of the text itself."""
_NAMES = ("entity", "category", "alias", "parameterId")
"""Keys of a marked value, one of which names it."""
_OWN = ("value", "meta", "userDefined")
"""Keys that may differ in a mark that stays as it is."""
_BULLET = re.compile(r"[-*+]\s*")


def marks_of(phrase: Phrase) -> tuple[Slot, ...]:
    """Return the marks of a phrase as a project stores them."""
    return normalised(SlottedText(phrase.text, phrase.slots)).slots


def placed_in(phrase: Phrase, text: str, slots: Sequence[Slot]) -> tuple[Slot, ...] | None:
    """Return a project's marks at their places in a phrase; None if it is written otherwise."""
    lead = phrase.text.find(text)
    if lead < 0:
        return None
    return tuple(Slot(lead + one.start, lead + one.end, one.name) for one in slots)


def rewritten(agent: Agent, phrase: Phrase, new: NewPhrase) -> str | dict[str, Any] | None:
    """Return the JSON value or the line of a phrase that is to say what `new` does.

    None if the file cannot hold it, or says there what was not read in full and would be lost.
    """
    if not phrase.array.items:
        return None
    element = phrase.array.items[phrase.index]
    if agent.platform in _SIGNS:
        return _line(agent, phrase, element, new)
    key, made = _MARKS.get(agent.platform), written(agent.platform, new)
    if key is None or not isinstance(made, dict) or not _is_exact(agent, phrase.file, element):
        return None
    found: dict[str, Any] = element.plain()
    if new.said.slots != phrase.slots:
        marks = _marks(phrase, element.under(key), made.get(key, []))
        if marks is None:
            return None
        found[key] = marks
    if new.is_test != (phrase.split == "test"):
        found["dataset"] = made["dataset"]
    if new.intent != phrase.intent and "intent" in made:
        found["intent"] = made["intent"]
    return found


def _marks(
    phrase: Phrase, there: Sequence[Node], made: Sequence[dict[str, Any]]
) -> list[dict[str, Any]] | None:
    """Return new marks with what the file says of those that stay; None if any would be lost."""
    old = [one.plain() for one in there if isinstance(one.value, dict)]
    if sum(any(one.get(name) for name in _NAMES) for one in old) != len(phrase.slots):
        return None
    found = [_kept(mark, old) for mark in made]
    is_lost = any(one.get("children") and one not in found for one in old)
    return None if is_lost else found


def _is_exact(agent: Agent, file: str, node: Node) -> bool:
    """Whether each number of a value stays the same when it is written: long ones lose digits."""
    match node.value:
        case dict() as values:
            return all(_is_exact(agent, file, one) for one in values.values())
        case list() as items:
            return all(_is_exact(agent, file, one) for one in items)
        case float() as number:
            raw = agent.documents[file][node.start : node.end]
            if number == 0:  # also of a fraction too small to be read
                return not raw.lower().partition("e")[0].strip("-0.")
            return isfinite(number) and Decimal(raw) == Decimal(repr(number))
        case _:
            return True


def _kept(mark: dict[str, Any], old: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return a mark as it stands in the package already, with all that it says there.

    A new one has the type that the phrase gives its name in Dialogflow ES: others may give another.
    """
    name = mark.get("alias")
    alike = (one for one in old if name and one.get("alias") == name and "meta" in one)
    typed = mark | {"meta": one["meta"]} if (one := next(alike, None)) else mark
    return next((one for one in old if _is_same(one, mark)), typed)


def _is_same(old: Mapping[str, Any], mark: Mapping[str, Any]) -> bool:
    keys = (mark.keys() | {*_NAMES, "role"}) - set(_OWN)
    return all(
        old.get(key) == mark.get(key) or (key not in mark and old.get(key) == "") for key in keys
    )


def _line(agent: Agent, phrase: Phrase, element: Node, new: NewPhrase) -> str | None:
    raw = agent.documents[phrase.file][element.start : element.end]
    if sum(map(raw.count, _SIGNS[agent.platform])) != len(phrase.slots):
        return None
    made = _example(phrase, new) if agent.platform == "rasa" else written(agent.platform, new)
    bullet = _BULLET.match(raw)
    if not isinstance(made, str) or bullet is None or not is_storable(made):
        return None
    line = made.removeprefix("- ")
    if agent.platform == "rasa":
        line = as_written(line, raw)
        if unmarked(line, phrase.file)[0] != phrase.text:
            return None  # a line break that YAML takes for one would be a blank
    return bullet[0] + line


def _example(phrase: Phrase, new: NewPhrase) -> str | None:
    """Return a line of Rasa; None where it is open which of equal words has which value."""
    extras = extras_of(phrase.fields or {})
    for key, n in Counter((one["name"], one["said"]) for one in extras).items():
        was, now = (
            [slot for slot in slots if (slot.name, new.said.value(slot)) == key]
            for slots in (phrase.slots, new.said.slots)
        )
        if now and (now != was or len(now) != n):
            return None
    return example_line(new.said, new.marks, extras)
