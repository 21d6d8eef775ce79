"""A new bundle takes over while texts are answered, and a broken one changes nothing."""

import asyncio
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.serving.limits import Serving
from app.serving.server import make_application
from app.terminal.measuring.sending import Sender
from app.terminal.measuring.served import started
from core.bundle.archive import export_bundle
from core.bundle.graph_layout import save_graph
from core.pipeline import IntentPipeline
from tests.core.bundle.test_bundle import FACTS
from tests.serving.test_command import ask
from tests.serving.test_replies import ASKED, KNOWN

QUICK = 0.02


def until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture(scope="module")
def newer(made: IntentPipeline, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A bundle of the next version, whose intents have other names."""
    folder = tmp_path_factory.mktemp("newer")
    other = made.renamed(tuple(f"new {name}" for name in made.head.intents))
    facts = {**FACTS, "project": "other", "model_version": "p@4", "dataset_version": "3"}
    save_graph(replace(other, model_version="p@4"), facts, folder / "g", "float32")
    export_bundle(folder / "g", folder / "g.zip")
    return (folder / "g.zip").read_bytes()


@pytest.fixture
def served(graph: Path, tmp_path: Path) -> Path:
    path = tmp_path / "served.zip"
    path.write_bytes(graph.read_bytes())
    return path


def put(path: Path, content: bytes) -> None:
    beside = path.with_name("beside")
    beside.write_bytes(content)
    beside.replace(path)


def measure(client: TestClient, name: str) -> str:
    lines = client.get("/metrics").text.splitlines()
    (value,) = (line.rpartition(" ")[2] for line in lines if line.startswith(f"{name} "))
    return value


RELOADS = 'intent_studio_model_reloads_total{model="p"}'
FAILED = 'intent_studio_model_failed_reloads_total{model="p"}'
BATCHED = (
    'intent_studio_model_batches_total{model="p"}',
    'intent_studio_model_batched_texts_total{model="p"}',
)


def test_under_traffic_every_request_is_answered_by_one_of_both(served: Path, newer: bytes) -> None:
    seen: list[tuple[str, set[str]]] = []
    ended = threading.Event()

    def talk(port: int) -> None:
        while not ended.is_set():
            status, body = ask(port, "POST", "/predict?evidence=0", {"texts": ASKED * 4})
            assert status == 200
            reply = json.loads(body)
            intents = {one["intent"] for one in reply["predictions"]}
            seen.append((reply["model_version"], intents))

    with started(served) as (port, _):
        talker = threading.Thread(target=talk, args=(port,))
        talker.start()
        swap = threading.Timer(1.0, put, (served, newer))
        swap.start()
        sent = asyncio.run(_traffic(port))
        ended.set()
        talker.join()
        status, described = ask(port, "GET", "/v2/models/p")
    assert {one.status for one in sent} == {200}
    assert (status, b'"versions":["4"]' in described) == (200, True)
    assert [version for version, _ in seen] == sorted(version for version, _ in seen)
    assert {version for version, _ in seen} == {"p@3", "p@4"}
    for version, intents in seen:
        assert all(name.startswith("new ") is (version == "p@4") for name in intents)


async def _traffic(port: int) -> list:
    sender = Sender(port, ASKED)
    sent = await sender.at_rate(60.0, 6.0)
    sender.close()
    return sent


@pytest.fixture
def client(served: Path) -> Iterator[TestClient]:
    with TestClient(make_application(Serving(str(served), threads=1, look_seconds=QUICK))) as it:
        yield it


def test_a_broken_file_is_refused_in_words_and_the_next_good_one_is_taken(
    client: TestClient, served: Path, newer: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="app.serving")
    served.unlink()
    assert client.post("/predict", json={"text": KNOWN}).json()["model_version"] == "p@3"
    put(served, newer[:-100])
    until(lambda: measure(client, FAILED) == "1")
    reply = client.post("/predict", json={"text": KNOWN}).json()
    assert (reply["model_version"], client.get("/health/ready").status_code) == ("p@3", 200)
    assert "cannot be served" in caplog.text
    assert "The earlier model goes on." in caplog.text
    put(served, newer)
    until(lambda: measure(client, RELOADS) == "1")
    reply = client.post("/predict", json={"text": KNOWN}).json()
    assert (reply["model"], reply["model_version"]) == ("p", "p@4")
    assert [measure(client, name) for name in BATCHED] == ["3", "3"]  # both began anew
    assert "p answers by version p@4 from now on" in caplog.text
    assert measure(client, FAILED) == "1"


def test_a_file_that_is_still_written_is_waited_for(
    client: TestClient, served: Path, newer: bytes
) -> None:
    with served.open("wb") as stream:  # in place, as `cp` does
        for at in range(0, len(newer), len(newer) // 20):
            stream.write(newer[at : at + len(newer) // 20])
            stream.flush()
            time.sleep(QUICK / 4)
    until(lambda: measure(client, RELOADS) == "1")
    assert client.post("/predict", json={"text": KNOWN}).json()["model_version"] == "p@4"


def test_a_link_may_be_turned_to_another_bundle(graph: Path, newer: bytes, tmp_path: Path) -> None:
    (tmp_path / "new.zip").write_bytes(newer)
    link = tmp_path / "current.zip"
    link.symlink_to(graph)
    serving = Serving(str(link), threads=1, look_seconds=QUICK)
    with TestClient(make_application(serving)) as client:
        (tmp_path / "next").symlink_to(tmp_path / "new.zip")
        (tmp_path / "next").replace(link)
        until(lambda: measure(client, RELOADS) == "1")
        assert client.post("/predict", json={"text": KNOWN}).json()["model_version"] == "p@4"
