"""Whole skills of Watson Assistant in JSON, and its CSVs of intents and entities.

Facts: IBM's reference of the Assistant v1 API and its page on intents. A CSV has no header.
"""

import csv
import io
from typing import Any, cast

from core.exports.content import Files, Fitted
from core.exports.dialogflow import plain_json
from core.formats.beside import kept_fields
from core.formats.rows import ImportedRow
from core.platforms.agent import OUT_OF_SCOPE
from core.platforms.line_breaks import breaks_lost, without_breaks
from core.platforms.writing import NewPhrase, written
from core.templates.slots import SlottedText


def watson(given: Fitted) -> Files:
    """Write a skill; what is out of scope becomes counterexamples."""
    grouped = given.by_intent()
    entities: dict[str, dict[str, tuple[str, ...]]] = {
        name: dict(given.values.get(name, {}))
        for name in dict.fromkeys((*given.kinds.values(), *given.values))
    }
    skill = {
        "intents": [
            {
                "intent": intent,
                "examples": [_example(given, row, intent) for row in rows],
                "description": without_breaks(given.intents.get(intent, "")),
            }
            for intent, rows in grouped.items()
            if intent != OUT_OF_SCOPE
        ],
        "entities": [
            {
                "entity": name,
                "values": [
                    {"type": "synonyms", "value": value, "synonyms": list(synonyms)}
                    for value, synonyms in values.items()
                ],
                "fuzzy_match": True,
            }
            for name, values in entities.items()
        ],
        "metadata": {"api_version": {"major_version": "v2", "minor_version": "2018-11-08"}},
        "dialog_nodes": [],
        "counterexamples": [_outside(given, row) for row in grouped.get(OUT_OF_SCOPE, [])],
        "learning_opt_out": False,
        "name": given.name,
        "language": given.language,
        "description": "",
    }
    return {f"{given.name}.json": plain_json(skill)}


def _tell_breaks(given: Fitted, row: ImportedRow) -> None:
    if lost := breaks_lost("watson", row.text):
        given.lost.add(lost, row.text[:200])


def _example(given: Fitted, row: ImportedRow, intent: str) -> dict[str, Any]:
    _tell_breaks(given, row)
    new = written("watson", NewPhrase(SlottedText(row.text, row.slots), intent, "", {}))
    return cast("dict[str, Any]", new) | kept_fields(row, "watson")


def _outside(given: Fitted, row: ImportedRow) -> dict[str, str]:
    if row.slots:
        given.lost.add("marked values of texts out of scope: plain words", row.text[:200])
    _tell_breaks(given, row)
    return {"text": without_breaks(row.text)}


def watson_csv(given: Fitted) -> Files:
    """Write one CSV of phrases, and one of values where there are any."""
    phrases = list[list[str]]()
    for name, rows in given.by_intent().items():
        for row in rows:
            _tell_breaks(given, row)
            phrases.append([without_breaks(row.text), name])
    files = {"intents.csv": _table(phrases)}
    values = [
        [kind, value, *synonyms]
        for kind, known in given.values.items()
        for value, synonyms in known.items()
    ]
    return files | ({"entities.csv": _table(values)} if values else {})


def _table(rows: list[list[str]]) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()
