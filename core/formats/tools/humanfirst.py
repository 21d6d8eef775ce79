"""HumanFirst's JSON: phrases that name their intents by id, and intents that have parents.

Facts: zia-ai/academy, HumanFirst's JSON schema. The name of an intent is its path, as in
`account/close`.
"""

from typing import Any

from core.formats.tools.tool import About, Record, Rows, ToolReading, fault, listed, place_in

_SEPARATOR = "/"
_KNOWN_EXAMPLE = {"id", "text", "intents", "created_at"}
_KNOWN_INTENT = {"id", "name", "parent_intent_id"}
_KNOWN = {"$schema", "examples", "intents", "tags"}


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
    """Read a workspace; a phrase without an intent is unlabelled."""
    start = place_in(name, 1)
    intents = {
        str(one.get("id")): one
        for one in listed(start, document, "intents")
        if isinstance(one, dict)
    }
    reading.lose_fields(document, _KNOWN)
    for intent in intents.values():
        reading.lose_fields({f"{key} of an intent": v for key, v in intent.items()}, _OF_INTENT)
    tags = {
        one.get("id"): one
        for one in listed(start, document, "tags")
        if isinstance(one, dict) and isinstance(one.get("id"), str)
    }
    paths = {key: _path(key, intents) for key in intents}
    for number, one in enumerate(listed(start, document, "examples"), start=1):
        place = place_in(name, number)
        if not isinstance(one, dict):
            raise fault(place, "a phrase is no object")
        ids = _ids(listed(place, one, "intents"))
        missing = next((key for key in ids if key not in paths), None)
        if missing is not None:
            raise fault(place, f"there is no intent with the id '{missing[:60]}'")
        labels = tuple(paths[key] for key in ids) or None
        fields = reading.beside(one, _KNOWN_EXAMPLE)
        if isinstance(given := fields.get("tags"), list):
            fields["tags"] = [_tag(tag, tags) for tag in given]
        about = About(one.get("id"), fields=fields)
        yield reading.row(place, one.get("text"), labels, about=about)


def _tag(tag: Any, tags: dict[Any, Record]) -> Any:
    """Return a phrase's tag with its name and colour, which the workspace keeps apart."""
    known = tags.get(tag.get("id")) if isinstance(tag, dict) else None
    return tag if known is None else tag | known


_OF_INTENT = {f"{key} of an intent" for key in _KNOWN_INTENT}


def _path(key: str, intents: dict[str, Record]) -> str:
    """Return the names of an intent's parents and its own; a parent that is missing ends them."""
    names: list[str] = []
    seen: set[str] = set()
    while key in intents and key not in seen:
        seen.add(key)
        names.append(str(intents[key].get("name") or key).strip())
        key = str(intents[key].get("parent_intent_id") or "")
    return _SEPARATOR.join(reversed(names))
