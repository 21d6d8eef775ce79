"""Every view of a model gives 500 texts the same intents, verdict and votes.

The views: REST, the command line of a project and of a bundle, answers in a file, the programs of
both kinds of bundles, and the model server.
"""

import csv
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.bootstrap import open_studio
from app.cli import main
from app.services.data.projects import create_sample
from app.services.training.runs import TrainingRequest
from app.settings import Settings
from intent_studio_client.model_server import ModelServer
from intent_studio_client.studio import Studio
from tests.builders.served_studio import Served, environment
from tests.builders.trained_home import train_here
from tests.builders.unpacked_bundle import Elsewhere, unpack_bundle
from tests.serving.test_command import free_port

SAMPLE = Path(__file__).parents[2] / "assets" / "sample"
SCORE, VOTE = 2e-5, 2e-5
"""Largest differences: other libraries and batches round an embedding in its seventh digit."""


@dataclass(frozen=True)
class View:
    """An answer as one view tells it; `votes` are those shown for the leading intent, by id."""

    intents: tuple[str, ...]
    rule: str
    score: float
    votes: Mapping[str, float]


@dataclass(frozen=True)
class Places:
    """A home with the sample's model, its two bundles, and a file of the texts."""

    home: Path
    bundle: Path
    graph: Path
    texts: tuple[str, ...]

    @property
    def file(self) -> Path:
        """The texts, one a row."""
        return self.home.with_name("texts.csv")


def said() -> tuple[str, ...]:
    """500 texts: all of the test set, of those that fit no intent, and as many others as it takes.

    Ten of them are examples word for word.
    """
    texts = dict[str, None]()
    for name, most in (("test", 400), ("pool_out_of_scope", 400), ("labelled", 10), ("pool", 400)):
        with (SAMPLE / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
            texts.update(dict.fromkeys([row["text"] for row in csv.DictReader(stream)][:most]))
    return tuple(texts)[:500]


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Places:
    folder = tmp_path_factory.mktemp("views")
    found = Places(folder / "home", folder / "torch.zip", folder / "graph.zip", said())
    studio = open_studio(Settings(home=found.home, device="cpu"))
    create_sample(studio, "sample")
    train_here(studio, TrainingRequest("sample", "instant", {}))
    studio.database.close()
    home = ["--home", str(found.home), "bundle", "export", "sample@1"]
    assert main([*home, str(found.bundle)]) == 0
    assert main([*home, str(found.graph), "--runtime", "onnx"]) == 0
    with found.file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([["text"], *([text] for text in found.texts)])
    return found


@pytest.fixture(scope="module")
def by_rest(places: Places) -> list[View]:
    """The answers of a served studio, which all others must give."""
    served = Served(places.home, forked=True).start()
    try:
        answers = Studio(served.base, served.token).predict("sample", places.texts)
    finally:
        served.stop()
    return [
        View(
            one.decision.intents,
            one.decision.rule,
            one.decision.score,
            {vote.exemplar_id: vote.vote for vote in one.neighbours},
        )
        for one in answers
    ]


def test_the_texts_get_answers_of_every_rule(places: Places, by_rest: list[View]) -> None:
    assert len(set(places.texts)) == len(by_rest) == 500
    rules = {one.rule: sum(other.rule == one.rule for other in by_rest) for one in by_rest}
    assert rules["exact"] >= 10
    assert min(rules["votes"], rules["out-of-scope"]) > 40


@pytest.mark.parametrize("of", ["project", "version", "bundle"])
def test_the_command_line_agrees(
    places: Places, by_rest: list[View], of: str, capsys: pytest.CaptureFixture[str]
) -> None:
    model = {"project": "sample", "version": "sample@1", "bundle": str(places.bundle)}[of]
    arguments = ["--home", str(places.home), "predict", model, "--file", str(places.file)]
    assert main([*arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["predictions"]
    agree(by_rest, [_of_command(one) for one in told])


def test_answers_in_a_file_agree(places: Places, by_rest: list[View], tmp_path: Path) -> None:
    out = tmp_path / "answers.jsonl"
    arguments = ["--home", str(places.home), "predict", "sample", "--file", str(places.file)]
    assert main([*arguments, "--to", str(out)]) == 0
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    told = [(tuple(row["intents"]), row["rule"]) for row in rows]
    assert told == [(one.intents, one.rule) for one in by_rest]


@pytest.mark.parametrize("kind", ["torch", "graph"])
def test_the_program_of_a_bundle_agrees(
    places: Places, by_rest: list[View], kind: str, elsewhere: Elsewhere, tmp_path: Path
) -> None:
    bundle = places.bundle if kind == "torch" else places.graph
    folder = unpack_bundle(bundle, tmp_path / "bundle")
    lines = tmp_path / "texts.txt"
    lines.write_text("\n".join(places.texts) + "\n", encoding="utf-8")
    told = elsewhere.run_example(folder, "--file", str(lines))
    agree(by_rest, [_of_program(one) for one in told])


def test_the_model_server_agrees(places: Places, by_rest: list[View]) -> None:
    with serving_model(places.graph) as server:
        found = [
            one
            for start in range(0, 500, 100)
            for one in server.predict(places.texts[start : start + 100]).predictions
        ]
    told = [
        View(
            one.intents,
            one.rule,
            one.score,
            {vote.id: vote.vote for vote in one.evidence[0].votes},
        )
        for one in found
    ]
    agree(by_rest, told)


@contextmanager
def serving_model(bundle: Path) -> Iterator[ModelServer]:
    """Run `intent-studio serve-model` on a free port."""
    port, said = free_port(), bundle.with_suffix(".said")
    command = [sys.executable, "-m", "intent_studio", "serve-model", str(bundle)]
    with said.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--port", str(port)],
            stdout=output,
            stderr=output,
            env=environment(bundle.with_name("home"), watched=False),
        )
    server = ModelServer(f"http://127.0.0.1:{port}")
    try:
        until = time.monotonic() + 30
        while not server.is_ready():
            assert process.poll() is None, said.read_text("utf-8")
            assert time.monotonic() < until
            time.sleep(0.05)
        yield server
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(20)


def agree(wanted: list[View], told: list[View]) -> None:
    """Require the same answers; votes that are about alike may stand in another order."""
    assert [(one.intents, one.rule) for one in told] == [(one.intents, one.rule) for one in wanted]
    for mine, its in zip(wanted, told, strict=True):
        assert its.score == pytest.approx(mine.score, abs=SCORE)
        assert len(its.votes) == len(mine.votes) > 0
        least = min(map(abs, mine.votes.values()))
        for key in mine.votes.keys() | its.votes.keys():
            if key in mine.votes and key in its.votes:
                assert its.votes[key] == pytest.approx(mine.votes[key], abs=VOTE)
            else:  # the last that is shown by one has a twin of the same weight in the other
                other = mine.votes.get(key, its.votes.get(key, 0.0))
                assert abs(other) == pytest.approx(least, abs=VOTE)


def _of_command(one: dict[str, Any]) -> View:
    decision = one["decision"]
    votes = {near["exemplar_id"]: near["vote"] for near in one["neighbours"]}
    return View(tuple(decision["intents"]), decision["rule"], decision["score"], votes)


def _of_program(one: dict[str, Any]) -> View:
    votes = {near["id"]: near["vote"] for near in one["neighbours"]}
    return View(tuple(one["intents"]), one["rule"], one["score"], votes)
