"""HumanFirst's JSON: phrases that name their intents by id, and intents that have parents.

Facts: zia-ai/academy and its workspaces, HumanFirst's JSON schema. The name of an intent is its
path, as in `account/close`. Places of marked values are bytes of UTF-8, as academy's
`entity_span.py` counts, unless the value stands at these characters.
"""

from collections.abc import Mapping
from typing import Any

from core.formats.rows import FilePlace
from core.formats.tools.tool import (
    About,
    Record,
    Rows,
    ToolReading,
    fault,
    listed,
    mark_of,
    name_of,
    place_in,
)
from core.templates.slots import Slot

_SEPARATOR = "/"
_AGENT = "expert"
_KNOWN_EXAMPLE = {"id", "text", "intents", "created_at", "entities", "parts"}
_KNOWN_INTENT = {"id", "name", "parent_intent_id"}
_KNOWN_ENTITY = {"id", "name", "values"}
_KNOWN = {"$schema", "examples", "intents", "tags", "entities"}


def is_humanfirst(value: Any) -> bool:
    """Whether a document is a workspace of HumanFirst."""
    if not (isinstance(value, dict) and isinstance(value.get("examples"), list)):
        return False
    if "humanfirst" in str(value.get("$schema")):
        return True
    examples = [one for one in value["examples"][:100] if isinstance(one, dict)]
    intents = [one.get("intents") for one in examples]
    if any(_ids(given) for given in intents if isinstance(given, list)):
        return True
    # Of phrases that nobody labelled yet, each still has its list of intents.
    return bool(examples) and all(
        isinstance(one.get("text"), str) and one.get("intents") == [] for one in examples
    )


def _ids(intents: list[Any]) -> list[str]:
    found = [one.get("intent_id") for one in intents if isinstance(one, dict)]
    return [one for one in found if isinstance(one, str)]


def read_humanfirst(reading: ToolReading, name: str, document: Record) -> Rows:
    """Read a workspace; a phrase without an intent is unlabelled, unless an agent said it."""
    start = place_in(name, 1)
    reading.files.setdefault(name, 0)
    intents = {str(one.get("id")): one for one in _objects(start, document, "intents")}
    reading.lose_fields(document, _KNOWN)
    for intent in intents.values():
        reading.lose_fields({f"{key} of an intent": v for key, v in intent.items()}, _OF_INTENT)
    for entity in _objects(start, document, "entities"):
        _keep_values(reading, start, entity)
    named = [one for one in _objects(start, document, "tags") if isinstance(one.get("id"), str)]
    tags = {one["id"]: one for one in named}
    paths = {key: _path(key, intents) for key in intents}
    for number, one in enumerate(listed(start, document, "examples"), start=1):
        place = place_in(name, number)
        if not isinstance(one, dict):
            raise fault(place, "a phrase is no object")
        labels = _labels(place, one, paths)
        if labels is None and _is_of_agent(one):
            reading.losses.add("what agents said", str(one.get("text"))[:200])
            continue
        fields = reading.beside(one, _KNOWN_EXAMPLE)
        if isinstance(given := fields.get("tags"), list):
            fields["tags"] = [_tag(tag, tags) for tag in given]
        about = About(one.get("id"), fields=fields)
        yield reading.row(place, one.get("text"), labels, slots=_marks(place, one), about=about)


def _objects(place: FilePlace, document: Record, key: str) -> list[Record]:
    return [one for one in listed(place, document, key) if isinstance(one, dict)]


def _labels(place: FilePlace, phrase: Record, paths: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return the names of a phrase's intents; None for none."""
    ids = _ids(listed(place, phrase, "intents"))
    missing = next((key for key in ids if key not in paths), None)
    if missing is not None:
        raise fault(place, f"there is no intent with the id '{missing[:60]}'")
    return tuple(paths[key] for key in ids) or None


def _is_of_agent(phrase: Record) -> bool:
    """Whether a phrase of a conversation was said by the one who answers."""
    context = phrase.get("context")
    return isinstance(context, dict) and context.get("role") == _AGENT


def _keep_values(reading: ToolReading, place: FilePlace, entity: Record) -> None:
    """Keep the values of an entity, of which each stands among its own synonyms."""
    given = {f"{key} of an entity": value for key, value in entity.items()}
    reading.lose_fields(given, _OF_ENTITY)
    known = reading.values.setdefault(name_of(place, entity.get("name")), {})
    for one in listed(place, entity, "values"):
        value = one.get("key_value") if isinstance(one, dict) else None
        if isinstance(value, str) and value.strip():
            said = [each.get("value") for each in listed(place, one, "synonyms") if _is_value(each)]
            known[value] = tuple(word for word in said if word != value)


def _is_value(synonym: Any) -> bool:
    return isinstance(synonym, dict) and isinstance(synonym.get("value"), str)


def _marks(place: FilePlace, phrase: Record) -> list[Slot]:
    """Return the marked values of a phrase."""
    slots, text = list[Slot](), phrase.get("text")
    for one in listed(place, phrase, "entities"):
        span = one.get("span") if isinstance(one, dict) else None
        if not isinstance(span, dict) or not isinstance(text, str):
            raise fault(place, "a marked value has no place")
        start, end = span.get("from_character", 0), span.get("to_character")
        mark = mark_of(place, start, end, one.get("name"))
        slots.append(_placed(mark, text, one.get("text")))
    return slots


def _placed(mark: Slot, text: str, value: Any) -> Slot:
    """Return a mark in characters."""
    if text.isascii() or mark.start < 0:
        return mark
    written = text.encode(errors="surrogatepass")  # half of a character is refused with its row
    start, end = (written[:at].decode(errors="replace") for at in (mark.start, mark.end))
    is_bytes = text.startswith(end) and (value is None or end[len(start) :] == value)
    return Slot(len(start), len(end), mark.name) if is_bytes else mark


def _tag(tag: Any, tags: dict[Any, Record]) -> Any:
    """Return a phrase's tag with its name and colour, which the workspace keeps apart."""
    known = tags.get(tag.get("id")) if isinstance(tag, dict) else None
    return tag if known is None else tag | known


_OF_INTENT = {f"{key} of an intent" for key in _KNOWN_INTENT}
_OF_ENTITY = {f"{key} of an entity" for key in _KNOWN_ENTITY}


def _path(key: str, intents: dict[str, Record]) -> str:
    """Return the names of an intent's parents and its own; a parent that is missing ends them."""
    names: list[str] = []
    seen: set[str] = set()
    while key in intents and key not in seen:
        seen.add(key)
        names.append(str(intents[key].get("name") or key).strip())
        key = str(intents[key].get("parent_intent_id") or "")
    return _SEPARATOR.join(reversed(names))
