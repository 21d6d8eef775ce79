"""A version of a project as one graph: what it holds, what is verified, and what is refused."""

import json
from pathlib import Path

import pytest

from app.cli import main
from app.services.answering.stored import load_model
from app.services.data.importing import ImportRequest, import_file
from app.services.studio import Studio
from app.services.training.runs import TrainingRequest
from app.services.versions import graphs
from app.services.versions.bundles import Handover, export_model, import_bundle
from app.services.versions.graphs import GraphWish, answers_again
from core.bundle.archive import verify_bundle
from core.errors import ArtifactDamaged, InvalidInput
from core.runtime.engine import open_engine
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset
from tests.builders.hostile.changed_bundle import replaced, rewritten, with_facts
from tests.builders.tiny_encoder import tiny_convert
from tests.builders.trained_home import POOL, train_here
from tests.builders.unpacked_bundle import unpack_bundle
from tests.conftest import SENTENCES
from tests.services.versions.test_bundle_card import put_into_tests

GRAPH, SMALL = Handover(graph=GraphWish()), Handover(graph=GraphWish("int8"))


def test_a_graph_answers_as_its_project_does_and_says_so(home: Studio, tmp_path: Path) -> None:
    put_into_tests(home)
    out = tmp_path / "p.zip"
    manifest = export_model(home, "p", out, GRAPH)
    assert (manifest.facts["runtime"], manifest.facts["precision"]) == ("onnx", "float32")
    assert verify_bundle(out).own_card
    found = answers_again(out)
    assert found is not None
    assert (found.texts, found.others) == (len(POOL), 0)
    assert found.largest < 1e-4
    folder = unpack_bundle(out, tmp_path / "unpacked")
    project = [one.decision.intents for one in load_model(home, "p").predict(POOL)]
    assert [one.decision.intents for one in open_engine(folder).predict(POOL)] == project
    card = (folder / "README.md").read_text("utf-8")
    assert "pip install onnxruntime tokenizers numpy" in card
    assert "It computes in\nfloat32." in card
    assert "`answers.jsonl`" in card
    with pytest.raises(InvalidInput, match="graph for serving"):
        import_bundle(home, out, "again")


def test_a_version_from_conversations_is_one_graph_too(home: Studio, tmp_path: Path) -> None:
    """An encoder learned from conversations (ConveRT) has subwords in place of a tokenizer."""
    base = tiny_convert(tmp_path / "base", quantised=True)
    train_here(home, TrainingRequest("p", "instant", {}, str(base)))
    out = tmp_path / "p.zip"
    manifest = export_model(home, "p@3", out, GRAPH)
    assert "subwords.json" in manifest.files
    assert "tokenizer.json" not in manifest.files
    assert verify_bundle(out).own_card
    found = answers_again(out)
    assert found is not None
    assert (found.others, found.largest < 1e-4) == (0, True)
    folder = unpack_bundle(out, tmp_path / "unpacked")
    mine = [one.decision.intents for one in load_model(home, "p@3").predict(POOL)]
    assert [one.decision.intents for one in open_engine(folder).predict(POOL)] == mine


def test_a_graph_that_answers_otherwise_than_the_studio_is_refused(
    home: Studio, tmp_path: Path
) -> None:
    out = tmp_path / "p.zip"
    export_model(home, "p", out, GRAPH)
    folder = unpack_bundle(out, tmp_path / "unpacked")
    lines = [json.loads(row) for row in (folder / "answers.jsonl").read_text("utf-8").splitlines()]
    lines[0]["score"] += 0.1
    other = "".join(json.dumps(line) + "\n" for line in lines).encode()
    path = rewritten(out, tmp_path / "x.zip", lambda e: replaced(e, "answers.jsonl", other))
    with pytest.raises(ArtifactDamaged, match=r"0 of \d+ texts otherwise .* differ by up to 0\.1"):
        answers_again(path)


def test_8_bits_stand_beside_float32_in_the_card_and_much_loss_is_refused(
    home: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_into_tests(home)
    out = tmp_path / "p.zip"
    figures = export_model(home, "p", out, SMALL).facts["precisions"]
    names = {"accuracy", "texts", "auroc", "expected_calibration_error"}
    assert set(figures["float32"]) == set(figures["int8"]) == names
    assert figures["int8"]["texts"] == len(POOL) - 1
    card = (unpack_bundle(out, tmp_path / "unpacked") / "README.md").read_text("utf-8")
    assert "| figure | float32 | int8 |" in card
    found = answers_again(out)
    assert found is not None
    assert found.largest > 1e-4
    lost = {
        "float32": {"accuracy": 0.9, "texts": 1000.0},
        "int8": {"accuracy": 0.896, "texts": 1e3},
    }
    monkeypatch.setattr(graphs, "_figures", lambda *_: lost)
    with pytest.raises(InvalidInput, match=r"answers 89\.6 % of 1,000 test texts right, and 90\.0"):
        export_model(home, "p", tmp_path / "q.zip", SMALL)
    any_loss = Handover(graph=GraphWish("int8", any_loss=True))
    assert export_model(home, "p", tmp_path / "q.zip", any_loss).facts["precisions"] == lost
    lost["int8"]["accuracy"] = 0.8971
    export_model(home, "p", tmp_path / "q.zip", SMALL)


def test_8_bits_that_nothing_measures_say_so(
    home: Studio, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a test text of an intent they were exported as if they lost nothing."""
    with home.database.write() as connection:
        row = next(row for row in dataset.utterances(connection, 1) if row.text == POOL[-1])
        changes = [edits.edit(row, "split", "test"), edits.label(row, [])]
        events.record(connection, 1, Action("label", "local"), changes)
    at, out, small = ["--home", str(home.settings.folder)], tmp_path / "p.zip", tmp_path / "q.zip"
    export_model(home, "p", out)
    graph = ["--runtime", "onnx", "--precision", "int8"]
    for reference in ("p", str(out)):
        assert main([*at, "bundle", "export", reference, str(small), *graph]) == 0
        assert "What 8 bits cost was not measured: there are no test" in capsys.readouterr().out
        manifest = verify_bundle(small)
        assert (manifest.own_card, "precisions" in manifest.facts) == (True, False)
        card = (unpack_bundle(small, tmp_path / "unpacked") / "README.md").read_text("utf-8")
        assert "What that costs was not measured: there were no test texts" in card
    put_into_tests(home)
    assert main([*at, "bundle", "export", "p", str(small), *graph, "--any-loss", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["notes"], told["facts"]["precisions"]["int8"]["texts"]) == ([], len(POOL) - 1)


def test_without_texts_no_answer_is_stored(home: Studio, tmp_path: Path) -> None:
    out = tmp_path / "p.zip"
    made = export_model(home, "p", out, Handover(without_texts=True, graph=GraphWish()))
    assert "answers.jsonl" not in made.files
    assert answers_again(out) is None
    said = (unpack_bundle(out, tmp_path / "unpacked") / "exact.json").read_text("utf-8")
    assert "sha256:" in said


def test_8_bits_are_judged_by_texts_that_were_not_learned(home: Studio, tmp_path: Path) -> None:
    """Where texts were left out, learned ones were test texts, too, and hid what 8 bits lose."""
    put_into_tests(home)
    table = tmp_path / "same.csv"
    learned = SENTENCES["refund"][0].upper()
    rows = ["can we do it,refund,train", "Can we do it?,parcel,train", "CAN WE DO IT,refund,test"]
    table.write_text("\n".join(["text,intent,split", f"{learned}!,refund,test", *rows]), "utf-8")
    import_file(home, ImportRequest("p", table))
    train_here(home, TrainingRequest("p", "instant", {}, "bundled"))
    out, small = tmp_path / "p.zip", GraphWish("int8", any_loss=True)

    def judged(reference: str, *, without_texts: bool) -> float:
        handover = Handover(without_texts=without_texts, graph=small)
        facts = export_model(home, reference, out, handover).facts
        return float(facts["precisions"]["int8"]["texts"])

    assert judged("p@3", without_texts=False) == len(POOL) - 1
    assert judged("p@3", without_texts=True) == len(POOL) - 1
    export_model(home, "p", out, Handover(without_texts=True))
    bare = import_bundle(home, out, "p")
    assert judged(bare, without_texts=False) == len(POOL)  # with the text that only p@3 has learned


def test_commands_export_and_verify_a_graph(
    home: Studio, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at, out = ["--home", str(home.settings.folder)], str(tmp_path / "p.zip")
    assert main([*at, "bundle", "export", "p", out, "--runtime", "onnx", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["facts"]["runtime"] == "onnx"
    assert main(["bundle", "verify", out]) == 0
    assert "Largest difference of a score" in capsys.readouterr().out
    assert main(["bundle", "verify", out, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["tolerance"] == {"sums": 1e-5, "apart": 1e-3, "others": 0}
    told = said["difference"]
    assert told["others"] == 0
    assert 0 <= told["vote"] < 1e-4
    assert 0 <= told["sums"] < 1e-5
    assert main([*at, "bundle", "export", "p", out, "--precision", "int8"]) == 2
    assert "Add --runtime onnx." in capsys.readouterr().err
    small = ["--runtime", "onnx", "--precision", "int8", "--any-loss"]
    assert main([*at, "bundle", "export", "p", out, *small]) == 0
    assert main(["bundle", "verify", out]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "which is 0.01 more than 8 bits cost when it was exported" in said
    assert "and 0.001 of a score from the sum of its parts." in said


def test_a_graph_in_8_bits_is_held_against_what_its_export_measured(
    home: Studio, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No difference was refused in 8 bits, as far as it might be from the stored answers."""
    out = tmp_path / "p.zip"
    facts = export_model(home, "p", out, Handover(graph=GraphWish("int8", any_loss=True))).facts
    found = answers_again(out)
    assert found is not None
    assert facts["apart"] == {"largest": pytest.approx(found.largest), "others": found.others}
    folder = unpack_bundle(out, tmp_path / "unpacked")
    lines = [json.loads(row) for row in (folder / "answers.jsonl").read_text("utf-8").splitlines()]
    lines[0]["score"] += 2 * found.largest + 0.02
    other = "".join(json.dumps(line) + "\n" for line in lines).encode()
    path = rewritten(out, tmp_path / "x.zip", lambda e: replaced(e, "answers.jsonl", other))
    with pytest.raises(ArtifactDamaged, match="texts otherwise"):
        answers_again(path)
    assert main(["bundle", "verify", str(path)]) != 0
    capsys.readouterr()
    bare = {name: value for name, value in facts.items() if name != "apart"}
    older = rewritten(path, tmp_path / "older.zip", lambda e: with_facts(e, bare))
    assert answers_again(older) is not None  # an earlier release did not measure
    assert main(["bundle", "verify", str(older), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["tolerance"] == {"sums": 1e-3, "apart": None, "others": 0}
