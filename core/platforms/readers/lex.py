"""Amazon Lex V2: a file for each intent of each locale; values in phrases are names of slots.

Facts: Amazon's "JSON format for importing and exporting". `Book a {CarType}` is a template: the
first value of the slot's type is filled in, so that the phrase reads as somebody would say it.
"""

import re
from collections.abc import Mapping

from core.platforms.agent import OUT_OF_SCOPE, Agent, Home, Phrase
from core.platforms.gathering import Gathering
from core.platforms.json_places import Node
from core.platforms.packages import Package
from core.templates.slots import Slot

_INTENT = re.compile(
    r"(?P<locale_folder>(?:.*/)?BotLocales/(?P<locale>[^/]+)/)Intents/(?P<name>[^/]+)/Intent\.json"
)
_SLOT = re.compile(r"\{([A-Za-z0-9_-]+)\}")
_FALLBACK = "AMAZON.FallbackIntent"


def is_lex(package: Package) -> bool:
    """Whether intents stand in folders of locales."""
    return any(_INTENT.fullmatch(name) for name in package.files)


def read_lex(package: Package) -> Agent:
    """Read a bot."""
    found = Gathering("lex", package)
    for name in package.files:
        if (place := _INTENT.fullmatch(name)) is None:
            continue
        node = found.parse(name)
        is_fallback = node.text("parentIntentSignature") == _FALLBACK
        intent = OUT_OF_SCOPE if is_fallback else node.text("name")
        if not is_fallback:
            # Each locale has one; one without a description takes that of another.
            found.intents[intent] = found.intents.get(intent) or node.text("description")
        array = node.array("sampleUtterances")
        if array is None:
            continue
        if not is_fallback:  # Lex teaches its fallback nothing
            found.homes[intent, place["locale"]] = Home(name, array)
        values = _values(found, name, place["locale_folder"])
        found.declared[intent] = found.declared.get(intent, frozenset()).union(values)
        for index, one in enumerate(array.items):
            template = one.text("utterance")
            text, slots = _filled(template, values)
            if slots:
                found.lose("templates, of which each is read with the first value", template)
            marks = found.fitting(text, slots)
            language = place["locale"]
            found.add(Phrase(text, intent, name, array, index, marks, language=language))
    return found.agent()


def _values(found: Gathering, intent_file: str, locale_folder: str) -> Mapping[str, str]:
    """Return the first value of each slot of an intent."""
    folder = intent_file.removesuffix("Intent.json") + "Slots/"
    first: dict[str, str] = {}
    for name in found.package.files:
        if not (name.startswith(folder) and name.endswith("/Slot.json")):
            continue
        slot = found.parse(name)
        kind = slot.text("slotTypeName")
        type_file = f"{locale_folder}SlotTypes/{kind}/SlotType.json"
        if kind not in found.values and type_file in found.package.files:
            found.values[kind] = _entries(found.parse(type_file))
        found.kinds[slot.text("name")] = kind
        first[slot.text("name")] = next(iter(found.values.get(kind, {})), "")
    return first


def _entries(kind: Node) -> dict[str, tuple[str, ...]]:
    entries = {}
    for one in kind.under("slotTypeValues"):
        sample = one.get("sampleValue")
        value = "" if sample is None else sample.text("value")
        entries[value] = tuple(each.text("value") for each in one.under("synonyms"))
    return entries


def _filled(template: str, values: Mapping[str, str]) -> tuple[str, list[Slot]]:
    """Fill a template; a slot without a value is filled with its name."""
    text, slots, at = "", list[Slot](), 0
    for match in _SLOT.finditer(template):
        text += template[at : match.start()]
        value = values.get(match[1]) or match[1].replace("_", " ")
        slots.append(Slot(len(text), len(text) + len(value), match[1]))
        text += value
        at = match.end()
    return text + template[at:], slots
