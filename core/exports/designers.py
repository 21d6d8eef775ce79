"""Whole workspaces of HumanFirst, bots of Botpress 12, and routes of semantic-router.

Facts: zia-ai/academy and HumanFirst's JSON schema, the bots in botpress/v12, aurelio-labs/
semantic-router `RouterConfig`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from core.exports.content import Files, Fitted
from core.exports.dialogflow import by_language, file_names, id_of, plain_json
from core.formats.beside import kept_fields
from core.formats.rows import ImportedRow
from core.formats.tools.botpress import marked_text
from core.platforms.agent import OUT_OF_SCOPE
from core.templates.slots import Slot

_SCHEMA = "https://docs.humanfirst.ai/hf-json-schema.json"
_PARENTS = "/"
NONE = "none"
_ENCODER = "sentence-transformers/all-MiniLM-L6-v2"


def humanfirst(given: Fitted) -> Files:
    """Write a workspace; a name with `/` becomes an intent with parents."""
    intents: dict[str, dict[str, Any]] = {}
    for name, about in given.intents.items():
        parts = name.split(_PARENTS)
        for depth in range(1, len(parts) + 1):
            path = _PARENTS.join(parts[:depth])
            known = intents.setdefault(path, _intent(path))
            if path == name and about:
                known["metadata"] = {"description": about}
    examples: list[dict[str, Any]] = [
        {
            "id": row.id or id_of("humanfirst", row.text),
            "text": row.text,
            "intents": [{"intent_id": intents[name]["id"]} for name in row.intents or ()],
            "tags": [],
        }
        | kept_fields(row, "humanfirst")
        | ({"entities": [_span(given, row.text, one) for one in row.slots]} if row.slots else {})
        for row in given.rows
    ]
    workspace = {
        "$schema": _SCHEMA,
        "examples": examples,
        "intents": list(intents.values()),
        "tags": _tags(examples),
    }
    kinds = dict.fromkeys((*given.values, *(slot.name for row in given.rows for slot in row.slots)))
    if kinds:
        workspace["entities"] = [_entity(given, kind) for kind in kinds]
    return {f"{given.name}.json": plain_json(workspace)}


def _entity(given: Fitted, kind: str) -> dict[str, Any]:
    """Return a type of values; each value stands among its own synonyms."""
    values = [
        {
            "id": id_of("humanfirst-value", kind, value),
            "key_value": value,
            "language": given.language,
            "synonyms": [{"value": one} for one in (value, *synonyms)],
        }
        for value, synonyms in given.values.get(kind, {}).items()
    ]
    return {"id": id_of("humanfirst-entity", kind), "name": kind, "values": values}


def _span(given: Fitted, text: str, slot: Slot) -> dict[str, Any]:
    """Return a marked value, at its bytes of UTF-8."""
    said, start = text[slot.start : slot.end], len(text[: slot.start].encode())
    return {
        "entity_id": id_of("humanfirst-entity", slot.name),
        "name": slot.name,
        "text": said,
        "span": {"from_character": start, "to_character": start + len(said.encode())},
    } | _meant(given, slot.name, said)


def _meant(given: Fitted, kind: str, said: str) -> dict[str, str]:
    """Return the value that words stand for, if the slot book has it."""
    for value, synonyms in given.values.get(kind, {}).items():
        if said.casefold() in {one.casefold() for one in (value, *synonyms)}:
            return {"value": value, "value_id": id_of("humanfirst-value", kind, value)}
    return {}


def _tags(examples: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the tags of all phrases, each once."""
    found: dict[str, dict[str, Any]] = {}
    for example in examples:
        for tag in example["tags"] if isinstance(example["tags"], list) else ():
            if isinstance(tag, dict) and isinstance(tag.get("id"), str):
                found.setdefault(tag["id"], tag)
    return list(found.values())


def _intent(path: str) -> dict[str, Any]:
    parent, _, name = path.rpartition(_PARENTS)
    above = {"parent_intent_id": id_of("humanfirst-intent", parent)} if parent else {}
    return {"id": id_of("humanfirst-intent", path), "name": name or path, "tags": [], **above}


def botpress(given: Fitted) -> Files:
    """Write a file for each intent and each type of values."""
    files: dict[str, bytes] = {}
    grouped = given.by_intent()
    names = file_names([name or NONE for name in grouped])
    for intent, rows in grouped.items():
        name = intent or NONE
        files[f"intents/{names[name]}.json"] = plain_json(
            _botpress_intent(given, names[name], intent, rows)
        )
    for kind, values in given.values.items():
        files[f"entities/{kind}.json"] = plain_json(_botpress_entity(kind, values))
    return files


def _botpress_intent(
    given: Fitted, file: str, intent: str, rows: Sequence[ImportedRow]
) -> dict[str, Any]:
    said: dict[str, list[str]] = {}
    for language, texts in by_language(given, rows).items():
        marked = [one for row in texts if (one := _marked(given, row)) is not None]
        said[language] = marked
    slots = dict.fromkeys(slot.name for row in rows for slot in row.slots)
    return {
        "name": intent or NONE,
        "contexts": ["global"],
        "filename": f"{file}.json",
        "utterances": said or {given.language: []},
        "slots": [
            {"id": id_of("botpress", intent, one), "name": one, "entities": [given.kinds[one]]}
            for one in slots
        ],
    }


def _marked(given: Fitted, row: ImportedRow) -> str | None:
    """Return a text with its values in brackets; None if it has brackets that mean that."""
    parts, at = list[str](), 0
    for slot in row.slots:
        parts += [row.text[at : slot.start], f"[{row.text[slot.start : slot.end]}]({slot.name})"]
        at = slot.end
    marked = "".join([*parts, row.text[at:]])
    if marked_text(marked) != (row.text, list(row.slots)):
        given.left.add("texts with brackets, which mark values there", row.text[:200])
        return None
    return marked


def _botpress_entity(kind: str, values: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    return {
        "id": id_of("botpress-entity", kind),
        "name": kind,
        "type": "list",
        "sensitive": False,
        "fuzzy": 0.8,
        "occurrences": [
            {"name": value, "synonyms": list(synonyms)} for value, synonyms in values.items()
        ],
        "pattern": "",
        "examples": [],
    }


def semantic_router(given: Fitted) -> Files:
    """Write the routes of a router; its encoder is the one that the studio begins with."""
    grouped = given.by_intent()
    config = {
        "encoder_type": "huggingface",
        "encoder_name": _ENCODER,
        "routes": [
            {
                "name": name,
                "utterances": [row.text for row in rows],
                "description": given.intents.get(name) or None,
                "function_schemas": None,
                "llm": None,
                "score_threshold": None,
                "metadata": {},
            }
            for name, rows in grouped.items()
            if name != OUT_OF_SCOPE
        ],
    }
    return {f"{given.name}.json": plain_json(config)}
