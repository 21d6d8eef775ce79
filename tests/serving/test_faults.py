"""What breaks is told to its client and counted, and no line that is printed has the text."""

import http.client
import json
from dataclasses import replace
from math import nan
from pathlib import Path

import pytest

from app.serving.model import open_model
from core.errors import ArtifactDamaged
from core.runtime.engine import Engine
from core.types import Prediction
from tests.serving.command_process import server_process
from tests.serving.load.test_replacing import until
from tests.serving.test_command import ask

BROKEN = """
from core.runtime.engine import Engine
whole = Engine.predict
def broken(self, texts):
    if any("secret" in text for text in texts):
        raise RuntimeError(texts[0])
    return whole(self, texts)
Engine.predict = broken
"""


def metric(port: int, route: str, status: int, key: str = "") -> bool:
    """Whether one request to a route was counted with a status."""
    words = ask(port, "GET", "/metrics", key=key)[1].decode()
    labels = f'route="{route}",status="{status}"}} 1\n'
    return any(labels in f"{line}\n" for line in words.splitlines())


def test_an_error_prints_no_text_and_its_answer_has_a_number(graph: Path, tmp_path: Path) -> None:
    """uvicorn printed the message of the error, which quoted the text, though nothing was logged.

    The answer had no number by which its sender could ask for it.
    """
    with server_process(graph, tmp_path, before=BROKEN) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        connection.request("POST", "/predict", json.dumps({"text": "my secret parcel"}))
        reply = connection.getresponse()
        number = reply.headers["x-request-id"]
        assert reply.status == 500
        assert json.loads(reply.read())["error"] == f"Something broke (incident {number})."
        connection.request("POST", "/predict", json.dumps({"text": "where is it"}))
        assert connection.getresponse().status == 200
        connection.close()
        assert metric(server.port, "/predict", 500)
        server.ask_to_end()
        words = server.await_end()
    assert "RuntimeError" in words
    assert f"incident {number}" in words
    assert "secret" not in words


def test_a_client_that_hangs_up_in_its_body_is_no_fault_of_the_server(
    graph: Path, tmp_path: Path
) -> None:
    """Each was counted as an answer with 500 and logged as an incident."""
    (tmp_path / "key").write_text("k1", encoding="utf-8")
    with server_process(graph, tmp_path, "--api-key-file", str(tmp_path / "key")) as server:
        for path, lines, route in (
            ("/predict", ("X-API-Key: k1",), "/predict"),
            ("/model/parse", (), "other"),  # the body was to bring the key
        ):
            with server.hold(path, *lines) as connection:
                connection.sendall(b'{"t')
            until(lambda route=route: metric(server.port, route, 499, "k1"))
        server.ask_to_end()
        words = server.await_end()
    assert "incident" not in words
    assert "Traceback" not in words


def test_a_graph_that_answers_by_no_number_is_not_served(
    graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new bundle took the place of a sound one, and each text was answered with 500."""
    whole = Engine.predict

    def broken(self: Engine, texts: list[str]) -> list[Prediction]:
        return [
            replace(one, ranked=tuple(replace(intent, score=nan) for intent in one.ranked))
            for one in whole(self, texts)
        ]

    monkeypatch.setattr(Engine, "predict", broken)
    with pytest.raises(ArtifactDamaged, match=r"The graph in g\.zip answers by what is no number"):
        open_model(str(graph), threads=1)
