"""Small exports of each platform, written as the platform writes them."""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path

from core.platforms.agent import Agent
from core.platforms.overlay import Labelled, Overlaid
from core.platforms.packages import write_package

ES = {
    "agent.json": '{\n  "description": "",\n  "language": "en",\n  "supportedLanguages": ["de"]\n}',
    "package.json": '{\n  "version": "1.0.0"\n}',
    "intents/book flight.json": '{\n  "id": "i-1",\n  "name": "book flight",\n  "auto": true,\n'
    '  "responses": [],\n  "fallbackIntent": false\n}',
    "intents/book flight_usersays_en.json": '[\n  {\n    "id": "p-1",\n    "data": [\n      {\n'
    '        "text": "fly to ",\n        "userDefined": false\n      },\n      {\n'
    '        "text": "Boston",\n        "alias": "to_city",\n        "meta": "@city",\n'
    '        "userDefined": true\n      }\n    ],\n    "isTemplate": false,\n    "count": 3,\n'
    '    "updated": 1600000000\n  },\n  {\n    "id": "p-2",\n    "data": [\n      {\n'
    '        "text": "get me my money back",\n        "userDefined": false\n      }\n    ],\n'
    '    "isTemplate": false,\n    "count": 0,\n    "updated": 0\n  }\n]',
    "intents/book flight_usersays_de.json": '[\n  {\n    "id": "p-3",\n    "data": [\n      {\n'
    '        "text": "flieg nach Köln 🛫",\n        "userDefined": false\n      }\n    ],\n'
    '    "isTemplate": false,\n    "count": 0,\n    "updated": 0\n  }\n]',
    "intents/refund.json": '{\n  "id": "i-2",\n  "name": "refund",\n  "fallbackIntent": false\n}',
    "intents/refund_usersays_en.json": '[\n  {\n    "id": "p-4",\n    "data": [\n      {\n'
    '        "text": "refund my ticket",\n        "userDefined": false\n      }\n    ],\n'
    '    "isTemplate": false,\n    "count": 0,\n    "updated": 0\n  }\n]',
    "intents/Default Fallback Intent.json": '{\n  "id": "i-3",\n'
    '  "name": "Default Fallback Intent",\n  "fallbackIntent": true\n}',
    "intents/Default Fallback Intent_usersays_en.json": '[\n  {\n    "id": "p-5",\n'
    '    "data": [\n      {\n        "text": "who won the match",\n        "userDefined": false\n'
    '      }\n    ],\n    "isTemplate": false,\n    "count": 0,\n    "updated": 0\n  }\n]',
    "entities/city.json": '{\n  "id": "e-1",\n  "name": "city"\n}',
    "entities/city_entries_en.json": '[\n  {\n    "value": "Boston",\n    "synonyms": [\n'
    '      "Boston",\n      "Bean Town"\n    ]\n  }\n]',
}


def _cx_intent(name: str, count: int, more: str = "") -> str:
    return (
        f'{{\n  "name": "0-{name}",\n  "displayName": "{name}",\n  "priority": 500000,\n'
        f'  "numTrainingPhrases": {count}{more}\n}}\n'
    )


def _cx_phrases(*texts: str) -> str:
    phrases = ", ".join(
        '{\n    "parts": [ {\n      "text": "'
        + text
        + '",\n      "auto": true\n    } ],\n    "repeatCount": 1,\n    "languageCode": "en"\n  }'
        for text in texts
    )
    return f'{{\n  "trainingPhrases": [ {phrases} ]\n}}\n'


CX = {
    "agent.json": '{\n  "displayName": "shop",\n  "defaultLanguageCode": "en"\n}\n',
    "flows/Default Start Flow/Default Start Flow.json": '{\n  "name": "0"\n}\n',
    "intents/book/book.json": _cx_intent("book", 2),
    "intents/book/trainingPhrases/en.json": _cx_phrases("fly to Boston", "get my money back"),
    "intents/refund/refund.json": _cx_intent("refund", 1),
    "intents/refund/trainingPhrases/en.json": _cx_phrases("refund my ticket"),
    "intents/empty/empty.json": _cx_intent("empty", 0),
    "intents/Default Negative Intent/Default Negative Intent.json": _cx_intent(
        "Default Negative Intent", 0, ',\n  "isFallback": true'
    ),
}

LUIS = {
    "app.json": json.dumps(
        {
            "luis_schema_version": "7.0.0",
            "versionId": "0.1",
            "name": "shop",
            "culture": "en-us",
            "intents": [{"name": "None"}, {"name": "book"}, {"name": "refund"}],
            "entities": [{"name": "city", "roles": []}],
            "closedLists": [],
            "patterns": [{"pattern": "fly to {city}", "intent": "book"}],
            "utterances": [
                {
                    "text": "🛫 fly to Boston",
                    "intent": "book",
                    "entities": [{"entity": "city", "startPos": 10, "endPos": 15, "children": []}],
                },
                {"text": "get my money back", "intent": "book", "entities": []},
                {"text": "refund my ticket", "intent": "refund", "entities": []},
                {"text": "who won the match", "intent": "None", "entities": []},
            ],
        },
        indent=2,
        ensure_ascii=False,
    )
}

CLU = {
    "project.json": json.dumps(
        {
            "projectFileVersion": "2022-10-01-preview",
            "stringIndexType": "Utf16CodeUnit",
            "metadata": {"projectKind": "Conversation", "projectName": "shop", "language": "en-us"},
            "assets": {
                "projectKind": "Conversation",
                "intents": [{"category": "None"}, {"category": "book"}, {"category": "refund"}],
                "entities": [{"category": "city"}],
                "utterances": [
                    {
                        "text": "🛫 fly to Boston",
                        "intent": "book",
                        "language": "en-us",
                        "dataset": "Train",
                        "entities": [{"category": "city", "offset": 10, "length": 6}],
                    },
                    {
                        "text": "get my money back",
                        "intent": "book",
                        "language": "en-us",
                        "dataset": "Train",
                        "entities": [],
                    },
                    {
                        "text": "refund my ticket",
                        "intent": "refund",
                        "language": "en-us",
                        "dataset": "Test",
                        "entities": [],
                    },
                    {"text": "who won the match", "intent": "None", "language": "en-us"},
                ],
            },
        },
        ensure_ascii=True,
    )
}

WATSON = {
    "skill.json": json.dumps(
        {
            "intents": [
                {
                    "intent": "book",
                    "description": "to book",
                    "examples": [
                        {
                            "text": "🛫 fly to Boston",
                            "mentions": [{"entity": "city", "location": [10, 16]}],
                        },
                        {"text": "get my money back"},
                    ],
                },
                {"intent": "refund", "description": "", "examples": [{"text": "refund my ticket"}]},
                {"intent": "empty", "description": "", "examples": []},
            ],
            "entities": [
                {
                    "entity": "city",
                    "values": [{"type": "synonyms", "value": "Boston", "synonyms": ["Bean Town"]}],
                }
            ],
            "counterexamples": [{"text": "who won the match"}],
            "dialog_nodes": [{"type": "standard", "dialog_node": "Welcome"}],
            "language": "en",
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )
}

_LOCALE = "shop/BotLocales/en_US"
LEX = {
    "Manifest.json": '{"metaData":{"schemaVersion":"1","fileFormat":"LexJson",'
    '"resourceType":"BOT"}}',
    "shop/Bot.json": '{"name":"shop","identifier":"ABC"}',
    f"{_LOCALE}/BotLocale.json": '{"name":"English (US)","identifier":"en_US"}',
    f"{_LOCALE}/SlotTypes/City/SlotType.json": '{"name":"City","slotTypeValues":[{"synonyms":'
    '[{"value":"Bean Town"}],"sampleValue":{"value":"Boston"}}]}',
    f"{_LOCALE}/Intents/book/Intent.json": '{"name":"book","identifier":"I1","description":"to '
    'book","sampleUtterances":[{"utterance":"fly to {city}"},{"utterance":"get my money back"}]}',
    f"{_LOCALE}/Intents/book/Slots/city/Slot.json": '{"name":"city","slotTypeName":"City"}',
    f"{_LOCALE}/Intents/refund/Intent.json": '{"name":"refund","identifier":"I2","description":'
    '"","sampleUtterances":[{"utterance":"refund my ticket"}]}',
    f"{_LOCALE}/Intents/FallbackIntent/Intent.json": '{"name":"FallbackIntent","identifier":"F",'
    '"parentIntentSignature":"AMAZON.FallbackIntent","sampleUtterances":[]}',
}

RASA = {
    "nlu.json": json.dumps(
        {
            "rasa_nlu_data": {
                "common_examples": [
                    {
                        "text": "🛫 fly to Boston",
                        "intent": "book",
                        "entities": [
                            {"start": 9, "end": 15, "value": "BOS", "entity": "city", "role": "to"}
                        ],
                    },
                    {"text": "get my money back", "intent": "book", "entities": []},
                    {"text": "refund my ticket", "intent": "refund", "entities": []},
                ],
                "entity_synonyms": [{"value": "BOS", "synonyms": ["Boston"]}],
            }
        },
        indent=4,
        ensure_ascii=False,
    )
}

RASA_YAML = {
    "data/nlu.yml": """\
version: "3.1"
nlu:
# what people say
- intent: book
  examples: |
    - 🛫 fly to [Boston]{"entity": "city", "role": "to", "value": "BOS"}
    - get my money back
- synonym: BOS
  examples: |
    - Boston
""",
    "data/more/refund.yml": 'version: "3.1"\r\nnlu:\r\n  - intent:   refund # soon\r\n'
    "    examples: |\r\n      -  refund my ticket\r\n",
    "domain.yml": 'version: "3.1"\nintents:\n- book\n- refund\n',
    "config.yml": "language: en\n",
}

LU = {
    "shop.lu": """\
> !# @app.name = shop
> !# @app.culture = en-us

# book
- 🛫 fly to {@city=Boston}
- get my money back
- fly to {@city} please
[Other](./other.lu)

## refund
* refund my ticket

# None
+ who won the match

# ? opening hours
- when are you open
```markdown
- at nine
```

@ ml city
@ list food =
    - apple :
        - apples
""",
}

CX_CSV = {
    "intents.csv": "Intent Display Name,Language,Phrase\r\nbook,en,🛫 fly to Boston\r\n"
    ',,"get my money back"\r\n,,"say ""hi"", then go"\r\nrefund,en,refund my ticket\r\n,de,'
    "gib mir mein Geld\r\n"
}

WATSON_CSV = {
    "intents.csv": '🛫 fly to Boston,book\n"get my money back",book\nrefund my ticket,refund\n',
}

TABLES: Mapping[str, Mapping[str, str]] = {"cx-csv": CX_CSV, "watson-csv": WATSON_CSV}
"""CSVs, which are told by whoever names them as a package."""

EXPORTS: Mapping[str, Mapping[str, str]] = {
    "dialogflow-es": ES,
    "dialogflow-cx": CX,
    "luis": LUIS,
    "clu": CLU,
    "watson": WATSON,
    "lex": LEX,
    "lu": LU,
    "rasa": RASA_YAML,
    "rasa-json": RASA,
}


def write_export(platform: str, folder: Path) -> Path:
    """Write a platform's export as it comes: one file, or a zip."""
    files = {**EXPORTS, **TABLES}[platform]
    if len(files) == 1:
        ((name, text),) = files.items()
        (folder / name).write_bytes(text.encode())
        return folder / name
    path = folder / f"{platform}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text.encode())
    return path


def read_export(path: Path) -> dict[str, bytes]:
    """Return the files of an export by name."""
    if not zipfile.is_zipfile(path):
        return {path.name: path.read_bytes()}
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def project_of(agent: Agent) -> list[Labelled]:
    """Return a project that says of the phrases what the package does."""
    return [
        Labelled(one.text, (one.intent,) if one.intent else (), one.slots, one.split == "test")
        for one in agent.phrases
    ]


def back(agent: Agent, found: Overlaid, folder: Path) -> dict[str, bytes]:
    """Write a package with its changes into a folder `out`; return its files."""
    out = folder / "out" / agent.package.path.name
    out.parent.mkdir()
    write_package(agent.package, found.changed, out)
    return read_export(out)
