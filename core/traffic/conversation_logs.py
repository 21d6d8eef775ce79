"""What users said, out of the logs of conversations that Rasa and Dialogflow CX keep.

Rasa: documents of a tracker store (`events` of one conversation), events one by one as an event
broker writes them, and rows of the SQL store (`type_name`, `data`). Dialogflow CX: entries of Cloud
Logging (`jsonPayload`), rows of the BigQuery export (`request`, `response`, `derived_data`) and the
conversation history (`interactions`).
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from core.traffic.json_values import read_objects

ConversationTool = Literal["rasa", "dialogflow-cx"]
_Json = dict[str, Any]
_LOOKED_AT = 50
"""Objects at the beginning of a file that tell which tool wrote it."""


@dataclass(frozen=True, slots=True)
class UserTurn:
    """What a user said, as it was written; `source` is the channel, or "" where none is noted."""

    text: str
    time: str
    source: str


def conversation_tool(path: Path) -> ConversationTool | None:
    """Return which tool wrote a log of conversations; None for all other files.

    Raises:
        InvalidInput: The file is JSON that cannot be read.
    """
    for value in islice(read_objects(path), _LOOKED_AT):
        if _is_rasa(value):
            return "rasa"
        if _is_cx(value):
            return "dialogflow-cx"
    return None


def user_turns(path: Path, tool: ConversationTool) -> Iterator[UserTurn]:
    """Yield what users said, in the order of the file; what buttons and events sent is left out.

    Raises:
        InvalidInput: The file cannot be read.
    """
    return _of_rasa(path) if tool == "rasa" else _of_cx(path)


def _is_rasa(value: _Json) -> bool:
    events = value.get("events")
    if isinstance(events, list):
        return any(isinstance(one, dict) and "event" in one for one in events)
    return ("event" in value and "timestamp" in value) or {"type_name", "data"} <= value.keys()


def _of_rasa(path: Path) -> Iterator[UserTurn]:
    for value in read_objects(path):
        events = value.get("events")
        for one in events if isinstance(events, list) else [value]:
            event = _object(one.get("data")) if isinstance(one, dict) and "data" in one else one
            if isinstance(event, dict) and event.get("event") == "user":
                text = _text(event.get("text"))
                if text and not text.startswith("/"):  # a button, not words of a person
                    time = _plain(event.get("timestamp"))
                    yield UserTurn(text, time, _text(event.get("input_channel")))


def _is_cx(value: _Json) -> bool:
    payload = value.get("jsonPayload")
    if isinstance(payload, dict):
        return "queryResult" in payload or "queryInput" in payload
    return isinstance(value.get("interactions"), list) or "conversation_name" in value


def _of_cx(path: Path) -> Iterator[UserTurn]:
    channels, answered = _sessions(path)
    for value in read_objects(path):
        payload = value.get("jsonPayload")
        if isinstance(payload, dict):
            # Request and response of one turn are two entries: the response tells more.
            if "queryResult" in payload or not answered:
                source = channels.get(_session(value), "")
                yield from _cx_turn(payload, payload, value.get("timestamp"), source)
            continue
        kind = _text(value.get("type")).lower()
        source = kind if kind in ("audio", "text") else ""
        interactions = value.get("interactions")
        for one in interactions if isinstance(interactions, list) else [value]:
            if isinstance(one, dict):
                request, response = _object(one.get("request")), _object(one.get("response"))
                time = one.get("createTime") or one.get("request_time") or value.get("startTime")
                yield from _cx_turn(request, response, time, _channel(request) or source, one)


def _sessions(path: Path) -> tuple[dict[str, str], bool]:
    """Return the channel of each session of Cloud Logging, and whether responses are logged."""
    channels, answered = dict[str, str](), False
    for value in read_objects(path):
        payload = value.get("jsonPayload")
        if isinstance(payload, dict):
            answered = answered or "queryResult" in payload
            if channel := _channel(payload):
                channels[_session(value)] = channel
    return channels, answered


def _cx_turn(
    request: _Json, response: _Json, time: object, source: str, noted: _Json | None = None
) -> Iterator[UserTurn]:
    """Yield the words of a turn, unless an event, a button or a key of a phone stands for them."""
    asked, found = _object(request.get("queryInput")), _object(response.get("queryResult"))
    if {"event", "intent", "dtmf"} & asked.keys():
        return
    text = (
        _text(found.get("text"))
        or _text(found.get("transcript"))
        or _text(_object(asked.get("text")).get("text"))
    )
    if not text and noted is not None:
        said = _object(noted.get("derived_data")).get("userUtterances")
        text = _text(noted.get("requestUtterances")) or _text(said)
    if text:
        yield UserTurn(text, _plain(time), source)


def _channel(request: Mapping[str, Any]) -> str:
    """Return the channel of a request: REST and logs call its place by different names."""
    for name in ("queryParams", "queryParameters"):
        if channel := _text(_object(request.get(name)).get("channel")):
            return channel
    return ""


def _session(entry: _Json) -> str:
    return _text(_object(entry.get("labels")).get("session_id"))


def _object(value: object) -> _Json:
    """Return a JSON object, also one that is written as a text; else an empty one."""
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _plain(value: object) -> str:
    """Write a time as it stands, a number of MongoDB's JSON (`$numberDouble`, `$date`), too."""
    while isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    if isinstance(value, float):
        return f"{value:.6f}"
    return str(value) if isinstance(value, str | int) else ""
