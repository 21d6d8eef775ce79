"""An act on many texts is whole or not there, and others label while it is computed.

The undo of an import of 100,000 rows held the lock of writers for 18 s, and a label for 45,000
texts for 5.5 s.
"""

import os
import signal
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from app.bootstrap import open_studio
from app.services.data import history, large_acts, utterances
from app.services.data.bulk import BulkAct, Edit
from app.services.data.erasing import erase_texts
from app.services.data.importing import ImportRequest, import_file
from app.services.data.intents import load_overview
from app.services.data.projects import create_project, delete_project
from app.services.labelling.decisions import Operation, decide
from app.services.studio import Studio
from app.settings import Settings
from core.errors import Conflict, NotFound
from storage import projects
from storage.database import Database
from storage.log import edits, events, staging
from storage.log.events import Action
from storage.log.staging import StagedChanges
from storage.queries import dataset
from storage.queries.utterances import Filter
from tests.builders.trained_home import EVERY_TEXT
from tests.faults.forks import die_in_a_fork, sound
from tests.faults.table import Fault
from tests.storage.log.test_undo import fingerprint, start, step

FAULTS = (
    Fault(
        23,
        "SIGKILL within a large act, and labels during it",
        "An undo, a redo, a label and a delete for many texts are killed at four stages, and "
        "somebody labels while each is computed",
        "The act is whole or not there; the label is saved at once and stays",
    ),
)
ROWS = 60
STAGES = {
    "while changes are written": (StagedChanges, "_write"),
    "before the swap": (large_acts, "land_whole"),
    "within the swap": (events, "close_batch"),
    "after the swap": (Database, "empty_log"),
}
ACTS: dict[str, Callable[[Studio], object]] = {
    "label": lambda studio: change(studio, Edit("label", load_overview(studio, "p")[1][0].id)),
    "delete": lambda studio: change(studio, Edit("delete")),
    "undo": lambda studio: history.undo_last(studio, "p"),
    "redo": lambda studio: history.redo_last(studio, "p"),
}


def change(studio: Studio, edit: Edit) -> None:
    with studio.database.read() as connection:
        count = len(list(dataset.utterances(connection, 1)))
    utterances.change_many(studio, "p", Filter(), edit, BulkAct(count, EVERY_TEXT))


@pytest.fixture
def all_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stage each act, as those on thousands of texts are."""
    monkeypatch.setattr(history, "LARGE", 1)
    monkeypatch.setattr(utterances, "LARGE", 1)
    monkeypatch.setattr(staging, "_MANY", 0)


@pytest.fixture
def project(studio: Studio, tmp_path: Path, all_large: None) -> Studio:
    """A project of texts with and without labels and slots, imported in one act."""
    create_project(studio, "p")
    rows = [f"text number {n},{f'intent {n % 3}' if n % 2 else ''}" for n in range(ROWS)]
    file = tmp_path / "rows.csv"
    file.write_text("text,intent\n" + "\n".join(rows), encoding="utf-8")
    import_file(studio, ImportRequest("p", file))
    return studio


def prepare(studio: Studio, act: str) -> None:
    if act == "redo":
        history.undo_last(studio, "p")


def state(studio: Studio) -> tuple[str, list]:
    with studio.database.read() as connection:
        return fingerprint(connection, projects.find(connection, "p").id)


def _act_and_die(home: Path, act: str, stage: str) -> None:
    where, name = STAGES[stage]
    setattr(where, name, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    ACTS[act](open_studio(Settings(home=home)))


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("act", ACTS)
def test_a_killed_act_is_whole_or_not_there(project: Studio, act: str, stage: str) -> None:
    prepare(project, act)
    before, home = state(project), project.places.home
    project.database.close()
    die_in_a_fork(_act_and_die, home, act, stage)
    again = open_studio(Settings(home=home))
    is_done = stage == "after the swap"
    assert (state(again) != before) is is_done
    assert sound(again)
    if not is_done:
        ACTS[act](again)
        assert state(again) != before
        assert sound(again)
    ACTS["redo" if act == "undo" else "undo"](again)
    assert state(again) == before
    again.database.close()


def meanwhile(
    monkeypatch: pytest.MonkeyPatch, act: Callable[[], object], times: int = 1
) -> list[object]:
    """Let somebody act after the changes were computed, and before they are taken over."""
    fill = StagedChanges.fill
    answers: list[object] = []

    def filled(self: StagedChanges, changes) -> None:
        fill(self, changes)
        if len(answers) < times:
            answers.append(act())

    monkeypatch.setattr(StagedChanges, "fill", filled)
    return answers


def labels(studio: Studio) -> dict[str, tuple[str, ...] | None]:
    with studio.database.read() as connection:
        return {row.text: row.labels for row in dataset.utterances(connection, 1)}


def decided(studio: Studio, text: str, intent: str) -> str:
    with studio.database.read() as connection:
        row = next(r for r in dataset.utterances(connection, 1) if r.text == text)
    operation = Operation(uuid.uuid4().hex, "label", row.id, (intent,), seen=row.labels)
    return decide(studio, "p", [operation])[0].state


def test_a_label_is_saved_during_a_bulk_act_which_sees_it(
    project: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The decision waited for the end of the act, or failed after 15 s."""
    first, second = (intent.id for intent in load_overview(project, "p")[1][:2])
    saved = meanwhile(monkeypatch, lambda: decided(project, "text number 0", second))
    change(project, Edit("label", first))
    assert saved == ["saved"]
    assert set(labels(project).values()) == {(first,)}
    history.undo_last(project, "p")
    assert labels(project)["text number 0"] == (second,)
    assert sound(project)


def test_an_undo_takes_back_nothing_where_a_text_was_labelled_since(
    project: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    intent = load_overview(project, "p")[1][0].id
    saved = meanwhile(monkeypatch, lambda: decided(project, "text number 0", intent))
    with pytest.raises(Conflict, match="changed meanwhile"):
        history.undo_last(project, "p")
    assert saved == ["saved"]
    assert len(labels(project)) == ROWS
    assert labels(project)["text number 0"] == (intent,)
    assert sound(project)


def test_an_undo_keeps_the_intent_that_another_text_got_meanwhile(
    project: Studio, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The undo of an import deletes the intents that came with it, unless others use them."""
    file = tmp_path / "more.csv"
    file.write_text("text,intent\nmore of it,fresh\nand more,fresh\n", encoding="utf-8")
    key = import_file(project, ImportRequest("p", file)).key
    before = set(labels(project)) - {"more of it", "and more"}
    intent = next(i.id for i in load_overview(project, "p")[1] if i.name == "fresh")
    saved = meanwhile(monkeypatch, lambda: decided(project, "text number 0", intent))
    history.undo_action(project, "p", key)
    assert saved == ["saved"]
    assert set(labels(project)) == before
    assert labels(project)["text number 0"] == (intent,)
    assert sound(project)


def test_an_undo_keeps_the_intent_that_a_text_had_meanwhile_and_lost_again(
    project: Studio, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It deleted the intent, and the undo of the loss then gave the text a label without a name."""
    file = tmp_path / "more.csv"
    file.write_text("text,intent\nmore of it,fresh\n", encoding="utf-8")
    key = import_file(project, ImportRequest("p", file)).key
    fresh, other = (
        next(one.id for one in load_overview(project, "p")[1] if one.name == name)
        for name in ("fresh", "intent 0")
    )
    text = "text number 0"
    act = lambda: [decided(project, text, intent) for intent in (fresh, other)]  # noqa: E731
    saved = meanwhile(monkeypatch, act)
    history.undo_action(project, "p", key)
    assert saved == [["saved", "saved"]]
    history.undo_last(project, "p")
    assert (labels(project)[text], "more of it" in labels(project)) == ((fresh,), False)
    assert fresh in {one.id for one in load_overview(project, "p")[1]}
    assert sound(project)


def test_an_undo_brings_no_text_back_that_was_erased_while_it_was_computed(
    project: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A deleted text that is erased changes no row: the text came back, whole."""
    before = set(labels(project))
    change(project, Edit("delete"))
    erase = lambda: erase_texts(project, "p", ["text number 0"], now=True).done  # noqa: E731
    done = meanwhile(monkeypatch, erase)
    history.undo_last(project, "p")
    assert done == [True]
    assert set(labels(project)) == before - {"text number 0"}
    assert sound(project)


@pytest.mark.parametrize("act", ACTS)
def test_an_act_does_nothing_to_a_project_that_was_deleted_meanwhile(
    project: Studio, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    prepare(project, act)
    before = state_of(project, 1)
    meanwhile(monkeypatch, lambda: delete_project(project, "p"))
    with pytest.raises(NotFound, match="'p' was deleted meanwhile"):
        ACTS[act](project)
    assert state_of(project, 1) == before


@pytest.mark.parametrize("how", ["label", "row"])
def test_an_act_on_many_texts_gives_no_label_of_an_intent_that_is_not_there(
    project: Studio, how: str
) -> None:
    with project.database.read() as connection:
        row, *_ = dataset.utterances(connection, 1)
        head = events.head(connection, 1)
    new = edits.create_utterance("new", "new", "train", "f", ["gone"])
    changes = [edits.label(row, ["gone"])] if how == "label" else [new]
    with pytest.raises(Conflict, match="intent of these labels was deleted"):
        large_acts.stage(project, 1, Action(how, "local"), changes, head)
    with project.database.read() as connection:
        assert events.head(connection, 1) == head


def test_an_act_that_others_disturb_again_and_again_is_done_all_the_same(
    project: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    intents = [intent.id for intent in load_overview(project, "p")[1]]
    turns = iter(range(99))
    act = lambda: decided(project, "text number 0", intents[1 + next(turns) % 2])  # noqa: E731
    saved = meanwhile(monkeypatch, act, times=99)
    change(project, Edit("label", intents[0]))
    assert saved == ["saved"] * large_acts.TRIES
    assert set(labels(project).values()) == {(intents[0],)}


def test_staged_undo_and_redo_equal_those_of_one_step(studio: Studio, all_large: None) -> None:
    """All kinds of changes, back to the beginning and forth to the end."""
    with studio.database.write() as connection:
        project = start(connection)
        first = fingerprint(connection, project)
        kinds = ("decide", "edit", "add", "create", "merge", "move", "delete", "rename", "label")
        for place, kind in enumerate(kinds):
            step(connection, project, kind, place, place + 1)
        last = fingerprint(connection, project)
        name = projects.list_all(connection)[0].name
    undone = 0
    while state_of(studio, project) != first:
        assert history.undo_last(studio, name) is not None
        undone += 1
    assert undone == len(kinds)
    while history.redo_last(studio, name) is not None:
        undone -= 1
    assert undone == 0
    assert state_of(studio, project) == last
    assert sound(studio)


def state_of(studio: Studio, project: int) -> tuple[str, list]:
    with studio.database.read() as connection:
        return fingerprint(connection, project)
