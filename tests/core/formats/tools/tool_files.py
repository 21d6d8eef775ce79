"""Small files of each tool, written as the tool writes them, with what is in them."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

TEXTS = ("🛫 fly to Boston", "get my money back", "refund my ticket", "who won the match")


def _lines(*records: object) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


CX_CSV = (
    "Intent Display Name,Language,Phrase\r\nbook,en,🛫 fly to Boston\r\n,,get my money back\r\n"
    "refund,en,refund my ticket\r\nrefund,de,\r\nchat,de,who won the match\r\n"
)
PRODIGY = _lines(
    {
        "text": TEXTS[0],
        "label": "book",
        "spans": [{"start": 9, "end": 15, "label": "city", "token_start": 3, "token_end": 3}],
        "tokens": [],
        "meta": {"source": "log"},
        "_input_hash": 1,
        "_task_hash": 2,
        "answer": "accept",
    },
    {
        "text": TEXTS[1],
        "options": [{"id": "book", "text": "Book"}, {"id": "refund", "text": "Refund"}],
        "accept": ["book"],
        "_input_hash": 3,
        "_task_hash": 4,
        "answer": "accept",
    },
    {"text": TEXTS[2], "label": "book", "_input_hash": 5, "_task_hash": 6, "answer": "reject"},
    {"text": TEXTS[3], "accept": [], "_input_hash": 7, "_task_hash": 8, "answer": "accept"},
)
DOCCANO = _lines(
    {
        "id": 1,
        "text": TEXTS[0],
        "cats": ["book"],
        "entities": [{"id": 9, "label": "city", "start_offset": 9, "end_offset": 15}],
        "Comments": [],
    },
    {"id": 2, "text": TEXTS[1], "label": ["book"], "Comments": ["check"]},
    {"id": 3, "text": TEXTS[2], "label": [[0, 6, "act"]], "Comments": []},
    {"id": 4, "text": TEXTS[3], "label": [], "Comments": []},
)
SPACY = _lines(
    {
        "text": TEXTS[0],
        "ents": [{"start": 9, "end": 15, "label": "city"}],
        "cats": {"book": 1.0, "refund": 0.0},
        "tokens": [],
    },
    {"text": TEXTS[1], "cats": {"book": 0.7, "refund": 0.3}},
    {"text": TEXTS[2], "ents": []},
    {"text": TEXTS[3], "cats": {"book": 0, "refund": 0}},
)


def _said(*labels: str, **more: object) -> dict[str, object]:
    value = {"type": "choices", "from_name": "intent", "to_name": "text"}
    return {"completed_by": 1, "result": [{**value, "value": {"choices": list(labels)}}], **more}


_CITY = {"start": 10, "end": 16, "text": "Boston", "labels": ["city"]}
LABEL_STUDIO = json.dumps(
    [
        {
            "id": 1,
            "data": {"text": TEXTS[0]},
            "annotations": [
                {"result": [*_said("book")["result"], {"type": "labels", "value": _CITY}]},  # type: ignore[misc]
                _said("refund"),
                _said("book"),
            ],
            "predictions": [{"model_version": "v1", "result": []}],
        },
        {
            "id": 2,
            "data": {"text": TEXTS[1]},
            "annotations": [_said("refund"), _said("book", ground_truth=True)],
        },
        {"id": 3, "data": {"text": TEXTS[2]}, "annotations": [_said("book"), _said("refund")]},
        {"id": 4, "data": {"text": TEXTS[3]}, "annotations": [_said("book", was_cancelled=True)]},
    ],
    indent=2,
    ensure_ascii=False,
)
ARGILLA = json.dumps(
    [
        {
            "id": "a-1",
            "text": TEXTS[0],
            "intent.responses": ["book", "refund", "book"],
            "intent.responses.users": ["u1", "u2", "u3"],
            "intent.responses.status": ["submitted", "discarded", "submitted"],
            "intent.suggestion": "book",
            "intent.suggestion.score": 0.9,
            "spans.responses": [[{"start": 9, "end": 15, "label": "city"}]],
            "rating.responses": [4],
        },
        {
            "id": "a-2",
            "fields": {"text": TEXTS[1]},
            "metadata": {"source": "log"},
            "suggestions": {},
            "responses": {"intent": [{"value": "book", "user_id": "u1", "status": "submitted"}]},
        },
        {"id": "a-3", "text": TEXTS[2], "intent.responses": None, "intent.suggestion": "refund"},
        {"id": "a-4", "text": TEXTS[3], "intent.responses": ["book", "refund"]},
    ]
)
HUMANFIRST = json.dumps(
    {
        "$schema": "https://docs.humanfirst.ai/hf-json-schema.json",
        "examples": [
            {
                "id": "e1",
                "text": TEXTS[0],
                "intents": [{"intent_id": "i2"}],
                "tags": [{"id": "t"}],
                "entities": [
                    {
                        "entity_id": "c",
                        "name": "city",
                        "text": "Boston",
                        "span": {"from_character": 12, "to_character": 18},
                        "value": "BOS",
                    }
                ],
                "parts": [{"text": "🛫 fly to "}, {"entity": {"name": "city", "text": "Boston"}}],
            },
            {"id": "e2", "text": TEXTS[1], "intents": [{"intent_id": "i2"}]},
            {"id": "e3", "text": TEXTS[2], "intents": [{"intent_id": "i3"}]},
            {"id": "e4", "text": TEXTS[3], "intents": []},
            {"id": "e5", "text": "how can I help", "intents": [], "context": {"role": "expert"}},
        ],
        "intents": [
            {"id": "i1", "name": "trips", "metadata": {}},
            {"id": "i2", "name": "book", "parent_intent_id": "i1"},
            {"id": "i3", "name": "refund", "metadata": {"team": "a"}},
        ],
        "tags": [{"id": "t", "name": "seen", "color": "#fff"}],
        "entities": [
            {
                "id": "c",
                "name": "city",
                "values": [
                    {"key_value": "BOS", "synonyms": [{"value": "BOS"}, {"value": "Boston"}]}
                ],
                "settings": {"method": "words"},
            }
        ],
    },
    indent=2,
)
ROUTES_JSON = json.dumps(
    {
        "encoder_type": "openai",
        "routes": [
            {"name": "book", "utterances": list(TEXTS[:2]), "description": "to book"},
            {"name": "refund", "utterances": [TEXTS[2]], "score_threshold": 0.5},
            {"name": "chat", "utterances": [TEXTS[3], ["an", "image"]]},
        ],
    },
    indent=2,
)
ROUTES_YAML = """\
encoder_type: openai
routes:
- name: book
  description: to book
  utterances:
  - 🛫 fly to Boston
  - get my money back
- name: refund
  utterances: [refund my ticket]
- name: chat
  utterances:
    - >-
      who won
      the match
    - [an, image]
"""
BOTPRESS = {
    "intents/book.json": json.dumps(
        {
            "name": "book",
            "contexts": ["global"],
            "filename": "book.json",
            "slots": [{"name": "city", "entities": ["city"]}],
            "utterances": {"en": ["🛫 fly to [Boston](city)", "get my money back"]},
        }
    ),
    "intents/refund.json": '{"name": "refund", "utterances": '
    '{"en": ["refund my ticket"], "de": []}}',
    "intents/none.json": '{"name": "none", "utterances": {"en": ["who won the match"]}}',
    "entities/city.json": '{"id": "city", "name": "city", "type": "list"}',
    "qna/x.json": "{}",
}
WATSON_CSV = {
    "intents.csv": "🛫 fly to Boston,book\nget my money back,book\n"
    '"refund my ticket",refund\nwho won the match,chat\n',
    "entities.csv": "city,Boston,Bean Town\ncity,Rome\n",
}


def _one(name: str, text: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / name).write_bytes(text.encode())
        return folder / name

    return write


def write_folder(files: Mapping[str, str]) -> Callable[[Path], Path]:
    """Return what writes a folder of files."""

    def write(folder: Path) -> Path:
        for name, text in files.items():
            (folder / "tool" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "tool" / name).write_bytes(text.encode())
        return folder / "tool"

    return write


def _datasets(folder: Path) -> Path:
    """Write what `DatasetDict.save_to_disk` does, with pyarrow alone."""
    import pyarrow as pa

    rows = {"train": (TEXTS[:2], [0, 0], [7, 8]), "test": (TEXTS[2:3], [1], [9])}
    rows["validation"] = (TEXTS[3:], [-1], [0])
    label = {"names": ["book", "refund"], "_type": "ClassLabel"}
    features = {"text": {"dtype": "string", "_type": "Value"}, "label": label}
    for split, (texts, labels, hours) in rows.items():
        below = folder / "tool" / split
        below.mkdir(parents=True)
        (below / "dataset_info.json").write_text(json.dumps({"features": features}))
        (below / "state.json").write_text('{"_data_files": []}')
        table = pa.table({"text": list(texts), "label": labels, "hour": hours})
        with pa.ipc.new_stream(str(below / "data-00000-of-00001.arrow"), table.schema) as out:
            out.write_table(table)
    (folder / "tool" / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    return folder / "tool"


WRITERS: Mapping[str, Callable[[Path], Path]] = {
    "argilla": _one("records.json", ARGILLA),
    "botpress": write_folder(BOTPRESS),
    "cx-csv": _one("phrases.csv", CX_CSV),
    "datasets": _datasets,
    "doccano": _one("all.jsonl", DOCCANO),
    "humanfirst": _one("workspace.json", HUMANFIRST),
    "label-studio": _one("project.json", LABEL_STUDIO),
    "prodigy": _one("db-out.jsonl", PRODIGY),
    "semantic-router": _one("routes.json", ROUTES_JSON),
    "spacy": _one("docs.jsonl", SPACY),
    "watson-csv": write_folder(WATSON_CSV),
}


def write_routes_in_yaml(folder: Path) -> Path:
    """Write the routes as YAML."""
    return _one("routes.yaml", ROUTES_YAML)(folder)
