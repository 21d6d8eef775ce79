"""The command line as a person uses it, from an empty home to a bundle, on a tiny encoder."""

import dataclasses
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from app.services.studio import Studio
from app.services.training import runs
from app.services.training.runs import TrainingRequest
from app.terminal import versions as terminal
from storage import backup, jobs, models, pinned_texts, projects
from storage.database import open_database
from storage.queries import dataset
from storage.records import JobRecord
from tests.builders.trained_home import train_here


def run(home: Path, *words: str) -> int:
    return main(["--home", str(home), *words])


def said(capsys: pytest.CaptureFixture[str]) -> dict:
    return json.loads(capsys.readouterr().out.strip().splitlines()[-1])


@pytest.mark.slow
def test_from_a_file_to_a_bundle_and_into_another_home(
    tmp_path: Path, labelled_csv: Path, tiny_path: Path, capsys
) -> None:
    home, other = tmp_path / "home", tmp_path / "other"
    assert run(home, "new", "support") == 0
    assert run(home, "import", "support", str(labelled_csv), "--json") == 0
    assert said(capsys)["added"] == 20
    settings = ["--base", str(tiny_path), "--set", "epochs=2", "--set", "frozen_layers=1"]
    for _ in range(2):
        assert run(home, "train", "support", *settings, "--json") == 0
    trained = said(capsys)
    assert (trained["model"], trained["promoted"]) == ("support@2", False)
    assert run(home, "promote", "support@2") == 0
    assert 0 <= trained["metrics"]["accuracy"] <= 1
    assert_same_weights(home)
    assert run(home, "evaluate", "support", str(labelled_csv), "--json") == 0
    assert said(capsys)["n"] == 20
    assert run(home, "evaluate", "support", "--json") == 0
    assert said(capsys) == trained["metrics"]
    assert trained["metrics"]["judged_on"] == "4 of 20 texts, held out"
    assert run(home, "predict", "support@1", "hello THERE!", "where is it", "--json") == 0
    answers = said(capsys)["predictions"]
    assert [answers[0]["intent"], answers[0]["decision"]["rule"]] == ["greeting", "exact"]
    assert run(home, "explain", "support", "where is my money", "--json") == 0
    found = said(capsys)
    assert found["sentence"]
    assert found["model"] == "support@2"
    bundle = tmp_path / "support.zip"
    assert run(home, "bundle", "export", "support", str(bundle)) == 0
    assert run(home, "bundle", "verify", str(bundle), "--json") == 0
    assert run(other, "bundle", "import", str(bundle), "--project", "taken") == 0
    assert run(other, "bundle", "export", "taken", str(tmp_path / "again.zip")) == 0
    assert (tmp_path / "again.zip").read_bytes() == bundle.read_bytes()
    assert run(other, "bundle", "import", str(bundle), "--project", "taken") == 2
    assert "This file is version 1 of 'taken'" in capsys.readouterr().err
    assert run(home, "doctor", "--json") == 0
    assert said(capsys)["healthy"] is True
    check_backup(home, tmp_path, capsys)


def assert_same_weights(home: Path) -> None:
    """Training twice with one seed gives identical files."""
    database = open_database(home / "studio.db")
    with database.read() as connection:
        project = projects.find(connection, "support")
        first, second = models.list_all(connection, project.id)
        query = "SELECT blob_sha256 FROM tree WHERE path LIKE 'encoder/%' AND sha256 = ?"
        trees = [
            connection.exec_driver_sql(query, (model.tree_sha256,)).scalars().all()
            for model in (first, second)
        ]
    database.close()
    assert sorted(trees[0]) == sorted(trees[1])


def check_backup(home: Path, tmp_path: Path, capsys) -> None:
    out, restored = tmp_path / "backup.zip", tmp_path / "restored"
    assert run(home, "backup", str(out)) == 0
    assert run(restored, "restore", str(out)) == 0
    assert run(restored, "doctor", "--json") == 0
    assert said(capsys)["healthy"] is True
    assert run(restored, "predict", "support", "hi", "--json") == 0
    assert said(capsys)["predictions"][0]["intent"] == "greeting"
    assert run(restored, "restore", str(out)) == 2
    assert "holds a studio already" in capsys.readouterr().err


def test_a_damaged_backup_is_refused_and_leaves_nothing(studio: Studio, tmp_path: Path) -> None:
    backup.back_up(studio.database, studio.places.artifacts, tmp_path / "b.zip")
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content[:-1] if name == "studio.db" else content)
    assert run(tmp_path / "new", "restore", str(tmp_path / "bad.zip")) == 2
    assert not (tmp_path / "new" / "studio.db").exists()


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (["predict", "nope", "x"], "There is no project 'nope'", "lists them"),
        (["train", "p"], "training labels of 0 intents", "Import a labelled file"),
        (["train", "p", "--set", "epochs=0"], "epochs", "Look at the settings of convfit"),
        (["train", "p", "--set", "epochs"], "'epochs' is no setting", "--set epochs=5"),
        (["predict", "p", "x"], "'p' has no trained model yet", "Train one on the Train page"),
        (["predict", "p@x", "y"], "'x' is no version", "PROJECT@3"),
        (["export", "p", "out.xyz"], "does not say in which format", "name the format"),
        (["export", "p", "out.csv", "--version", "7"], "no dataset version 7", "Training cuts"),
        (["cancel", "abc"], "There is no job 'abc'", "The Train page lists them"),
        (["bundle", "verify", "absent.zip"], "There is no file absent.zip", "Check the path"),
        (["new", "p"], "There is a project 'p' already", "another name"),
        (["new", "a@b"], "'a@b' cannot name a project", "no @"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_done_is_said_with_the_next_step(
    tmp_path: Path, capsys, words: list[str], message: str, hint: str
) -> None:
    run(tmp_path, "new", "p")
    capsys.readouterr()
    assert run(tmp_path, *words) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert hint in captured.err
    assert captured.out == ""


def test_one_of_a_thing_is_told_in_the_singular(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """“Added 1 utterances; 1 labels given” was printed."""
    home, file = tmp_path / "home", tmp_path / "one.csv"
    file.write_text("text,intent\ngive my money back,refund\n", encoding="utf-8")
    assert run(home, "new", "p") == 0
    assert run(home, "import", "p", str(file)) == 0
    told = capsys.readouterr().out
    assert "Added 1 utterance; 1 label given.\n" in told
    assert "  1 new intent: refund\n" in told


def test_the_project_says_whether_a_training_by_the_command_is_used_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its version answered at once where the Train page says that a person decides."""
    asked = list[TrainingRequest]()
    result: dict[str, Any] = {"model": "p@2", "metrics": {}, "gate": ["A person decides."]}

    def start(studio: Studio, request: TrainingRequest) -> JobRecord:
        asked.append(request)
        with studio.database.write() as connection:
            return jobs.enqueue(connection, "train", {})

    monkeypatch.setattr(runs, "start_training", start)
    assert run(tmp_path, "new", "p") == 0
    for promoted in (False, True):
        ended = {**result, "promoted": promoted}
        monkeypatch.setattr(
            terminal, "follow", lambda _, job, told=ended: dataclasses.replace(job, result=told)
        )
        capsys.readouterr()
        assert run(tmp_path, "train", "p", "--recipe", "instant") == 0
        waits = "p@2 does not answer yet. A person decides." in capsys.readouterr().err
        assert waits is not promoted
    assert [(one.gate, one.base) for one in asked] == [(None, None)] * 2  # both as the project has


@pytest.mark.slow
def test_a_pin_that_breaks_keeps_a_candidate_from_becoming_champion(
    studio: Studio, labelled_csv: Path, tiny_path: Path
) -> None:
    from app.services.data.importing import ImportRequest, import_file
    from app.services.data.projects import create_project

    project = create_project(studio, "p")
    import_file(studio, ImportRequest("p", labelled_csv))
    with studio.database.write() as connection:
        intent = dataset.intent_named(connection, project.id, "refund")
        pinned_texts.add(connection, project.id, "good morning", [intent.id], "local")
    request = TrainingRequest("p", "instant", {}, str(tiny_path))
    train_here(studio, request)
    with studio.database.read() as connection:
        made = models.list_all(connection, project.id)[0]
        assert models.champion(connection, project.id) is None
    assert made.pins["broken"][0]["answer"] == ["greeting"]
