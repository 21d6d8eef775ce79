"""Texts go to the studio's traffic once, masked, and nobody waits for that."""

import asyncio
import json
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.client import IncompleteRead
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from app.bootstrap import open_studio
from app.server import build_app
from app.services.data.projects import create_project
from app.services.live.live_studio import open_live_studio
from app.serving.beside import pushing
from app.serving.beside.pushing import Pusher
from app.serving.limits import PUSH_TOKEN, Serving
from app.serving.server import make_application
from app.settings import Settings
from core.errors import InvalidInput
from intent_studio_client.connection import Connection, Request
from storage.said.tables import said_text
from tests.builders.served_studio import listening
from tests.serving.load.test_replacing import measure, until
from tests.serving.test_command import free_port, options_of
from tests.serving.test_replies import KNOWN

TOKEN = "a-token-that-the-studio-asks"
PUSHED = 'intent_studio_model_pushed_texts_total{model="p"}'
WAITING = 'intent_studio_model_push_waiting_texts{model="p"}'
FAILURES = 'intent_studio_model_push_failures_total{model="p"}'


def dropped(reason: str) -> str:
    return f'intent_studio_model_push_dropped_texts_total{{model="p",reason="{reason}"}}'


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pushing, "_GATHER", 0.02)
    monkeypatch.setattr(pushing, "_FIRST_WAIT", 0.02)
    monkeypatch.setattr(pushing, "_LONGEST_WAIT", 0.05)


class Inbox(ThreadingHTTPServer):
    """A studio that keeps what it gets, and answers with the statuses that it is told."""

    daemon_threads = True

    def __init__(self, *statuses: int, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Taking)
        self.statuses = list(statuses)
        self.got: list[dict[str, Any]] = []
        self.asked: list[tuple[str, str]] = []
        self.wait = 0.0
        self.refused = ""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/intents"


class Taking(BaseHTTPRequestHandler):
    server: Inbox

    def do_POST(self) -> None:
        texts = json.loads(self.rfile.read(int(self.headers["content-length"])))["texts"]
        self.server.asked.append((self.path, self.headers.get("authorization", "")))
        time.sleep(self.server.wait)
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        refused = self.server.refused
        if refused and any(refused in one["text"] for one in texts):
            status = 422
        if status == 200:
            self.server.got += texts
        self.send_response(status)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_words: object) -> None:
        """Say nothing."""


@contextmanager
def inbox(*statuses: int, port: int = 0) -> Iterator[Inbox]:
    with Inbox(*statuses, port=port) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@contextmanager
def serving_to(graph: Path, address: str, **more: str) -> Iterator[TestClient]:
    serving = Serving(str(graph), threads=1, push_to=address, push_token=TOKEN, **more)
    with TestClient(make_application(serving)) as client:
        yield client


def test_a_studio_gets_each_text_once_masked_with_its_time_and_source(
    graph: Path, tmp_path: Path
) -> None:
    """The studio is a real one: its route, its token, its rules."""
    studio = open_studio(Settings(home=tmp_path / "home"))
    create_project(studio, "p")
    guarded = build_app(open_live_studio(studio), TOKEN, frozenset({"127.0.0.1"}))
    with listening(guarded) as port, serving_to(graph, f"http://127.0.0.1:{port}") as client:
        said = ["where is my parcel", "write to me@example.com, or call +49 30 1234567", " "]
        client.post("/predict", json={"texts": said})
        client.post("/model/parse", json={"text": KNOWN})
        until(lambda: measure(client, PUSHED) == "3")
        assert measure(client, WAITING) == "0"
        found = Connection(f"http://127.0.0.1:{port}", TOKEN)
        rows = found.ask(Request("GET", "/api/v1/projects/p/utterances"))["rows"]
    assert {row["text"] for row in rows} == {
        "where is my parcel",
        "write to [e-mail], or call [phone]",
        KNOWN,
    }
    with studio.database.read() as connection:
        stored = connection.execute(sa.select(said_text.c.source, said_text.c.at)).all()
    studio.database.close()
    assert {source for source, _ in stored} == {"model server"}
    now = datetime.now(UTC)
    assert all(abs((datetime.fromisoformat(at) - now).total_seconds()) < 60 for _, at in stored)


def test_what_the_studio_did_not_take_is_sent_again_with_the_same_keys(
    graph: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="app.serving")
    texts = [f"a secret text {n}" for n in range(7)]
    with inbox(503, 500, 401) as server, serving_to(graph, server.address) as client:
        client.post("/predict", json={"texts": texts})
        until(lambda: measure(client, PUSHED) == "7")
        assert measure(client, FAILURES) == "3"
        assert [one["text"] for one in server.got] == texts
        assert len({one["key"] for one in server.got}) == 7
        expected = ("/intents/api/v1/projects/p/traffic", f"Bearer {TOKEN}")
        assert set(server.asked) == {expected}
    assert "texts of p wait: the studio replied 503" in caplog.text
    assert "texts of p are taken again" in caplog.text
    assert "secret" not in caplog.text
    assert TOKEN not in caplog.text


def test_a_studio_that_is_not_there_is_waited_for(graph: Path) -> None:
    port = free_port()
    with serving_to(graph, f"http://127.0.0.1:{port}") as client:
        client.post("/predict", json={"text": KNOWN})
        until(lambda: int(measure(client, FAILURES)) > 1)
        assert measure(client, WAITING) == "1"
        with inbox(port=port) as server:
            until(lambda: measure(client, PUSHED) == "1")
            assert [one["text"] for one in server.got] == [KNOWN]


def test_a_slow_studio_slows_no_answer(graph: Path) -> None:
    with inbox() as server, serving_to(graph, server.address) as client:
        server.wait = 1.0
        client.post("/predict", json={"text": KNOWN})
        until(lambda: bool(server.asked))
        began = time.perf_counter()
        for _ in range(5):
            assert client.post("/predict", json={"text": KNOWN}).status_code == 200
        assert time.perf_counter() - began < 0.8
        assert measure(client, WAITING) == "6"


def test_one_text_that_is_refused_does_not_keep_the_others(graph: Path) -> None:
    texts = [f"text {n}" for n in range(40)] + ["bad one"] + [f"more {n}" for n in range(23)]
    with inbox() as server, serving_to(graph, server.address) as client:
        server.refused = "bad"
        client.post("/predict", json={"texts": texts})
        until(lambda: measure(client, PUSHED) == "63")
        assert measure(client, dropped("refused")) == "1"
        assert [one["text"] for one in server.got] == [t for t in texts if t != "bad one"]


def test_where_too_many_wait_new_ones_are_dropped_and_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pushing, "_MOST_TEXTS", 3)
    monkeypatch.setattr(pushing, "_MOST_SIGNS", 40)
    pusher = Pusher(Connection("http://127.0.0.1:1", ""), "p", "s")
    pusher.offer(["a", "b", "c" * 39, "d"])
    assert (pusher.waiting, pusher.dropped["full"]) == (3, 1)
    pusher.offer(["e"])
    assert (pusher.waiting, pusher.dropped["full"]) == (3, 2)


def test_what_waits_is_sent_at_the_end_and_the_rest_is_counted(
    graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pushing, "_GATHER", 60.0)
    with inbox() as server:
        with serving_to(graph, server.address) as client:
            client.post("/predict", json={"texts": ["one", "two"]})
            assert server.got == []
        assert [one["text"] for one in server.got] == ["one", "two"]
    monkeypatch.setattr(pushing, "_LAST", 0.2)
    pusher = Pusher(Connection(f"http://127.0.0.1:{free_port()}", "", 5.0, tries=1), "p", "s")
    pusher.offer(["three"])
    began = time.perf_counter()
    asyncio.run(pusher.finish())
    assert time.perf_counter() - began < 5
    assert pusher.dropped["ended"] == 1


def test_texts_wait_where_the_reply_of_the_studio_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to 500 texts were thrown away as refused when one reply broke within its body."""

    def broken(*_: object) -> None:
        raise IncompleteRead(b"")

    monkeypatch.setattr(Connection, "ask", broken)
    pusher = Pusher(Connection("http://127.0.0.1:1", ""), "p", "s")
    pusher.offer(["one", "two"])
    asyncio.run(pusher.finish())
    assert (pusher.failures, pusher.dropped) == (1, {"ended": 2})


def test_settings_that_cannot_be_used_are_refused(
    graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(PUSH_TOKEN, raising=False)
    for words, message in (
        (("--push-to", "studio"), "no address of a studio"),
        (("--push-to", "ftp://studio"), "no address of a studio"),
        (("--push-to", "https://studio", "--push-source", " "), "no name of a channel"),
        (("--push-project", "p"), "No studio is named"),
        (("--push-to", "https://studio", "--push-token-file", str(tmp_path)), "cannot be read"),
    ):
        with pytest.raises(InvalidInput, match=message):
            options_of(str(graph), *words)
    assert options_of(str(graph), "--push-to", "https://studio").push_token == ""
    monkeypatch.setenv(PUSH_TOKEN, TOKEN)
    named = ("--push-project", "other", "--push-source", "chat")
    found = options_of(str(graph), "--push-to", "https://studio/nlu", *named)
    assert (found.push_token, found.push_project, found.push_source) == (TOKEN, "other", "chat")


def test_nothing_is_told_of_pushing_where_nobody_asked_for_it(graph: Path) -> None:
    with TestClient(make_application(Serving(str(graph), threads=1))) as client:
        assert "push" not in client.get("/metrics").text
