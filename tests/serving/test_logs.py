"""A line for each request tells no text unless somebody asks for texts; keys and names of hosts."""

import json
import logging
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.serving.limits import KEY, Serving
from app.serving.server import make_application
from core.errors import InvalidInput
from tests.serving.test_command import ROOT, RUN, ask, free_port, is_ready, options_of
from tests.serving.test_replies import KNOWN

SECRET = "my secret parcel"


def said_by(graph: Path, folder: Path, *options: str) -> list[str]:
    """Let a server answer three requests, and return the lines that it wrote."""
    port, said = free_port(), folder / "said"
    code = "import sys; " + RUN.format(root=str(ROOT))
    command = [sys.executable, "-c", code, "serve-model", str(graph), "--port", str(port), *options]
    with said.open("wb") as output:
        server = subprocess.Popen(command, stdout=output, stderr=output, cwd=ROOT)
    until = time.monotonic() + 30
    while not is_ready(port):
        assert server.poll() is None, said.read_text("utf-8")
        assert time.monotonic() < until
        time.sleep(0.05)
    ask(port, "POST", "/predict", {"texts": [KNOWN, SECRET]})
    ask(port, "POST", "/model/parse", {"text": SECRET})
    ask(port, "GET", "/secret/address")
    server.send_signal(signal.SIGINT)
    server.wait(20)
    return said.read_text("utf-8").splitlines()


@pytest.mark.parametrize("workers", ["1", "2"])
def test_each_request_is_a_line_of_json_without_its_texts(
    graph: Path, tmp_path: Path, workers: str
) -> None:
    lines = said_by(graph, tmp_path, "--log", "json", "--workers", workers)
    assert not any("secret" in line for line in lines)
    told = [json.loads(line) for line in lines if line.startswith("{")]
    asked = [one for one in told if one["event"] == "request" and one["route"] != "/health/ready"]
    shown = ("method", "route", "status", "model", "texts")
    assert [tuple(one[key] for key in shown) for one in asked] == [
        ("POST", "/predict", 200, "p", 2),
        ("POST", "/model/parse", 200, "p", 1),
        ("GET", "other", 404, "", 0),
    ]
    assert all(one["ms"] > 0 for one in asked)
    assert len({one["id"] for one in asked}) == 3


def test_texts_are_logged_where_somebody_asks_for_them(graph: Path, tmp_path: Path) -> None:
    lines = said_by(graph, tmp_path, "--log", "json", "--log-texts")
    told = [json.loads(line) for line in lines if line.startswith("{")]
    answers = [one for one in told if one["event"] == "answer"]
    assert [one["text"] for one in answers] == [KNOWN, SECRET, SECRET]
    assert answers[0]["intents"]
    assert answers[0]["model_version"] == "p@3"
    asked = {one["id"] for one in told if one["event"] == "request"}
    assert {one["id"] for one in answers} <= asked


def test_texts_without_a_log_are_refused(graph: Path) -> None:
    with pytest.raises(InvalidInput, match="Texts stand in a log"):
        options_of(str(graph), "--log-texts")


def test_nothing_is_logged_by_itself_and_each_answer_has_a_number(
    graph: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="app.serving")
    with TestClient(make_application(Serving(str(graph), threads=1))) as client:
        replies = [client.post("/predict", json={"text": KNOWN}) for _ in range(2)]
    assert len({reply.headers["x-request-id"] for reply in replies}) == 2
    assert caplog.records == []


def test_each_line_of_the_file_is_a_key(
    graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An old and a new key are taken for a while, so that none of the clients is refused."""
    monkeypatch.delenv(KEY, raising=False)
    file = tmp_path / "keys"
    file.write_text(" old one\r\n\nnew one \n", encoding="utf-8")
    serving = options_of(str(graph), "--api-key-file", str(file))
    assert serving.keys == [b"old one", b"new one"]
    with TestClient(make_application(serving)) as client:
        for key, status in (("old one", 200), ("new one", 200), ("old", 401), ("", 401)):
            reply = client.post("/predict", json={"text": KNOWN}, headers={"X-API-Key": key})
            assert reply.status_code == status, key
    with pytest.raises(InvalidInput, match="several lines"):
        options_of(str(graph), "--push-to", "http://127.0.0.1", "--push-token-file", str(file))


def test_a_mark_before_a_key_is_no_part_of_it(graph: Path, tmp_path: Path) -> None:
    """Editors of Windows write one (BOM) at the beginning of a file: no key was the right one."""
    file = tmp_path / "keys"
    file.write_text("k1\nk2\n", encoding="utf-8-sig")
    assert options_of(str(graph), "--api-key-file", str(file)).keys == [b"k1", b"k2"]


def test_without_a_key_other_names_of_this_machine_are_refused(
    graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page whose name an attacker lets point here could read examples (DNS rebinding)."""
    monkeypatch.delenv(KEY, raising=False)
    with TestClient(make_application(options_of(str(graph)))) as client:
        for host, status in (
            ("127.0.0.1:8080", 200),
            ("localhost", 200),
            ("LOCALHOST:1", 200),
            ("[::1]:8080", 200),
            ("evil.example", 400),
            ("127.0.0.1.evil.example", 400),
            ("", 400),
        ):
            reply = client.post("/predict", json={"text": KNOWN}, headers={"Host": host})
            assert reply.status_code == status, host
        evil = {"Host": "evil.example"}
        assert client.get("/health/ready", headers=evil).status_code == 400
    assert options_of(str(graph), "--no-key").hosts == ""
    monkeypatch.setenv(KEY, "k")
    assert options_of(str(graph)).hosts == ""
