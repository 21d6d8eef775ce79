"""What REST says of what cannot be done, and what its schema promises."""

import errno
from pathlib import Path

import pytest
from fastapi import HTTPException
from openapi_spec_validator import OpenAPIV31SpecValidator

from app.services.training.runs import TrainingRequest
from core.errors import NotFound
from storage.database import open_database
from tests.builders.trained_home import train_here

ERRORS = [str(n) for n in (400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 429, 500, 503, 507)]


def test_a_bundle_that_does_not_hold_is_the_senders_fault_and_named(client, trained) -> None:
    sent = client.get("/api/projects/p/models/1/bundle").content
    for content in (b"", b"hello", sent[:2_000]):
        files = {"file": ("from Ann.zip", content)}
        refused = client.post("/api/projects/p/bundles", files=files)
        assert refused.status_code == 422
        assert "'from Ann.zip'" in refused.json()["message"]
    lost = client.post("/api/projects/nope/bundles", files={"file": ("b.zip", sent)})
    assert lost.status_code == 404
    assert [one["name"] for one in client.get("/api/projects").json()] == ["p"]


def test_a_project_of_the_longest_name_is_exported_like_any(
    client, tiny_path: Path, live_studio
) -> None:
    """A hundred signs of four bytes are more than a file's name may have."""
    name = "\U0001f600" * 100
    client.post("/api/projects", json={"name": name})
    path = f"/api/projects/{name}"
    file = ("f.csv", "text,intent\nhi,greet\nhello,greet\nbye,bye\nciao,bye\n")
    key = client.post(f"{path}/uploads", files={"file": file}).json()["key"]
    client.post(f"{path}/uploads/{key}/import", json={})
    assert client.get(f"{path}/export").text.count("greet") == 2
    train_here(live_studio.studio, TrainingRequest(name, "instant", {}, str(tiny_path)))
    assert client.get(f"{path}/models/1/bundle").content[:2] == b"PK"


@pytest.mark.parametrize(
    "name", [".", "..", "a\tb", "a\x01b", "a\u2028b", "-p", "a\u202eb", "a\u200bb"]
)
def test_a_name_that_no_address_can_carry_is_refused(client, name: str) -> None:
    refused = client.post("/api/projects", json={"name": name})
    assert (refused.status_code, "cannot name a project" in refused.text) == (422, True)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (rb'{"recipe": "\ud83d"}', 422),
        (rb'{"settings": {"a": [{"b": "\uDe00"}]}}', 422),
        (rb'{"settings": {"\ud800": 1}}', 422),
        (b'{"recipe": "\xed\xa0\xbd"}', 400),
        (rb'{"recipe": "\ud83d\ude00"}', 422),  # a whole character, of no recipe
        (rb'{"recipe": "\\ud83d"}', 422),  # six letters
    ],
)
def test_half_of_a_character_is_refused_wherever_it_stands(
    client, labelled, body: bytes, status: int
) -> None:
    """The message quoted it, could not be sent, and the request ended in a fault of ours."""
    json = {"Content-Type": "application/json"}
    for route in ("train", "estimate"):
        refused = client.post(f"/api/projects/p/{route}", content=body, headers=json)
        message = refused.json()["message"]
        assert refused.status_code == status, message
        is_whole = rb"\ud83d\ude00" in body or rb"\\" in body
        assert ("There is no recipe" in message) is is_whole
        assert ("half of a character" in message) is (status == 422 and not is_whole)


def test_a_refusal_that_quotes_half_of_a_character_can_be_sent(
    client, labelled, monkeypatch
) -> None:
    def refuse(*_: object) -> None:
        raise HTTPException(404, "There is no file 'M\udcfcller.csv'.")

    monkeypatch.setattr("app.api.labelling.load_today", refuse)
    refused = client.get("/api/projects/p/today?since=2026-01-01")
    assert (refused.status_code, refused.json()["message"]) == (
        404,
        "There is no file 'M\ufffdller.csv'.",
    )


def test_what_is_not_there_is_said_in_the_shape_of_every_error(client) -> None:
    answer = client.get("/api/nothing")
    assert answer.status_code == 404
    assert answer.json()["message"] == "There is no GET /api/nothing."
    assert "/api/schema" in answer.json()["hint"]
    assert client.get("/api/schema").json()["info"]["title"] == "Intent Studio"


def test_another_method_than_a_path_has_is_said_with_those_it_has(client) -> None:
    """It was answered by 404, as if the path was not there."""
    answer = client.delete("/api/projects")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, POST")
    assert answer.json()["message"] == "/api/projects is there, but not for DELETE."


def test_the_versioned_address_is_the_same_interface(client, labelled) -> None:
    for path in ("/projects", "/projects/p/overview", "/health"):
        assert client.get(f"/api/v1{path}").json() == client.get(f"/api{path}").json()
    assert client.post("/api/v1/projects", json={"name": "q"}).status_code == 201
    assert client.get("/api/v2/projects").status_code == 404
    paths = client.get("/api/v1/schema").json()["paths"]
    assert all(path.startswith("/api/v1/") for path in paths)


def test_the_schema_is_valid_and_says_who_may_enter(client) -> None:
    """Three parameters of paths were not declared, and no generated client could be built."""
    schema = client.get("/api/schema").json()
    assert [error.message for error in OpenAPIV31SpecValidator(schema).iter_errors()] == []
    schemes = schema["components"]["securitySchemes"]
    assert (schemes["bearer"]["scheme"], schemes["cookie"]["in"]) == ("bearer", "cookie")
    assert schema["security"] == [{"bearer": []}, {"cookie": []}]
    health = schema["paths"]["/api/v1/health"]["get"]
    assert health["security"] == []


def test_a_full_disk_is_said_in_words(client, labelled, monkeypatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("app.services.data.uploads._write", full)
    answer = client.post("/api/projects/p/uploads", files={"file": ("f.csv", "text\na\n")})
    assert (answer.status_code, "disk is full" in answer.json()["message"]) == (507, True)


@pytest.mark.parametrize(
    "short", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory")]
)
def test_too_little_memory_is_said_in_words_with_a_time_to_try_again(
    client, labelled, monkeypatch, short: Exception
) -> None:
    """It was told as "Something broke (incident ...)", as if the studio were at fault."""

    def refuse(*_: object) -> None:
        raise short

    monkeypatch.setattr("app.api.labelling.load_today", refuse)
    refused = client.get("/api/projects/p/today?since=2026-01-01")
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "15")
    assert refused.json()["message"] == "There was not enough memory."


def test_a_limit_of_threads_is_said_in_words_with_a_time_to_try_again(
    client, labelled, monkeypatch
) -> None:
    """It was told as "Something broke (incident ...)", as if the studio were at fault."""

    def refuse(*_: object) -> None:
        message = "can't start new thread"
        raise RuntimeError(message)

    monkeypatch.setattr("app.api.labelling.load_today", refuse)
    refused = client.get("/api/projects/p/today?since=2026-01-01")
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "15")
    assert "no more threads or processes" in refused.json()["message"]
    assert "limit raised" in refused.json()["hint"]


def test_a_fault_met_while_a_refusal_is_handled_is_told_by_itself(
    client, labelled, monkeypatch
) -> None:
    """It was told as the refusal, and no incident stood in the log."""

    def refuse() -> None:
        raise NotFound("There is no such text.")

    def stumble(*_: object) -> str:
        try:
            refuse()
        except NotFound:
            return {"told": "refused"}["slip"]
        return "found"

    monkeypatch.setattr("app.api.labelling.load_today", stumble)
    broken = client.get("/api/projects/p/today?since=2026-01-01")
    assert (broken.status_code, "incident" in broken.json()["message"]) == (500, True)


@pytest.mark.parametrize(
    ("base", "status", "says"),
    [
        ("p@9", 404, "no model version 9"),
        ("q@1", 404, "no project 'q'"),
        ("p@x", 422, "'x' is no"),
        ("\u4e2d" * 100 + "@1", 404, "no project"),  # too long for a file, but not for a project
    ],
)
def test_a_base_that_is_not_there_is_refused_before_anything_is_queued(
    client, labelled, base: str, status: int, says: str
) -> None:
    asked = client.post("/api/projects/p/train", json={"recipe": "instant", "base": base})
    assert asked.status_code == status
    assert says in asked.json()["message"]
    assert client.get("/api/projects/p/jobs").json() == []


def test_the_schema_tells_every_shape(client) -> None:
    """Answers had been "any", and errors of the framework's own shape, which none has."""
    schema = client.get("/api/schema").json()
    names = set()
    for path, methods in schema["paths"].items():
        for method, route in methods.items():
            names.add(route["operationId"])
            for code in ERRORS:
                shared = schema["components"]["responses"][f"Problem{code}"]
                reference = shared["content"]["application/json"]["schema"]["$ref"]
                assert reference.endswith("/Problem"), (method, path, code)
                assert route["responses"][code]["$ref"].endswith(f"/Problem{code}"), path
            said = {code: answer.get("content", {}) for code, answer in route["responses"].items()}
            good = next(content for code, content in said.items() if code.startswith("2"))
            if not good or "application/octet-stream" in good:
                continue  # nothing, or a file
            shape = good["application/json"]["schema"]
            for choice in shape.get("anyOf", [shape]):
                assert choice.keys() & {"$ref", "items", "type"}, (method, path)
                assert choice.get("additionalProperties") is not True, (method, path)
    assert {"projects_overview", "map_compare", "versions_compare"} <= names
    assert len(names) == sum(len(methods) for methods in schema["paths"].values())


def test_a_server_without_its_database_is_alive_and_not_ready(client, studio) -> None:
    studio.database.close()
    for path in studio.places.home.glob("studio.db*"):
        path.unlink()
    studio.places.database.write_bytes(b"no database" * 1_000)
    assert client.get("/api/health/live").status_code == 200
    ready = client.get("/api/health/ready")
    assert ready.status_code == 503
    assert "damaged" in ready.json()["message"]


def test_a_lock_held_by_others_is_told_with_a_time_to_try_again(client, studio, labelled) -> None:
    """A label beside another program's long import ended in a fault of ours."""
    with studio.database.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA busy_timeout=10")
    other = open_database(studio.places.database)
    operation = {"key": "k" * 12, "kind": "skip", "id": "x"}
    with other.write():
        busy = client.post("/api/projects/p/ops", json=[operation])
    other.close()
    assert busy.status_code == 503
    assert 1 <= int(busy.headers["Retry-After"]) <= 60
    assert "Another program is writing" in busy.json()["message"]
    assert client.post("/api/projects/p/ops", json=[operation]).status_code == 200
