"""The client for Python speaks with a real model server."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.pipeline import IntentPipeline
from intent_studio_client.connection import StudioFault
from intent_studio_client.model_server import ModelServer
from tests.serving.test_command import ROOT, RUN, free_port

KEY = "a-key"


@pytest.fixture(scope="module")
def server(graph: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    """A server in a process of its own that takes 80 texts at once."""
    port, folder = free_port(), tmp_path_factory.mktemp("served")
    (folder / "key").write_text(KEY, encoding="utf-8")
    options = ["--port", str(port), "--api-key-file", str(folder / "key"), "--most-texts", "80"]
    code = "import sys; " + RUN.format(root=str(ROOT))
    command = [sys.executable, "-c", code, "serve-model", str(graph), *options]
    with (folder / "said").open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, cwd=ROOT)
    found = ModelServer(f"http://127.0.0.1:{port}", KEY)
    until = time.monotonic() + 30
    while not found.is_ready():
        assert process.poll() is None, (folder / "said").read_text("utf-8")
        assert time.monotonic() < until
        time.sleep(0.05)
    yield found
    process.send_signal(signal.SIGINT)
    process.wait(20)


def test_it_reads_answers_with_their_evidence(server: ModelServer, made: IntentPipeline) -> None:
    texts = ["give the money back", "zzz qqq", "where is my parcel"]
    found = server.predict([*texts, "  "])
    assert (found.model_version, found.dataset_version) == ("p@3", "2")
    for mine, its in zip(made.predict(texts), found.predictions, strict=False):
        assert (its.text, its.intents, its.rule) == (
            mine.text,
            mine.decision.intents,
            mine.decision.rule,
        )
        assert its.in_scope == bool(its.intents)
        assert its.score == pytest.approx(mine.decision.score, abs=1e-5)
        [reason] = its.evidence
        parts = sum(vote.vote for vote in reason.votes) + reason.other_votes
        assert parts + reason.prior + reason.name == pytest.approx(reason.score, abs=1e-9)
        assert [vote.id for vote in reason.votes][:1] == [mine.reason.neighbours[0].exemplar_id]
    assert (found.predictions[3].rule, found.predictions[3].intents) == ("empty", ())
    bare = server.predict(texts, evidence=False)
    assert [one.evidence for one in bare.predictions] == [()] * 3
    assert [one.intents for one in bare.predictions] == [
        one.intents for one in found.predictions[:3]
    ]


def test_its_refusals_are_told(server: ModelServer) -> None:
    with pytest.raises(StudioFault, match="81 texts came at once") as found:
        server.predict(["x"] * 81)
    assert found.value.status == 400
    with pytest.raises(StudioFault) as found:
        ModelServer(server.address, "wrong").predict(["x"])
    assert found.value.status == 401
    assert not ModelServer("http://127.0.0.1:9", timeout=1).is_ready()
