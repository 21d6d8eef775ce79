"""Whole bots of Amazon Lex V2, and its test sets.

Facts: Amazon's "JSON format for importing and exporting" and "Creating a test set". A marked value
becomes the name of its slot in braces, and a value of the slot's type.
"""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from core.exports.content import Files, Fitted
from core.exports.dialogflow import by_language, id_of, plain_json, single_pins
from core.formats.rows import ImportedRow
from core.platforms.writing import BRACES, NewPhrase, written
from core.templates.slots import SlottedText

_REGIONS = "de_DE en_US es_ES fr_FR it_IT ja_JP ko_KR nl_NL pl_PL pt_BR sv_SE zh_CN"
_LOCALES = {name[:2]: name for name in _REGIONS.split()}
"""A locale for a language that names no region."""
FALLBACK = "FallbackIntent"
_TEST_HEAD = ("Line #", "Conversation #", "Source", "Input", "Expected Output Intent")


def locale_of(language: str) -> str:
    """Return a language as Lex writes it, such as `pt_BR`."""
    first, *others = language.replace("-", "_").lower().split("_")
    cased = [one.upper() if len(one) == 2 else one.title() for one in others]
    return "_".join((first, *cased)) if cased else _LOCALES.get(first, first)


def lex(given: Fitted) -> Files:
    """Write a bot, with a locale for each language."""
    rows = [row for row in given.rows if not _has_braces(given, row)]
    bot = re.sub(r"[^0-9A-Za-z_-]", "_", given.name)
    locales: dict[str, list[ImportedRow]] = {}
    for language, said in (by_language(given, rows) or {given.language: []}).items():
        locales.setdefault(locale_of(language), []).extend(said)
    head = {"schemaVersion": "1", "fileFormat": "LexJson", "resourceType": "BOT"}
    files = {
        "Manifest.json": plain_json({"metaData": head}),
        f"{bot}/Bot.json": plain_json(
            {
                "name": bot,
                "identifier": id_of("lex", bot)[:10],
                "dataPrivacy": {"childDirected": False},
                "idleSessionTTLInSeconds": 300,
            }
        ),
    }
    for locale, said in locales.items():
        files |= _of_locale(given, f"{bot}/BotLocales/{locale}", locale, said)
    return files


def _has_braces(given: Fitted, row: ImportedRow) -> bool:
    if BRACES.search(row.text):
        given.left.add("texts with braces, which Lex reads as values", row.text[:200])
        return True
    return False


def _of_locale(
    given: Fitted, folder: str, locale: str, rows: Sequence[ImportedRow]
) -> dict[str, bytes]:
    values = {
        "name": locale,
        "identifier": locale,
        "nluConfidenceThreshold": 0.4,
        "voiceSettings": None,
    }
    files = {f"{folder}/BotLocale.json": plain_json(values)}
    grouped: dict[str, list[ImportedRow]] = {name: [] for name in given.intents}
    for row in rows:
        grouped[(row.intents or ("",))[0]].append(row)
    for name, said in grouped.items():
        files |= _intent(given, f"{folder}/Intents/{name}", name, said)
    files[f"{folder}/Intents/{FALLBACK}/Intent.json"] = plain_json(_fallback())
    seen = _values_of(given, rows)
    for kind, found in seen.items():
        files[f"{folder}/SlotTypes/{kind}/SlotType.json"] = plain_json(_slot_type(kind, found))
    return files


def _fallback() -> dict[str, Any]:
    return {
        "name": FALLBACK,
        "identifier": "FALLBCKINT",
        "description": "Default intent when no other intent matches",
        "parentIntentSignature": "AMAZON.FallbackIntent",
        "sampleUtterances": [],
    }


def _values_of(given: Fitted, rows: Sequence[ImportedRow]) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return the values of each type, of the slot book and of the texts."""
    found = {kind: dict(values) for kind, values in given.values.items()}
    for row in rows:
        for slot in row.slots:
            values = found.setdefault(given.kinds[slot.name], {})
            values.setdefault(row.text[slot.start : slot.end].strip(), ())
    return found


def _slot_type(kind: str, values: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    return {
        "name": kind,
        "identifier": id_of("lex-type", kind)[:10].upper(),
        "valueSelectionSetting": {"resolutionStrategy": "ORIGINAL_VALUE"},
        "slotTypeValues": [
            {"sampleValue": {"value": value}, "synonyms": [{"value": one} for one in synonyms]}
            for value, synonyms in values.items()
        ],
    }


def _intent(given: Fitted, folder: str, name: str, rows: Sequence[ImportedRow]) -> dict[str, bytes]:
    phrases: dict[str, object] = {}
    slots: dict[str, None] = {}
    for row in rows:
        new = NewPhrase(SlottedText(row.text, row.slots), name, "", {})
        phrase = written("lex", new)
        if (key := str(phrase)) in phrases:
            given.left.add("texts that are another's template with other values", row.text[:200])
            continue
        phrases[key] = phrase
        if row.slots:
            given.lost.add("values in texts, where the names of their slots stand", row.text[:200])
        slots |= dict.fromkeys(slot.name for slot in row.slots)
    intent = {
        "name": name,
        "identifier": id_of("lex-intent", name)[:10].upper(),
        "description": given.intents[name],
        "parentIntentSignature": None,
        "sampleUtterances": list(phrases.values()),
        "slotPriorities": [
            {"priority": at, "slotName": slot} for at, slot in enumerate(slots, start=1)
        ],
    }
    files = {f"{folder}/Intent.json": plain_json(intent)}
    for slot in slots:
        files[f"{folder}/Slots/{slot}/Slot.json"] = plain_json(
            {
                "name": slot,
                "identifier": id_of("lex-slot", name, slot)[:10].upper(),
                "slotTypeName": given.kinds[slot],
                "valueElicitationSetting": {"slotConstraint": "Optional"},
            }
        )
    return files


def lex_tests(given: Fitted) -> Files:
    """Write a test set of utterances: one line for each pin."""
    out = io.StringIO(newline="")
    table = csv.writer(out)
    table.writerow(_TEST_HEAD)
    for number, pin in enumerate(single_pins(given), start=1):
        table.writerow([number, "", "User", pin.text, pin.intents[0] if pin.intents else FALLBACK])
    return {f"{given.name}-tests.csv": out.getvalue().encode()}
