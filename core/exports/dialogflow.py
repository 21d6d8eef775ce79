"""Whole agents of Dialogflow ES and CX, and CX's CSV of phrases.

Facts: RasaHQ/rasa `data/examples/dialogflow`, Google's page on JSON packages. Ids are made from
names, so that the same project gives the same bytes.
"""

import csv
import io
import json
import re
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, cast

from core.exports.content import Expectation, Files, Fitted
from core.formats.beside import kept_fields
from core.formats.rows import ImportedRow
from core.platforms.agent import OUT_OF_SCOPE, Platform
from core.platforms.arrays import as_google_writes
from core.platforms.writing import NewPhrase, written
from core.templates.slots import SlottedText

_IDS = uuid.UUID("0d2b5f0e-61c6-4c0e-9f5c-5b6a6a5c9b11")
"""Namespace of the ids of intents, entities and tests."""

_NO_FILE_NAME = re.compile(r'[\\/:*?"<>|%\0-\x1f]')
_PRIORITY = 500_000
_ES_FALLBACK = "Default Fallback Intent"
_CX_FALLBACK = "Default Negative Intent"
_CX_FALLBACK_ID = "00000000-0000-0000-0000-000000000001"
_FLOW = "Default Start Flow"
_FLOW_ID = "00000000-0000-0000-0000-000000000000"


def id_of(*parts: str) -> str:
    """Return an id that the same names always have."""
    return str(uuid.uuid5(_IDS, "\n".join(parts)))


def plain_json(value: Any) -> bytes:
    """Write JSON with two blanks of indentation."""
    return json.dumps(value, ensure_ascii=False, indent=2).encode()


def file_names(names: Sequence[str]) -> dict[str, str]:
    """Return the name of a file for each name: without signs that a folder cannot hold."""
    given, taken = dict[str, str](), set[str]()
    for name in names:
        plain = _NO_FILE_NAME.sub("_", name).strip(". ") or "_"
        chosen, number = plain, 1
        while chosen.casefold() in taken:
            number += 1
            chosen = f"{plain} {number}"
        taken.add(chosen.casefold())
        given[name] = chosen
    return given


def free_name(wanted: str, taken: Mapping[str, object]) -> str:
    """Return a name that no intent of the project has."""
    number, name = 1, wanted
    while name in taken:
        number += 1
        name = f"{wanted} {number}"
    return name


def by_language(given: Fitted, rows: Sequence[ImportedRow]) -> dict[str, list[ImportedRow]]:
    """Return rows by their language."""
    found: dict[str, list[ImportedRow]] = {}
    for row in rows:
        found.setdefault(given.language_of(row), []).append(row)
    return found


def _phrase(given: Fitted, row: ImportedRow, intent: str, platform: Platform) -> dict[str, Any]:
    """Return a phrase, with the id and the counts that it had when it was imported."""
    marks = {name: f"@{kind}" for name, kind in given.kinds.items()}
    said = SlottedText(row.text, row.slots)
    kept, language = kept_fields(row, platform), given.language_of(row)
    lang = "" if kept else language
    new = written(platform, NewPhrase(said, intent, language, marks, lang))
    return cast("dict[str, Any]", new) | kept


def dialogflow_es(given: Fitted) -> Files:
    """Write an agent of Dialogflow ES."""
    grouped = given.by_intent()
    titles = {name: name or free_name(_ES_FALLBACK, given.intents) for name in grouped}
    names = file_names(list(titles.values()))
    languages = sorted({given.language_of(row) for row in given.rows} - {given.language})
    files = {
        "agent.json": plain_json(_es_agent(given, languages)),
        "package.json": plain_json({"version": "1.0.0"}),
    }
    for kind, values in given.values.items():
        files |= _es_entity(given, kind, values)
    for intent, rows in grouped.items():
        name = names[titles[intent]]
        files[f"intents/{name}.json"] = plain_json(_es_intent(given, titles[intent], intent, rows))
        for language, said in by_language(given, rows).items():
            phrases = [_phrase(given, row, intent, "dialogflow-es") for row in said]
            files[f"intents/{name}_usersays_{language}.json"] = plain_json(phrases)
    return files


def _es_agent(given: Fitted, languages: list[str]) -> dict[str, Any]:
    return {
        "description": "",
        "language": given.language,
        "shortDescription": "",
        "examples": "",
        "linkToDocs": "",
        "displayName": given.name,
        "disableInteractionLogs": False,
        "disableStackdriverLogs": True,
        "defaultTimezone": "Etc/UTC",
        "isPrivate": True,
        "mlMinConfidence": 0.3,
        "supportedLanguages": languages,
        "enableOnePlatformApi": True,
        "onePlatformApiVersion": "v2",
        "analyzeQueryTextSentiment": False,
        "dialogBuilderMode": False,
        "enableSpellCorrection": False,
    }


def _es_intent(
    given: Fitted, title: str, intent: str, rows: Sequence[ImportedRow]
) -> dict[str, Any]:
    parameters = [
        {
            "id": id_of("es", title, slot),
            "name": slot,
            "required": False,
            "dataType": f"@{given.kinds[slot]}",
            "value": f"${slot}",
            "defaultValue": "",
            "isList": False,
            "prompts": [],
        }
        for slot in _slots(rows)
    ]
    response = {
        "resetContexts": False,
        "action": "input.unknown" if intent == OUT_OF_SCOPE else "",
        "affectedContexts": [],
        "parameters": parameters,
        "messages": [],
    }
    about = given.intents.get(intent, "")
    return {
        "id": id_of("es", title),
        "name": title,
        **({"description": about} if about else {}),
        "auto": True,
        "contexts": [],
        "responses": [response],
        "priority": _PRIORITY,
        "webhookUsed": False,
        "webhookForSlotFilling": False,
        "fallbackIntent": intent == OUT_OF_SCOPE,
        "events": [],
    }


def _es_entity(given: Fitted, kind: str, values: Mapping[str, tuple[str, ...]]) -> dict[str, bytes]:
    head = {
        "id": id_of("es-entity", kind),
        "name": kind,
        "isOverridable": True,
        "isEnum": False,
        "isRegexp": False,
        "automatedExpansion": True,
        "allowFuzzyExtraction": False,
    }
    return {
        f"entities/{kind}.json": plain_json(head),
        f"entities/{kind}_entries_{given.language}.json": plain_json(_entries(values)),
    }


def _entries(values: Mapping[str, tuple[str, ...]]) -> list[dict[str, Any]]:
    """A value stands among its own synonyms."""
    return [
        {"value": value, "synonyms": list(dict.fromkeys((value, *synonyms)))}
        for value, synonyms in values.items()
    ]


def _slots(rows: Sequence[ImportedRow]) -> list[str]:
    return list(dict.fromkeys(slot.name for row in rows for slot in row.slots))


def dialogflow_cx(given: Fitted) -> Files:
    """Write a JSON package of Dialogflow CX, with a test case for each pin."""
    grouped = given.by_intent()
    grouped.setdefault(OUT_OF_SCOPE, [])
    titles = {name: name or free_name(_CX_FALLBACK, given.intents) for name in grouped}
    names = file_names(list(titles.values()))
    languages = sorted({given.language_of(row) for row in given.rows} - {given.language})
    agent = {
        "displayName": given.name,
        "defaultLanguageCode": given.language,
        **({"supportedLanguageCodes": languages} if languages else {}),
        "timeZone": "Etc/UTC",
        "startFlow": _FLOW,
    }
    flow = {"name": _FLOW_ID, "displayName": _FLOW, "nluSettings": {"classificationThreshold": 0.3}}
    values = {"agent.json": agent, f"flows/{_FLOW}/{_FLOW}.json": flow}
    for kind, entries in given.values.items():
        values |= _cx_entity(given, kind, entries)
    for intent, rows in grouped.items():
        folder = f"intents/{names[titles[intent]]}"
        head = _cx_intent(given, titles[intent], intent, rows)
        values[f"{folder}/{names[titles[intent]]}.json"] = head
        for language, said in by_language(given, rows).items():
            phrases = [_phrase(given, row, intent, "dialogflow-cx") for row in said]
            values[f"{folder}/trainingPhrases/{language}.json"] = {"trainingPhrases": phrases}
    values |= {f"testCases/{one['name']}.json": one for one in cx_tests(given)}
    return {name: f"{as_google_writes(value)}\n".encode() for name, value in values.items()}


def _cx_intent(
    given: Fitted, title: str, intent: str, rows: Sequence[ImportedRow]
) -> dict[str, Any]:
    parameters = [{"id": slot, "entityType": f"@{given.kinds[slot]}"} for slot in _slots(rows)]
    about = given.intents.get(intent, "")
    is_fallback = intent == OUT_OF_SCOPE
    return {
        "name": _CX_FALLBACK_ID if is_fallback else id_of("cx", title),
        "displayName": title,
        **({"parameters": parameters} if parameters else {}),
        "priority": _PRIORITY,
        **({"isFallback": True} if is_fallback else {}),
        **({"description": about} if about else {}),
        "numTrainingPhrases": len(rows),
    }


def _cx_entity(
    given: Fitted, kind: str, values: Mapping[str, tuple[str, ...]]
) -> dict[str, dict[str, Any]]:
    folder = f"entityTypes/{kind}"
    head = {
        "name": id_of("cx-entity", kind),
        "displayName": kind,
        "kind": "KIND_MAP",
        "autoExpansionMode": "AUTO_EXPANSION_MODE_DEFAULT",
    }
    entries = [{**one, "languageCode": given.language} for one in _entries(values)]
    return {
        f"{folder}/{kind}.json": head,
        f"{folder}/entities/{given.language}.json": {"entities": entries},
    }


def cx_tests(given: Fitted) -> list[dict[str, Any]]:
    """Return a test case for each pin: its text, and the intent that it must trigger."""
    fallback = free_name(_CX_FALLBACK, given.intents)
    return [_cx_test(given, pin, fallback) for pin in single_pins(given)]


def single_pins(given: Fitted) -> list[Expectation]:
    """Return the pins of at most one intent; the others are told of."""
    for pin in given.pins:
        if len(pin.intents) > 1:
            given.lost.add("pins of several intents", pin.text[:200])
    return [pin for pin in given.pins if len(pin.intents) < 2]


def _cx_test(given: Fitted, pin: Expectation, fallback: str) -> dict[str, Any]:
    title = pin.intents[0] if pin.intents else fallback
    key = id_of("cx", title) if pin.intents else _CX_FALLBACK_ID
    said = {"text": {"text": pin.text}, "languageCode": given.language}
    return {
        "name": id_of("cx-test", pin.text),
        "displayName": pin.text[:200],
        "testConfig": {"flow": _FLOW},
        "testCaseConversationTurns": [
            {
                "userInput": {"input": said, "isWebhookEnabled": False},
                "virtualAgentOutput": {"triggeredIntent": {"name": key, "displayName": title}},
            }
        ],
    }


def cx_csv(given: Fitted) -> Files:
    """Write phrases as CX takes them in bulk."""
    out = io.StringIO(newline="")
    table = csv.writer(out)
    table.writerow(["Intent Display Name", "Language", "Phrase"])
    for intent, rows in given.by_intent().items():
        table.writerows([intent, given.language_of(row), row.text] for row in rows)
    return {f"{given.name}.csv": out.getvalue().encode()}
