"""What the server logs and measures, and what must never stand there."""

import json
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from app.api.http import schemas
from app.log_lines import JsonLines, TextLines, set_up_logs
from app.services.live.live_studio import LiveStudio
from tests.served_in_memory import TOKEN

SECRET = "My card 4929 was stolen in Lisbon"


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A file with what the server logs in JSON."""
    file, root = tmp_path / "server.log", logging.getLogger()
    handlers, level = root.handlers[:], root.level
    with file.open("w", encoding="utf-8") as stream:
        monkeypatch.setattr("sys.stderr", stream)
        set_up_logs("json")
        yield file
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.getLogger("app").setLevel(logging.NOTSET)


def lines(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_each_request_is_one_line_without_texts_and_tokens(
    serve: Callable[..., TestClient], log: Path
) -> None:
    client = serve(TOKEN)
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    answers = [
        client.get("/api/health/live"),
        client.post("/api/projects", json={"name": SECRET}, headers=bearer),
        client.get(f"/api/projects/{SECRET}/status", headers=bearer),
        client.get("/api/projects", headers={"Authorization": "Bearer wrong"}),
        client.get(f"/api/projects?token={TOKEN}", follow_redirects=False),
        client.get(f"/api/{SECRET}", headers=bearer),
        client.request(SECRET.replace(" ", "-"), "/api/projects", headers=bearer),
    ]
    found = [line for line in lines(log) if line["event"] == "request"]
    assert [line["id"] for line in found] == [answer.headers["x-request-id"] for answer in answers]
    assert [(line["method"], line["route"], line["status"], line["person"]) for line in found] == [
        ("GET", "/api/health/live", 200, "-"),
        ("POST", "/api/projects", 201, "local"),
        ("GET", "/api/projects/{project}/status", 200, "local"),
        ("GET", "-", 401, "-"),
        ("GET", "-", 303, "local"),
        ("GET", "/api/{rest:path}", 404, "local"),
        ("OTHER", "-", 404, "local"),
    ]
    assert all(isinstance(line["ms"], float) for line in found)
    words = log.read_text(encoding="utf-8")
    assert TOKEN not in words
    assert "4929" not in words


def test_an_incident_has_the_number_of_its_request_and_no_text(
    serve: Callable[..., TestClient], log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The traceback that the server printed ended with the error's message, which quotes texts."""

    def fail() -> None:
        raise ValueError(SECRET)

    monkeypatch.setattr(schemas, "Health", fail)
    answer = serve().get("/api/health/live")
    number = answer.headers["x-request-id"]
    assert answer.status_code == 500
    assert answer.json()["message"] == f"Something broke (incident {number})."
    fault, request = lines(log)
    assert fault["event"] == f"incident {number} at /api/health/live"
    assert fault["error"][0] == "ValueError"  # type: ignore[index]
    assert fault["error"][-1].endswith(" fail")  # type: ignore[index]
    assert (request["status"], request["id"]) == (500, number)
    assert "4929" not in log.read_text(encoding="utf-8")


def test_a_line_of_text_stays_one_line() -> None:
    record = logging.LogRecord("app", logging.INFO, "", 0, "began\nFAKE %s", ("a\r\nb",), None)
    record.facts = {"route": "/a b", "status": 200, "person": 'An"na'}
    written = TextLines().format(record)
    assert re.sub(r"^\S+ ", "", written) == (
        r'INFO began\nFAKE a\r\nb route="/a b" status=200 person="An\"na"'
    )
    assert json.loads(JsonLines().format(record))["event"] == "began\nFAKE a\r\nb"


@pytest.mark.parametrize(
    "text",
    ["\x1b[2J\x1b[1A", "x\rgone", "\x9b2J", "a\x7f", "a\u2028b", "\x85", "\u202ea", "\ud800"],
)
def test_a_line_of_text_commands_no_terminal(text: str) -> None:
    """A customer's text cleared the operator's screen, or wrote over the line that told it."""
    record = logging.LogRecord("app", logging.INFO, "", 0, "answered %s", (text,), None)
    record.facts = {"text": text}
    written = TextLines().format(record)
    assert written.isprintable()
    assert json.loads(written.partition("text=")[2]) == text
    record.facts = {"text": "grüße an 漢字"}
    assert TextLines().format(record).endswith(' text="grüße an 漢字"')
    record.facts = {"text": "grüße\u200c"}  # such joiners are in nearly all texts in Persian
    assert TextLines().format(record).endswith(r' text="grüße\u200c"')


def test_measures_are_those_that_prometheus_reads(
    serve: Callable[..., TestClient], live_studio: LiveStudio
) -> None:
    client = serve(TOKEN)
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    assert client.get("/metrics").status_code == 401
    for _ in range(3):
        client.get("/api/project-names", headers=bearer)
    client.get("/api/projects/none/status", headers=bearer)
    live_studio.traffic.count_answers([1, 0, 2, 0])
    answer = client.get("/metrics", headers=bearer)
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    samples = dict(line.rsplit(" ", 1) for line in answer.text.splitlines() if line[0] != "#")
    names = 'route="/api/project-names"'
    assert samples[f'intent_studio_requests_total{{method="GET",{names},status="200"}}'] == "3"
    status = 'method="GET",route="/api/projects/{project}/status",status="404"'
    assert samples[f"intent_studio_requests_total{{{status}}}"] == "1"
    assert samples[f'intent_studio_request_seconds_bucket{{{names},le="+Inf"}}'] == "3"
    assert samples[f"intent_studio_request_seconds_count{{{names}}}"] == "3"
    assert 0 < float(samples[f"intent_studio_request_seconds_sum{{{names}}}"]) < 60
    states = ("queued", "running", "succeeded", "failed", "cancelled")
    assert [samples[f'intent_studio_jobs{{state="{state}"}}'] for state in states] == ["0"] * 5
    assert samples["intent_studio_texts_answered_total"] == "4"
    assert samples["intent_studio_outside_share"] == "0.5"
    assert float(samples["intent_studio_database_bytes"]) > 4_096
    assert float(samples["intent_studio_resident_bytes"]) > 10_000_000
    assert {line.split()[3] for line in answer.text.splitlines() if line[:6] == "# TYPE"} == {
        *("counter", "gauge", "histogram")
    }
