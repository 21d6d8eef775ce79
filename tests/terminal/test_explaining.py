"""`explain` on the command line: one JSON object and a page, of a version and of a bundle."""

import json
from pathlib import Path

import pytest

from app.cli import main
from app.services.data.projects import create_project
from app.services.studio import Studio
from app.services.versions.bundles import export_model
from storage.log import edits, events, versions
from storage.log.events import Action
from tests.builders.stub_pipeline import store_model, trained
from tests.conftest import SENTENCES


@pytest.fixture
def explained(studio: Studio, tiny) -> Studio:
    """A project `p` with one model version of a few texts."""
    project = create_project(studio, "p")
    labels = {text: name for name, texts in SENTENCES.items() for text in texts}
    made = {name: edits.create_intent(name) for name in SENTENCES}
    rows = [
        edits.create_utterance(f"e{i}", text, "train", "f", [made[name].subject_id])
        for i, (text, name) in enumerate(labels.items())
    ]
    with studio.database.write() as connection:
        action = Action("import", "anna", "import rows.csv")
        events.record(connection, project.id, action, [*made.values(), *rows])
        versions.cut(connection, project, "first")
    store_model(studio, project, trained(tiny, labels))
    return studio


def test_explain_tells_all_and_writes_it(explained: Studio, tmp_path: Path, capsys) -> None:
    home, out = str(explained.places.home), tmp_path / "out.html"
    words = ["explain", "p@1", "give me my money back", "--against", "parcel"]
    assert main(["--home", home, *words, "--html", str(out), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    [reason] = found["reasons"]
    total = sum(one["vote"] for one in reason["votes"]) + reason["others"] + reason["prior"]
    assert total == pytest.approx(reason["score"], abs=1e-6)
    assert {one["origin"]["by"] for one in reason["votes"]} == {"anna"}
    assert found["why_not"]["intent"] == "parcel"
    assert found["receipt"].startswith("/receipts/")
    assert main(["--home", home, "predict", *words[1:3], "--json"]) == 0
    [predicted] = json.loads(capsys.readouterr().out)["predictions"]
    # Whoever reads what `predict` prints finds it here, too.
    told_better = {"reasons", "dataset_version"}
    assert {key: found[key] for key in predicted.keys() - told_better} == {
        key: predicted[key] for key in predicted.keys() - told_better
    }
    page = out.read_text(encoding="utf-8")
    assert "by <bdi>anna</bdi>" in page
    assert "<script" not in page
    assert main(["--home", home, *words]) == 0
    said = capsys.readouterr().out
    assert "Why not parcel?" in said
    assert "Words that carry the difference" in said


def test_a_bundle_is_explained_and_kept_nowhere(explained: Studio, tmp_path: Path, capsys) -> None:
    bundle, out = tmp_path / "p.zip", tmp_path / "out.html"
    export_model(explained, "p@1", bundle)
    home = str(tmp_path / "elsewhere")
    assert (
        main(["--home", home, "explain", str(bundle), "hello", "--html", str(out), "--json"]) == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert (found["model"], found["receipt"]) == ("p.zip", None)
    assert "Kept at" not in out.read_text(encoding="utf-8")
