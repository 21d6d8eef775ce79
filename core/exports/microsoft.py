"""Whole apps of LUIS, in JSON and `.lu`, and projects of CLU.

Facts: RasaHQ/rasa `demo-restaurants_v7.json`, Microsoft's "Data formats accepted by CLU",
"Language Understanding file format", and "Language support" of CLU, of LUIS and of sentiment
analysis. `None` holds what is out of scope.
"""

import re
from collections.abc import Mapping
from typing import Any, cast

from core.exports.content import Files, Fitted
from core.exports.dialogflow import plain_json
from core.formats.beside import kept_fields
from core.platforms.agent import Platform
from core.platforms.readers.flat import NONE
from core.platforms.readers.lu import lu_line
from core.platforms.writing import NewPhrase, written
from core.templates.slots import SlottedText

_BEHIND_LISTS = (
    *("prebuiltEntities", "patternAnyEntities", "regex_entities", "phraselists"),
    "regex_features",
)
"""Parts of an app that a project has nothing for."""

_BREAKS = re.compile(r"[\r\n]")


_CULTURES = (
    "ar-ar de-de en-us es-es fr-fr gu-in hi-in it-it ja-jp ko-kr mr-in nl-nl pt-br ta-in te-in "
    "tr-tr zh-cn"
)
_LOCALES: Mapping[Platform, Mapping[str, str]] = {
    "luis": {name[:2]: name for name in _CULTURES.split()},
    "clu": {"en": "en-us", "pt": "pt-pt", "zh": "zh-hans"},  # knows all others by language alone
}
"""What stands for a language without a region, where a platform asks for one."""


def _locale(language: str, platform: Platform) -> str:
    """Return a language as a platform names it."""
    return _LOCALES[platform].get(language, language)


def _phrases(given: Fitted, platform: Platform) -> list[dict[str, Any]]:
    found = []
    for row in given.rows:
        intent = row.intents[0] if row.intents else NONE
        language = _locale(given.language_of(row), platform)
        new = NewPhrase(SlottedText(row.text, row.slots), intent, language, {})
        one = cast("dict[str, Any]", written(platform, new))
        split = {"dataset": "Test"} if row.split == "test" else {}
        found.append(one | split | kept_fields(row, platform))
    return found


def _roles(given: Fitted) -> dict[str, list[str]]:
    """Return the roles of each marked entity."""
    found: dict[str, list[str]] = {}
    for slot in dict.fromkeys(one.name for row in given.rows for one in row.slots):
        entity, _, role = slot.partition(".")
        roles = found.setdefault(entity or slot, [])
        if role and entity:
            roles.append(role)
    return found


def _lists(given: Fitted, marked: dict[str, list[str]]) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return the types of values that are lists: an entity that is marked cannot be one."""
    for kind, values in given.values.items():
        if kind in marked and any(values.values()):
            given.lost.add("synonyms of values that are marked in texts", kind)
    return {kind: dict(values) for kind, values in given.values.items() if kind not in marked}


def luis(given: Fitted) -> Files:
    """Write an app of LUIS, schema 7."""
    marked = _roles(given)
    empty = dict.fromkeys((*_BEHIND_LISTS, "patterns", "settings"), ())
    app = {
        "luis_schema_version": "7.0.0",
        "intents": [
            {"name": name, "features": []} for name in dict.fromkeys((NONE, *given.intents))
        ],
        "entities": [
            {"name": name, "children": [], "roles": roles, "features": []}
            for name, roles in marked.items()
        ],
        "hierarchicals": [],
        "composites": [],
        "closedLists": [_closed_list(*one) for one in _lists(given, marked).items()],
        **empty,
        "utterances": [
            {key: value for key, value in one.items() if key != "dataset"}
            for one in _phrases(given, "luis")
        ],
        "versionId": "0.1",
        "name": given.name,
        "desc": "",
        "culture": _locale(given.language, "luis"),
        "tokenizerVersion": "1.0.0",
    }
    return {f"{given.name}.json": plain_json(app)}


def _closed_list(kind: str, values: dict[str, tuple[str, ...]]) -> dict[str, Any]:
    parts = [{"canonicalForm": value, "list": list(said)} for value, said in values.items()]
    return {"name": kind, "subLists": parts, "roles": []}


def lu(given: Fitted) -> Files:
    """Write LUIS's text form."""
    marked = _roles(given)
    culture = _locale(given.language, "luis")
    lines = [f"> !# @app.name = {given.name}", f"> !# @app.culture = {culture}", ""]
    for intent, rows in given.by_intent().items():
        lines.append(f"# {intent or NONE}")
        for row in rows:
            line = lu_line(SlottedText(row.text, row.slots))
            if line is None:
                given.left.add("texts whose values the file cannot hold", row.text[:200])
                continue
            if _BREAKS.search(row.text):
                given.lost.add("line breaks inside texts: written as blanks", row.text[:200])
            lines.append(line)
        lines.append("")
    for entity, roles in marked.items():
        lines.append(f"@ ml {entity}" + (f" hasRoles {', '.join(roles)}" if roles else ""))
    for kind, values in _lists(given, marked).items():
        lines.append(f"@ list {kind} =")
        for value, synonyms in values.items():
            lines.append(f"    - {value} :")
            lines += [f"        - {one}" for one in synonyms]
    return {f"{given.name}.lu": ("\n".join(lines).rstrip("\n") + "\n").encode()}


def clu(given: Fitted) -> Files:
    """Write a project of CLU; the test set goes into its own."""
    language = _locale(given.language, "clu")
    found = {given.language_of(row) for row in given.rows}
    marked = dict.fromkeys(one.name for row in given.rows for one in row.slots)
    entities = [
        {"category": name, "compositionSetting": "combineComponents"}
        | ({"list": _sublists(given, name, language)} if given.values.get(name) else {})
        for name in dict.fromkeys((*marked, *given.values))
    ]
    intents = dict.fromkeys((NONE, *given.intents))
    project = {
        "projectFileVersion": "2022-10-01-preview",
        "stringIndexType": "Utf16CodeUnit",
        "metadata": {
            "projectKind": "Conversation",
            "projectName": given.name,
            "multilingual": len(found) > 1,
            "description": "",
            "language": language,
            "settings": {"confidenceThreshold": 0},
        },
        "assets": {
            "projectKind": "Conversation",
            "intents": [{"category": name} for name in intents],
            "entities": entities,
            "utterances": _phrases(given, "clu"),
        },
    }
    return {f"{given.name}.json": plain_json(project)}


def _sublists(given: Fitted, name: str, language: str) -> dict[str, Any]:
    return {
        "sublists": [
            {"listKey": value, "synonyms": [{"language": language, "values": [value, *synonyms]}]}
            for value, synonyms in given.values[name].items()
        ]
    }
