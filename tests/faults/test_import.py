"""An import is whole or not there, wherever it is killed, and others label while it is read.

A file of 100,000 rows held the lock of writers for 9.5 s, from its first row to its last.
"""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from app.bootstrap import open_studio
from app.services.data import importing
from app.services.data.history import undo_action
from app.services.data.import_cases import ImportChoices
from app.services.data.importing import ImportReport, ImportRequest, import_file
from app.services.data.intents import add_intent, change_intent
from app.services.data.projects import (
    DeletedProject,
    create_project,
    delete_project,
    restore_project,
)
from app.services.labelling.decisions import Operation, decide
from app.services.studio import Studio
from app.settings import Settings
from core.errors import Conflict, NotFound
from storage import projects
from storage.database import Database
from storage.log import events, staging
from storage.log.staging import StagedChanges
from storage.queries import dataset
from tests.faults.forks import die_in_a_fork, sound

ROWS = 300
STAGES = {
    "while rows are read": (StagedChanges, "_write"),
    "before the swap": (importing, "land"),
    "within the swap": (events, "close_batch"),
    "after the swap": (Database, "empty_log"),
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    rows = [f"text number {n},intent {n % 3}" for n in range(ROWS)]
    path.write_text("text,intent\n" + "\n".join(rows), encoding="utf-8")
    return path


@pytest.fixture
def project(studio: Studio) -> Studio:
    """A project of two texts that wait; the file labels the first."""
    create_project(studio, "p")
    add(studio, "text number 0", "something else")
    return studio


def add(studio: Studio, *texts: str) -> None:
    path = studio.places.home / "few.txt"
    path.write_text("\n".join(texts), encoding="utf-8")
    import_file(studio, ImportRequest("p", path))


def rows_of(studio: Studio) -> dict[str, tuple[str, ...] | None]:
    """Labels by text; no text may be there twice."""
    with studio.database.read() as connection:
        record = projects.find(connection, "p")
        names = dataset.intent_names(connection, record.id)
        rows = list(dataset.utterances(connection, record.id))
    assert len({row.text for row in rows}) == len(rows)
    labels = {row.text: row.labels for row in rows}
    return {text: keys and tuple(names[key] for key in keys) for text, keys in labels.items()}


def label(studio: Studio, text: str, name: str) -> str:
    with studio.database.read() as connection:
        rows = dataset.utterances(connection, projects.find(connection, "p").id)
        key = next(row.id for row in rows if row.text == text)
    (outcome,) = decide(studio, "p", [Operation("k" * 12 + text, "label", key, create=(name,))])
    return outcome.state


def meanwhile(monkeypatch: pytest.MonkeyPatch, studio: Studio, act: Callable[[], object]) -> None:
    """Let somebody act once, after the file was read and before its changes are taken over."""
    fill, acts = StagedChanges.fill, [act]

    def filled(self: StagedChanges, changes) -> None:
        fill(self, changes)
        if acts:
            acts.pop()()

    monkeypatch.setattr(StagedChanges, "fill", filled)


def _import_and_die(home: Path, file: Path, stage: str) -> None:
    where, name = STAGES[stage]
    staging._MANY = 0
    setattr(where, name, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    import_file(open_studio(Settings(home=home)), ImportRequest("p", file))


@pytest.mark.parametrize("stage", STAGES)
def test_a_killed_import_is_whole_or_not_there(project: Studio, file: Path, stage: str) -> None:
    before = rows_of(project)
    home = project.places.home
    project.database.close()
    die_in_a_fork(_import_and_die, home, file, stage)
    again = open_studio(Settings(home=home))
    whole = len(before) + ROWS - 1
    assert len(rows_of(again)) == (whole if stage == "after the swap" else len(before))
    assert sound(again)
    import_file(again, ImportRequest("p", file))
    assert len(rows_of(again)) == whole
    assert sound(again)
    assert [left.name for left in again.places.scratch.iterdir()] == []
    again.database.close()


def test_one_undo_takes_the_whole_import_back(project: Studio, file: Path) -> None:
    before = rows_of(project)
    report = import_file(project, ImportRequest("p", file))
    assert (report.added, report.labelled) == (ROWS - 1, ROWS)
    assert undo_action(project, "p", report.key) is not None
    assert rows_of(project) == before
    assert sound(project)


def test_labels_are_saved_while_a_file_is_read(
    project: Studio, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The decision waited for the end of the import, or failed after 15 s."""
    states: list[str] = []
    act = lambda: states.append(label(project, "something else", "mine"))  # noqa: E731
    meanwhile(monkeypatch, project, act)
    report = import_file(project, ImportRequest("p", file))
    assert states == ["saved"]
    assert (report.added, report.labelled) == (ROWS - 1, ROWS)
    labels = rows_of(project)
    assert labels["something else"] == ("mine",)
    assert labels["text number 0"] == ("intent 0",)
    assert len(labels) == ROWS + 1
    assert sound(project)


def test_a_text_that_is_labelled_meanwhile_keeps_its_label(
    project: Studio, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meanwhile(monkeypatch, project, lambda: label(project, "text number 0", "mine"))
    report = import_file(project, ImportRequest("p", file))
    assert (report.added, report.labelled, report.already_there) == (ROWS - 1, ROWS - 1, 1)
    assert "1 text changed while the file was read" in report.examples[0]
    assert rows_of(project)["text number 0"] == ("mine",)
    assert sound(project)


@pytest.mark.parametrize("what", ["text", "intent", "renamed"])
def test_what_is_added_meanwhile_is_not_added_twice(
    project: Studio, file: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    add_intent(project, "p", "intent 1")
    with project.database.read() as connection:
        record = projects.find(connection, "p")
        key = dataset.intent_named(connection, record.id, "intent 1").id
    acts: dict[str, Callable[[], object]] = {
        "text": lambda: add(project, "text number 7"),
        "intent": lambda: add_intent(project, "p", "intent 2"),
        "renamed": lambda: change_intent(project, "p", key, {"name": "other"}),
    }
    meanwhile(monkeypatch, project, acts[what])
    report: ImportReport = import_file(project, ImportRequest("p", file))
    labels = rows_of(project)
    assert len(labels) == ROWS + 1
    assert report.added == ROWS - (2 if what == "text" else 1)
    assert labels["text number 7"] == ("intent 1",)
    assert sound(project)


def test_nothing_goes_into_a_project_that_was_deleted_meanwhile(
    project: Studio, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file was called imported, and its project was on no list."""
    before = rows_of(project)
    deleted: list[DeletedProject] = []
    meanwhile(monkeypatch, project, lambda: deleted.append(delete_project(project, "p")))
    with pytest.raises(NotFound, match="'p' was deleted meanwhile"):
        import_file(project, ImportRequest("p", file))
    restore_project(project, deleted[0].id)
    assert rows_of(project) == before


def test_counts_that_no_longer_hold_import_nothing(project: Studio, file: Path) -> None:
    choices = ImportChoices(counted={"new": ROWS})
    before = rows_of(project)
    with pytest.raises(Conflict, match="changed since you saw these counts"):
        import_file(project, ImportRequest("p", file, choices=choices))
    assert rows_of(project) == before


def test_the_log_is_emptied_after_a_large_import(
    project: Studio, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """84 MB of write-ahead log stayed after 100,000 rows."""
    monkeypatch.setattr(staging, "_MANY", 0)
    with project.database.engine.connect():  # the last one to close would delete the log
        import_file(project, ImportRequest("p", file))
        assert (project.places.home / "studio.db-wal").stat().st_size == 0
