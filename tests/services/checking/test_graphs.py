"""A bundle that is one graph is judged by the answers of the graph itself.

`check` refused it, so that no pipeline could judge a graph in 8 bits before it is served.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.cli import main
from app.services.checking.checks import CheckRequest, check_model
from app.services.checking.wanted import Wanted, read_wanted
from app.services.studio import Studio
from app.services.versions.bundles import Handover, export_model
from app.services.versions.graphs import GraphWish
from core.bundle.archive import export_bundle
from core.bundle.graph_layout import save_graph
from core.encoders.packed.encoder import TransformerEncoder
from core.pipeline import hashes_of
from core.runtime.engine import open_engine
from storage import pinned_texts
from storage.queries import dataset
from tests.builders.hostile.changed_bundle import replaced, rewritten
from tests.builders.stub_pipeline import trained
from tests.builders.trained_home import POOL
from tests.builders.unpacked_bundle import unpack_bundle
from tests.conftest import SENTENCES
from tests.services.versions.test_bundle_card import put_into_tests

SMALL = Handover(graph=GraphWish("int8", any_loss=True))
ASKED = {f"please {text} today": name for name, texts in SENTENCES.items() for text in texts}


@pytest.fixture
def asked_file(tmp_path: Path) -> Path:
    """A file of labelled texts, the last one of no intent."""
    lines = ["text,intent", *(f"{text},{name}" for text, name in ASKED.items()), "zzz qqq,|"]
    (tmp_path / "tests.csv").write_text("\n".join(lines), "utf-8")
    return tmp_path / "tests.csv"


def small_graph(home: Studio, folder: Path) -> Path:
    export_model(home, "p", folder / "small.zip", SMALL)
    return folder / "small.zip"


def test_a_graph_in_8_bits_is_gated_by_its_own_answers(
    home: Studio, tmp_path: Path, asked_file: Path
) -> None:
    graph = small_graph(home, tmp_path)
    floors = ["accuracy=0", "kept=0", "recall:parcel=0", "out_of_scope=0"]
    wanted = read_wanted(floors, ["megabytes=50", "latency_ms=60000"])
    report = check_model(home, CheckRequest(str(graph), wanted, "p", asked_file))
    checks = {one.name.split(" at ")[0]: one for one in report.checks if one.kind == "floor"}
    said = open_engine(unpack_bundle(graph, tmp_path / "unpacked")).predict(list(ASKED))
    pairs = list(zip(said, ASKED.values(), strict=True))
    share = sum(one.intent == name for one, name in pairs) / len(pairs)
    assert checks["accuracy"].value == pytest.approx(share)
    kept = sum(not one.decision.out_of_scope for one in said) / len(said)
    assert checks["kept"].value == pytest.approx(kept)
    parcels = [one.intent == name for one, name in pairs if name == "parcel"]
    assert checks["recall:parcel"].value == pytest.approx(sum(parcels) / len(parcels))
    assert report.judged_on == "20 test texts and 1 text of no intent of tests.csv"
    [size] = [one for one in report.checks if one.name.startswith("size")]
    assert size.value == pytest.approx(graph.stat().st_size / 1e6)
    assert [one.kind for one in report.checks].count("champion") == 2
    assert str(report.against).startswith("p@")


def test_a_graph_that_decides_otherwise_than_its_training_did_does_not_pass(
    home: Studio, tmp_path: Path, asked_file: Path
) -> None:
    """Its stored figures are those of the training: they say nothing of what is served."""
    graph = small_graph(home, tmp_path)
    folder = unpack_bundle(graph, tmp_path / "unpacked")
    decision = json.loads((folder / "decision.json").read_text("utf-8"))
    decision["thresholds"] = [1e9] * len(decision["intents"])
    content = json.dumps(decision).encode()
    shy = rewritten(graph, tmp_path / "shy.zip", lambda e: replaced(e, "decision.json", content))
    request = CheckRequest(str(shy), read_wanted(["kept=0.5"], []), str(graph), asked_file)
    report = check_model(home, request)
    floor, compared, _ = report.checks
    assert (floor.state, floor.value) == ("failed", 0.0)
    assert "answers 0 of 20 test texts right" in compared.found


def test_without_texts_only_what_the_graph_was_measured_by_counts(
    home: Studio, tmp_path: Path
) -> None:
    graph = small_graph(home, tmp_path)
    words = "What was measured before small.zip was made one graph does not count: the graph may"
    report = check_model(home, CheckRequest(str(graph), read_wanted(["accuracy=0"], [])))
    [floor] = report.checks
    assert (floor.state, floor.found) == ("failed", "not judged: no test text tells it")
    assert report.notes == (f"{words} answer otherwise.",)
    put_into_tests(home)
    graph = small_graph(home, tmp_path)
    wanted = read_wanted(["accuracy=0", "answered_right=0"], [])
    report = check_model(home, CheckRequest(str(graph), wanted))
    accuracy, right = report.checks
    assert (accuracy.state, right.state) == ("passed", "failed")
    n = len(POOL) - 1
    assert accuracy.found.endswith(f" of {n} texts")
    assert report.judged_on.endswith(
        f"judged on {n} test texts, which the graph answered when it was exported"
    )


def test_a_pin_that_a_graph_breaks_is_told_with_what_a_graph_knows(
    home: Studio, tmp_path: Path
) -> None:
    same, near = SENTENCES["parcel"][0], "please tell me where my parcel is by now"
    folder = unpack_bundle(small_graph(home, tmp_path), tmp_path / "unpacked")
    [said] = open_engine(folder).predict([near])
    wrong = next(name for name in ("greeting", "refund") if name not in said.decision.intents)
    with home.database.write() as connection:
        for text, name in ((same, "greeting"), (near, wrong)):
            intent = dataset.intent_named(connection, 1, name)
            pinned_texts.add(connection, 1, text, [intent.id], "local")
    report = check_model(home, CheckRequest(str(small_graph(home, tmp_path)), Wanted()))
    told = {one.name: one for one in report.checks}
    exact, other = told[f"“{same}” must get greeting"], told[f"“{near}” must get {wrong}"]
    assert (exact.found, exact.why) == ("gets parcel", "An example says just this.")
    assert [(one.text, one.label) for one in exact.examples] == [(same, "parcel")]
    assert other.state == "failed"
    assert "A graph does not tell which examples vote against what is expected" in other.why
    voting = [one.exemplar_id for one in said.reason.neighbours if one.vote > 0]
    assert [one.id for one in other.examples] == (voting if said.decision.intents else [])


def test_texts_that_the_encoder_learned_without_a_label_test_no_graph(
    home: Studio, tmp_path: Path, asked_file: Path, tiny: TransformerEncoder
) -> None:
    """A graph did not say which they are."""
    learned = next(iter(ASKED))
    labels = {text: name for name, texts in SENTENCES.items() for text in texts}
    made = replace(trained(tiny, labels), learned=hashes_of([learned]))
    save_graph(made, {"project": "p"}, tmp_path / "g", "float32")
    export_bundle(tmp_path / "g", tmp_path / "g.zip")
    wanted = read_wanted(["accuracy=0"], [])
    report = check_model(home, CheckRequest(str(tmp_path / "g.zip"), wanted, None, asked_file))
    assert report.judged_on.startswith("19 test texts and 1 text of no intent of tests.csv")


def test_the_command_writes_for_a_pipeline_what_it_found(
    home: Studio, tmp_path: Path, asked_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = small_graph(home, tmp_path)
    words = ["check", str(graph), "--test", str(asked_file), "--json"]
    files = ["--junit", str(tmp_path / "a.xml"), "--summary", str(tmp_path / "a.md")]
    at = ["--home", str(home.settings.folder)]
    assert main([*at, *words, *files, "--min", "accuracy=0"]) == 0
    assert json.loads(capsys.readouterr().out)["model"] == "small.zip"
    assert "accuracy at least" in (tmp_path / "a.xml").read_text("utf-8")
    assert "small.zip passes" in (tmp_path / "a.md").read_text("utf-8")
    assert main([*at, *words, "--max", "megabytes=0.001"]) == 3
    assert json.loads(capsys.readouterr().out)["passes"] is False
