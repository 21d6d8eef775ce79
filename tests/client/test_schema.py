"""Every path, parameter and field that the client uses stands in the schema of the studio."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from jsonschema import Draft202012Validator

from app.api.http.openapi import complete_schema
from app.api.routes import all_routes
from intent_studio_client.connection import Connection, Request
from intent_studio_client.studio import Change, NewText, SaidText, Studio

CALLS: dict[str, tuple[Any, ...]] = {
    "projects": (),
    "create_project": ("p",),
    "status": ("p",),
    "intents": ("p",),
    "add_texts": ("p", [NewText("a text", ("x",), "train"), "another"]),
    "predict": ("p", ["a text"], 3, 5),
    "findings": ("p", "label", 20),
    "propose": ("p", "a script", [Change({"kind": "delete", "ids": ["1"]}, "Why.")]),
    "proposals": ("p",),
    "pins": ("p",),
    "pin": ("p", "a text", ["x"]),
    "train": ("p", "instant", {"tau": 0.3}),
    "job": ("j",),
    "promote": ("p", 1),
    "export_bundle": ("p", Path("out.zip")),
    "send_traffic": ("p", [SaidText("a text", "2026-11-27T10:00:00", "chat", "k")]),
}
ASKS_OTHERS = {"wait"}
"""What sends only what another method does."""


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    app = FastAPI()
    app.router.routes += all_routes()
    complete_schema(app)
    return app.openapi()


@pytest.fixture
def sent(schema: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """Requests that were sent; each is checked, and answered with what the schema says."""
    requests = list[Request]()

    def ask(_: Connection, request: Request) -> Any:
        requests.append(request)
        return answer_to(schema, request)

    def save(_: Connection, request: Request, out: Path) -> None:
        requests.append(request)
        operation = checked(schema, request)
        assert "application/octet-stream" in operation["responses"]["200"]["content"], out

    monkeypatch.setattr(Connection, "ask", ask)
    monkeypatch.setattr(Connection, "save", save)
    return requests


def test_every_method_is_called_here() -> None:
    methods = {name for name in vars(Studio) if name[0] != "_" and callable(vars(Studio)[name])}
    assert methods - ASKS_OTHERS == CALLS.keys()


@pytest.mark.parametrize("name", CALLS)
def test_what_is_sent_and_read_stands_in_the_schema(name: str, sent: list[Request]) -> None:
    getattr(Studio("http://studio", "token"), name)(*CALLS[name])
    assert sent
    if name == "pin":
        assert sent[-1].body == {"text": "a text", "intents": ["x"]}
        Studio("http://studio", "token").pin("p", "a text", None)
        assert sent[-1].body == {"text": "a text", "intents": None}


def checked(schema: dict[str, Any], request: Request) -> dict[str, Any]:
    """Return the operation of a request, whose parameters and body must fit it."""
    operation: dict[str, Any] = schema["paths"][request.path][request.method.lower()]
    known = {f"{one['in']} {one['name']}" for one in operation.get("parameters", ())}
    used = {f"path {name}" for name in request.places or ()}
    used |= {f"query {name}" for name in request.query or ()}
    used |= {"header Idempotency-Key"} if request.key else set()
    assert used <= known
    for name, value in (request.query or {}).items():
        [parameter] = [one for one in operation["parameters"] if one["name"] == name]
        if not isinstance(value, str):
            _validate(schema, parameter["schema"], value)
    if request.body is not None:
        body = operation["requestBody"]["content"]["application/json"]["schema"]
        _validate(schema, body, _as_json(request.body))
    else:
        assert not operation.get("requestBody", {}).get("required")
    return operation


def _as_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_json(one) for key, one in value.items()}
    return [_as_json(one) for one in value] if isinstance(value, list | tuple) else value


def _validate(schema: dict[str, Any], part: dict[str, Any], value: Any) -> None:
    whole = {**part, "components": schema["components"]}
    errors = list(Draft202012Validator(whole).iter_errors(value))
    assert errors == []


def answer_to(schema: dict[str, Any], request: Request) -> Any:
    """Return a value that fits the schema of a request's answer."""
    operation = checked(schema, request)
    [status] = [code for code in operation["responses"] if code[0] == "2"]
    content = operation["responses"][status].get("content")
    return sample(schema, content["application/json"]["schema"]) if content else None


def sample(schema: dict[str, Any], part: dict[str, Any]) -> Any:
    """Return an example with every field; of several shapes, the last that is not null."""
    if "$ref" in part:
        return sample(schema, schema["components"]["schemas"][part["$ref"].rpartition("/")[2]])
    if "anyOf" in part:
        return sample(schema, [one for one in part["anyOf"] if one.get("type") != "null"][-1])
    if "enum" in part or "const" in part:
        return part.get("const", part.get("enum", [None])[0])
    kind = part.get("type")
    if kind == "object":
        return dict(_fields(schema, part))
    if kind == "array":
        return [sample(schema, part["items"])] if "items" in part else []
    return {"string": "x", "integer": 1, "number": 0.5, "boolean": True}.get(str(kind))


def _fields(schema: dict[str, Any], part: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in part.get("properties", {}).items():
        yield name, sample(schema, value)
