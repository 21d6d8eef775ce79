"""What users said, out of the logs of Rasa and Dialogflow CX, in all the forms that these have."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from core.errors import InvalidInput
from core.formats import gzipped
from core.traffic import json_values
from core.traffic.conversation_logs import UserTurn, conversation_tool, user_turns

AT = 1_770_026_400.25
SESSION = {"labels": {"session_id": "s1"}, "timestamp": "2026-02-02T10:00:00.123456789Z"}


def user(text: str | None, **more: Any) -> dict[str, Any]:
    return {"event": "user", "timestamp": AT, "text": text, "input_channel": "rest", **more}


RASA_EVENTS = [
    {"event": "action", "timestamp": AT, "name": "action_session_start"},
    user("where is my parcel", parse_data={"intent": {"name": "track"}}),
    {"event": "bot", "timestamp": AT, "text": "On its way."},
    user("/restart"),
    user(None),
    user(" thanks ", input_channel="slack"),
]
SAID = [
    UserTurn("where is my parcel", "1770026400.250000", "rest"),
    UserTurn("thanks", "1770026400.250000", "slack"),
]


def write(path: Path, values: list[dict[str, Any]], *, lines: bool = True) -> Path:
    text = "\n".join(map(json.dumps, values)) if lines else json.dumps(values, indent=1)
    data = (text + "\n").encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def turns(path: Path, tool: str) -> list[UserTurn]:
    found = conversation_tool(path)
    assert found == tool
    return list(user_turns(path, found))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("trackers.json", [{"sender_id": "a", "events": RASA_EVENTS}]),
        ("mongo.jsonl.gz", [{"_id": {"$oid": "1"}, "sender_id": "a", "events": RASA_EVENTS}]),
        ("broker.jsonl", [{"sender_id": "a", **one} for one in RASA_EVENTS]),
        (
            "sql.jsonl",
            [
                {"id": n, "sender_id": "a", "type_name": one["event"], "data": json.dumps(one)}
                for n, one in enumerate(RASA_EVENTS)
            ],
        ),
    ],
)
def test_rasa_tells_what_users_typed(
    name: str, values: list[dict[str, Any]], tmp_path: Path
) -> None:
    path = write(tmp_path / name, values, lines="jsonl" in name)
    assert turns(path, "rasa") == SAID


def test_times_of_a_mongo_export_are_read(tmp_path: Path) -> None:
    event = user("hello") | {"timestamp": {"$numberDouble": "1770026400.25"}}
    path = write(tmp_path / "mongo.jsonl", [{"events": [event]}])
    assert [one.time for one in turns(path, "rasa")] == ["1770026400.25"]


def test_cloud_logging_tells_each_turn_once_with_its_channel(tmp_path: Path) -> None:
    asked = {"queryInput": {"text": {"text": "my card is lost"}}, "queryParams": {"channel": "web"}}
    entries: list[dict[str, Any]] = [
        {**SESSION, "jsonPayload": asked},
        {**SESSION, "jsonPayload": {"queryResult": {"text": "my card is lost"}}},
        {**SESSION, "jsonPayload": {"queryResult": {"transcript": "block it"}}},
        {**SESSION, "jsonPayload": {"queryResult": {"triggerEvent": "WELCOME"}}},
        {"timestamp": "2026-02-02T10:01:00Z", "textPayload": "webhook"},
    ]
    path = write(tmp_path / "cx.json", entries, lines=False)
    time = SESSION["timestamp"]
    found = turns(path, "dialogflow-cx")
    assert found == [UserTurn("my card is lost", time, "web"), UserTurn("block it", time, "web")]
    alone = write(tmp_path / "requests.jsonl", entries[:1])
    assert turns(alone, "dialogflow-cx") == [UserTurn("my card is lost", time, "web")]


def test_the_history_of_conversations_tells_time_and_kind(tmp_path: Path) -> None:
    interactions: list[dict[str, Any]] = [
        {"createTime": "2026-02-02T10:00:00Z", "requestUtterances": "hello", "response": {}},
        {
            "createTime": "2026-02-02T10:00:05Z",
            "request": {"queryInput": {"dtmf": {"digits": "12"}}},
            "requestUtterances": "12",
        },
        {
            "request": {
                "queryInput": {"text": {"text": "pay a bill"}},
                "queryParams": {"channel": "app"},
            },
            "responseUtterances": "Which one?",
        },
    ]
    one = {"name": "c", "type": "AUDIO", "startTime": "2026-02-02T09:59:00Z"}
    path = write(tmp_path / "history.json", [{**one, "interactions": interactions}], lines=False)
    assert turns(path, "dialogflow-cx") == [
        UserTurn("hello", "2026-02-02T10:00:00Z", "audio"),
        UserTurn("pay a bill", "2026-02-02T09:59:00Z", "app"),
    ]


def test_rows_of_the_bigquery_export_are_read_as_objects_or_as_texts(tmp_path: Path) -> None:
    request = {"queryInput": {"text": {"text": "hi"}}, "queryParams": {"channel": "web"}}
    row = {"conversation_name": "c", "request_time": "2026-02-02 10:00:00 UTC"}
    rows: list[dict[str, Any]] = [
        {**row, "request": request, "response": {"queryResult": {}}},
        {**row, "request": json.dumps(request), "response": "{}"},
        {**row, "request": "{}", "response": "{}", "derived_data": {"userUtterances": "and now"}},
    ]
    path = write(tmp_path / "bigquery.jsonl", rows)
    time = row["request_time"]
    web = UserTurn("hi", time, "web")
    assert turns(path, "dialogflow-cx") == [web, web, UserTurn("and now", time, "")]


def test_other_files_are_no_conversations_and_broken_json_is_named(tmp_path: Path) -> None:
    assert conversation_tool(write(tmp_path / "log.jsonl", [{"text": "a", "time": "b"}])) is None
    table = tmp_path / "log.csv"
    table.write_text("time,text\n1,a\n", encoding="utf-8")
    assert conversation_tool(table) is None
    broken = tmp_path / "cut.json"
    broken.write_text('[\n {"events": [', encoding="utf-8")
    with pytest.raises(InvalidInput, match="not JSON"):
        conversation_tool(broken)


def test_a_small_file_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch) -> None:
    """1 MB took 1 GB of memory as soon as it was uploaded, and 50 MB ended the server."""
    monkeypatch.setattr(gzipped, "_ALWAYS", 100_000)
    path = tmp_path / "a.json.gz"
    for content in (b"[\n" + b" " * 1_000_000, b"[]\n" * 300_000):
        path.write_bytes(gzip.compress(content))
        with pytest.raises(InvalidInput, match="unpacks to over 0"):
            conversation_tool(path)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("[\n" + " " * 2_000 + "]", "row 1: a document of over 1,000 characters"),
        ("[" + "[]," * 250 + "[]]", "row 1: over 400 values"),
        ("[\n" + "[]," * 250 + "[]]", "row 1: over 400 values"),
    ],
)
def test_a_document_that_takes_too_much_memory_is_refused(
    tmp_path: Path, monkeypatch, content: str, fault: str
) -> None:
    """Of three signs each, values took over a hundred times the memory of their file."""
    monkeypatch.setattr(json_values, "LONGEST_DOCUMENT", 1_000)
    monkeypatch.setattr(json_values, "MOST_VALUES", 400)
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(InvalidInput, match=fault):
        conversation_tool(path)
