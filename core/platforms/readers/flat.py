"""Platforms that keep all phrases in one list, each with the name of its intent: LUIS, CLU, Rasa.

Facts: RasaHQ/rasa `formats/luis.py` (ends are inclusive), Microsoft's "Data formats accepted by
CLU" (offsets in UTF-16 units), Rasa's documentation of training data in JSON (characters).
"""

from dataclasses import dataclass
from typing import Any, cast

from core.platforms.agent import OUT_OF_SCOPE, ROLE, Agent, Home, Phrase
from core.platforms.gathering import Gathering
from core.platforms.json_places import Node
from core.platforms.packages import Package
from core.platforms.readers.rasa_extras import Extra, told_besides
from core.platforms.utf16 import to_characters
from core.templates.slots import Slot
from core.types import Split

NONE = "None"
"""The intent of LUIS and CLU for what fits no other."""

_KNOWN = ("text", "intent", "entities", "language", "dataset")
_OF_MARK = ("start", "end", "entity", "role")
_SPLITS: dict[str, Split] = {"train": "train", "test": "test"}


@dataclass(frozen=True, slots=True)
class _Marks:
    """Keys of a marked value."""

    name: str
    start: str
    end: str
    end_adds: int = 0


_LUIS = _Marks("entity", "startPos", "endPos", end_adds=1)
_RASA = _Marks("entity", "start", "end")


def read_luis(package: Package, name: str) -> Agent:
    """Read a LUIS app in JSON, schemas 3 to 7, or the utterances of one as a list."""
    found = Gathering("luis", package)
    root = found.parse(name)
    _declare(found, root, "name")
    for group in root.under("closedLists"):
        found.values[group.text("name")] = {
            one.text("canonicalForm"): one.strings("list") for one in group.under("subLists")
        }
    for key, what in (
        ("patterns", "patterns"),
        ("phraselists", "phrase lists"),
        ("model_features", "phrase lists"),
        ("regex_entities", "regular expressions"),
        ("composites", "composite entities"),
    ):
        for one in root.under(key):
            found.lose(what, one.text("name") or one.text("pattern"))
    _utterances(found, name, _list_in(root, "utterances"), _LUIS)
    return found.agent()


def read_clu(package: Package, name: str) -> Agent:
    """Read a CLU project in JSON, or its utterances as a list."""
    found = Gathering("clu", package)
    root = found.parse(name)
    assets = root.get("assets") or root
    _declare(found, assets, "category")
    for entity in assets.under("entities"):
        lists = entity.get("list")
        if lists is not None:
            found.values[entity.text("category")] = {
                one.text("listKey"): tuple(
                    value
                    for group in one.under("synonyms")
                    for value in group.strings("values")
                    if value != one.text("listKey")
                )
                for one in lists.under("sublists")
            }
        if entity.get("regex") is not None:
            found.lose("regular expressions", entity.text("category"))
    _utterances(found, name, _list_in(assets, "utterances"), None)
    return found.agent()


def read_rasa_json(package: Package, *names: str) -> Agent:
    """Read Rasa's training data in JSON, of one file or of several that belong together."""
    found = Gathering("rasa-json", package)
    lookups, synonyms = dict[str, tuple[str, ...]](), dict[str, tuple[str, ...]]()
    for name in names:
        data = cast("Node", found.parse(name).get("rasa_nlu_data"))
        for one in data.under("regex_features"):
            found.lose("regular expressions", one.text("name"))
        _utterances(found, name, _list_in(data, "common_examples"), _RASA)
        for known, key, of, said in (
            (lookups, "lookup_tables", "name", "elements"),
            (synonyms, "entity_synonyms", "value", "synonyms"),
        ):
            for one in data.under(key):
                known[one.text(of)] = (*known.get(one.text(of), ()), *one.strings(said))
    found.add_lookups(lookups, synonyms)
    return found.agent()


def _list_in(root: Node, key: str) -> Node | None:
    """Return the list under a key; a document that is a list itself is that one."""
    return root if root.items else root.array(key)


def _declare(found: Gathering, root: Node, key: str) -> None:
    for intent in root.under("intents"):
        name = intent.text(key)
        if name != NONE:
            found.intents[name] = intent.text("description")


def _utterances(found: Gathering, name: str, array: Node | None, marks: _Marks | None) -> None:
    if array is None:
        return
    none = NONE if found.platform != "rasa-json" else None
    for index, one in enumerate(array.items):
        label = one.get("intent")
        if label is None or not isinstance(label.value, str):
            found.lose("phrases without an intent", one.text("text"))
            continue
        text = one.text("text")
        slots = _clu_slots(one, text) if marks is None else _slots(found, one, text, marks)
        intent = OUT_OF_SCOPE if label.value == none else label.value
        if intent:
            found.intents.setdefault(intent, "")
        found.add(
            Phrase(
                text=text,
                intent=intent,
                file=name,
                array=array,
                index=index,
                slots=found.fitting(text, slots),
                label=label,
                language=one.text("language"),
                split=_SPLITS.get(one.text("dataset").lower()),
                fields=_fields(found, one, text),
            )
        )
    home = Home(name, array)
    for intent in (*found.intents, *([OUT_OF_SCOPE] if none else [])):
        found.homes.setdefault((intent, ""), home)


def _fields(found: Gathering, utterance: Node, text: str) -> dict[str, Any] | None:
    """Return what is kept beside a text; of Rasa's marks all but names, places and equal values."""
    fields = utterance.fields(_KNOWN) or {}
    marks = list[Extra]()
    entities = utterance.under("entities") if found.platform == "rasa-json" else ()
    for entity in sorted(entities, key=lambda one: one.number("start")):
        start, end = max(0, entity.number("start")), max(0, entity.number("end"))
        said, role = text[start:end], entity.text("role")
        more = entity.fields(_OF_MARK) or {}
        if more.get("value") == said:
            del more["value"]
        name = entity.text("entity")
        marks.append({**more, "name": f"{name}.{role}" if role else name, "said": said})
    told = told_besides(marks)
    return fields | ({"entities": told} if told else {}) or None


def _slots(found: Gathering, one: Node, text: str, marks: _Marks) -> list[Slot]:
    slots = []
    for entity in one.under("entities"):
        start, end = entity.number(marks.start), entity.number(marks.end) + marks.end_adds
        if found.platform == "luis":
            start, end = to_characters(text, start, end)
        name, role = entity.text(marks.name), entity.text("role")
        if role:
            name = f"{name}.{role}"
            found.marks.setdefault(name, ROLE)
        slots.append(Slot(start, end, name))
        if entity.under("children"):
            found.lose("parts inside a marked value", text)
    return slots


def _clu_slots(one: Node, text: str) -> list[Slot]:
    slots = []
    for entity in one.under("entities"):
        offset = entity.number("offset")
        start, end = to_characters(text, offset, offset + entity.number("length"))
        slots.append(Slot(start, end, entity.text("category")))
    return slots
