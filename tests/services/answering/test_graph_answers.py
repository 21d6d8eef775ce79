"""A bundle that is one graph answers files and texts by the usual command, without torch."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.cli import main
from app.services.answering import file_answers, file_models
from app.services.answering.file_answers import FileRequest, answer_file
from app.services.answering.file_models import model_of_graph, open_graph
from core.bundle.archive import export_bundle
from core.bundle.graph_layout import save_graph
from core.bundle.layout import save_pipeline
from core.encoders.packed.encoder import TransformerEncoder
from core.errors import InvalidInput
from core.pipeline import IntentPipeline
from core.runtime.engine import Engine
from tests.conftest import SENTENCES
from tests.core.bundle.test_bundle import FACTS, pipeline
from tests.core.bundle.test_graph import SMOOTH
from tests.core.test_multi_label_pipeline import pipeline as multi_label_pipeline
from tests.serving.refusing_imports import run_without

ROOT = Path(__file__).parents[3]
KNOWN = [text for texts in SENTENCES.values() for text in texts]
ASKED = [*KNOWN, *(f"{text}, {more}" for text in KNOWN for more in ("please", "now " * 30))]


@pytest.fixture(scope="module")
def made(tiny: TransformerEncoder) -> IntentPipeline:
    found = pipeline(tiny, SMOOTH)
    return replace(found, calibration=replace(found.calibration, threshold=0.5))


@pytest.fixture(scope="module")
def graph(made: IntentPipeline, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graph")
    save_graph(made, FACTS, folder / "g", "float32")
    export_bundle(folder / "g", folder / "g.zip")
    return folder / "g.zip"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "texts.csv"
    path.write_text("\n".join(["text", *(f'"{text}"' for text in ASKED)]) + "\n", encoding="utf-8")
    return path


def opened(graph: Path, threads: int = 1) -> Engine:
    engine = open_graph(str(graph), threads)
    assert engine is not None
    return engine


@pytest.mark.parametrize("threads", [1, 2])
def test_without_evidence_the_answers_are_those_with_it(graph: Path, threads: int) -> None:
    engine = opened(graph, threads)
    decided = engine.decide(ASKED)
    for short, whole in zip(decided, engine.predict(ASKED), strict=True):
        mine, its = short.decision, whole.decision
        assert (mine.intents, mine.rule, mine.leading) == (its.intents, its.rule, its.leading)
        assert mine.score == pytest.approx(its.score, abs=1e-6)
        shares = {one.intent: one.probability for one in whole.ranked}
        told = [shares[name] for name in mine.intents]
        assert list(short.probabilities) == pytest.approx(told, abs=1e-6)
    assert {one.decision.rule for one in decided} == {"exact", "votes", "out-of-scope"}


def test_several_intents_are_decided_alike(tiny: TransformerEncoder, tmp_path: Path) -> None:
    made = multi_label_pipeline(tiny)
    save_graph(made, FACTS, tmp_path / "g", "float32")
    export_bundle(tmp_path / "g", tmp_path / "g.zip")
    decided = opened(tmp_path / "g.zip", 2).decide(ASKED)
    answers = made.predict(ASKED)
    assert [d.decision.intents for d in decided] == [a.decision.intents for a in answers]


def test_a_file_gets_the_answers_of_the_pipeline_and_a_killed_run_goes_on(
    made: IntentPipeline,
    graph: Path,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(file_answers, "_CHUNK", 16)
    model = model_of_graph(str(graph), 1)
    assert model is not None
    whole, broken = tmp_path / "whole.csv", tmp_path / "broken.csv"
    told = answer_file(model, FileRequest(source, whole), lambda done, total: None)
    assert (told.texts, told.precision, told.same_answers) == (len(ASKED), "float32", None)
    with whole.open(encoding="utf-8", newline="") as file:
        rows = [(row["text"], row["intents"], row["rule"]) for row in csv.DictReader(file)]
    answers = [one.decision for one in made.predict(ASKED)]
    assert rows == [
        (text, "|".join(one.intents), one.rule) for text, one in zip(ASKED, answers, strict=True)
    ]

    def killed(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        answer_file(model, FileRequest(source, broken), killed)
    again = answer_file(model, FileRequest(source, broken), lambda done, total: None)
    assert again.went_on_at == 16
    assert broken.read_bytes() == whole.read_bytes()


def test_a_bundle_that_is_replaced_while_it_is_opened_answers_nothing(
    graph: Path, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file went on with the answers of another graph: it was named by the new one's hash."""
    bundle = tmp_path / "g.zip"
    bundle.write_bytes(graph.read_bytes())

    def replaced(reference: str, threads: int = 0) -> Engine | None:
        engine = open_graph(reference, threads)
        bundle.write_bytes(b"another one")
        return engine

    monkeypatch.setattr(file_models, "open_graph", replaced)
    with pytest.raises(InvalidInput, match=r"g\.zip was replaced while it was opened"):
        model_of_graph(str(bundle), 1)


def test_the_command_answers_a_file_where_torch_is_not(
    made: IntentPipeline, graph: Path, source: Path, tmp_path: Path
) -> None:
    code = f"sys.path.insert(0, {str(ROOT)!r}); import intent_studio; intent_studio.main()"
    refused = ("torch", "transformers", "sentence_transformers", "sklearn", "gradio", "onnx")
    home = ("--home", str(tmp_path / "home"))
    words = (*home, "predict", str(graph), "--file", str(source), "--to", "to.jsonl", "--json")
    told = json.loads(run_without(refused, code, tmp_path, *words))
    assert (told["texts"], told["precision"]) == (len(ASKED), "float32")
    lines = (tmp_path / "to.jsonl").read_text("utf-8").splitlines()
    intents = [json.loads(line)["intents"] for line in lines]
    assert intents == [list(one.decision.intents) for one in made.predict(ASKED)]
    assert not (tmp_path / "home").exists()


def test_texts_on_the_command_line_get_answers_with_votes(
    made: IntentPipeline, graph: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["predict", str(graph), ASKED[-1], KNOWN[0], "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["predictions"]
    for its, mine in zip(told, made.predict([ASKED[-1], KNOWN[0]]), strict=True):
        assert its["decision"]["intents"] == list(mine.decision.intents)
        assert its["model_version"] == "g.zip"
        votes = [near["vote"] for near in its["neighbours"]]
        assert votes == pytest.approx([near.vote for near in mine.reason.neighbours], abs=1e-5)


def test_another_precision_than_the_graph_s_is_refused_in_words(
    graph: Path, source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    to = ("--file", str(source), "--to", str(tmp_path / "to.csv"))
    assert main(["predict", str(graph), *to, "--precision", "int8"]) == 2
    assert "computes in float32" in capsys.readouterr().err
    assert main(["predict", str(graph), *to, "--precision", "float32"]) == 0


def test_other_files_and_bundles_are_no_graphs(made: IntentPipeline, tmp_path: Path) -> None:
    save_pipeline(made, FACTS, tmp_path / "p")
    export_bundle(tmp_path / "p", tmp_path / "p.zip")
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 and no more")
    for name in ("p.zip", "broken.zip", "absent.zip", "support@3"):
        assert open_graph(str(tmp_path / name)) is None
