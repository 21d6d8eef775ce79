"""An action is undone on which others have gone on since: what they need stays."""

import pytest

from core.errors import Conflict
from storage import projects
from storage.database import Database
from storage.log import edits, erasing, events, versions
from storage.log.events import Action
from storage.log.scrubbing import scrubber_of
from storage.queries import dataset
from storage.records import Change
from tests.storage.log.test_undo import intent, label, start


def create(connection, key: str, row: str, name: str) -> str:
    """Make an intent with a first text, as one action; return its id."""
    made = edits.create_intent(name)
    record = dataset.utterance_by_id(connection, 1, row)
    changes = [made, *edits.decide(record, [made.subject_id])]
    events.record(connection, 1, Action("label", "local", key=key), changes)
    return made.subject_id


def take(connection, how: str, row: str) -> None:
    """Take the label of a text away, in one of several ways, under the key C."""
    record = dataset.utterance_by_id(connection, 1, row)
    changes = {
        "unlabel": lambda: [edits.label(record, None)],
        "relabel": lambda: edits.decide(record, [intent(connection, "c")]),
        "delete": lambda: [edits.delete_utterance(record)],
    }[how]()
    events.record(connection, 1, Action(how, "local", key="C"), changes)


def names(connection) -> set[str]:
    return {one.name for one in dataset.intents(connection, 1)}


def change(connection, key: str, *changes: Change) -> None:
    events.record(connection, 1, Action("change", "local", key=key), changes)


@pytest.mark.parametrize("how", ["unlabel", "relabel", "delete"])
def test_an_intent_stays_that_another_undo_gives_back_to_a_text(
    database: Database, how: str
) -> None:
    """It was deleted, and came back as a label without a name: every training failed."""
    with database.write() as connection:
        start(connection)
        refund = create(connection, "A", "u0", "refund")
        label(connection, "B", "u1", refund)
        take(connection, how, "u1")
        assert events.undo(connection, 1, "local", of="A") is not None
        assert "refund" in names(connection)
        assert events.undo(connection, 1, "local", of="C") is not None
        assert dataset.utterance_by_id(connection, 1, "u1").labels == (refund,)
        record = projects.get(connection, 1)
        versions.cut(connection, record, "now")
        assert versions.differences(connection, record) == []


def test_an_intent_goes_with_its_action_once_nothing_gives_it_back(database: Database) -> None:
    """Undos and redos of its own action, and of others that are undone, do not hold it."""
    with database.write() as connection:
        start(connection)
        refund = create(connection, "A", "u0", "refund")
        for _ in range(2):
            events.undo(connection, 1, "local")
            assert "refund" not in names(connection)
            events.redo(connection, 1, "local")
        label(connection, "B", "u1", refund)
        take(connection, "unlabel", "u1")
        for key in ("C", "B", "A"):
            events.undo(connection, 1, "local", of=key)
        assert "refund" not in names(connection)
        for _ in range(3):
            assert events.redo(connection, 1, "local") is not None
        assert names(connection) == {"a", "b", "c", "refund"}


def test_what_gave_an_erased_text_its_label_holds_no_intent(database: Database) -> None:
    """Nothing gives a label back to such a text."""
    with database.write() as connection:
        start(connection)
        label(connection, "B", "u1", create(connection, "A", "u0", "refund"))
        take(connection, "delete", "u1")
        said = erasing.find_said(connection, 1, ["text 1"])
        erasing.erase(connection, 1, said, scrubber_of(said.texts), "local")
        events.undo(connection, 1, "local", of="A")
        assert "refund" not in names(connection)


def test_an_intent_that_was_renamed_there_and_back_stays(database: Database) -> None:
    """It was deleted, and Undo, which came to the renaming next, could do nothing any more."""
    with database.write() as connection:
        start(connection)
        create(connection, "A", "u0", "refund")
        change(connection, "B", edits.rename_intent(connection, 1, "refund", "money"))
        change(connection, "C", edits.rename_intent(connection, 1, "money", "refund"))
        events.undo(connection, 1, "local", of="A")
        for _ in range(2):
            assert events.undo(connection, 1, "local") is not None
        assert "refund" in names(connection)


def archived(connection, name: str) -> bool:
    return dataset.intent_named(connection, 1, name).archived


@pytest.mark.parametrize("ben", ["labels", "undoes"])
def test_an_intent_that_came_back_stays_open_while_others_have_labelled_with_it(
    database: Database, ben: str
) -> None:
    """Ada's import had brought it back, Ben labelled with it, and her undo archived it."""
    with database.write() as connection:
        start(connection)
        x = dataset.intent_named(connection, 1, "c")
        change(connection, "before", edits.edit(x, "archived", value=True))
        opened = edits.edit(dataset.intent_named(connection, 1, "c"), "archived", value=False)
        new = edits.create_utterance("new", "new", "train", "f", [x.id])
        change(connection, "Ada", opened, new)
        label(connection, "Ben", "u0", x.id)
        if ben == "undoes":
            events.undo(connection, 1, "local", of="Ben")
        events.undo(connection, 1, "local", of="Ada")
        assert archived(connection, "c") is (ben == "undoes")
        assert "new" not in {row.id for row in dataset.utterances(connection, 1)}


def test_an_undo_of_which_nothing_is_left_is_refused(database: Database) -> None:
    """It was called done, and nothing had been taken back."""
    with database.write() as connection:
        start(connection)
        made = edits.create_intent("refund")
        change(connection, "A", made)
        label(connection, "B", "u0", made.subject_id)
        with pytest.raises(Conflict, match="Others have gone on from this"):
            events.undo(connection, 1, "local", of="A")
        for _ in range(2):
            assert events.undo(connection, 1, "local") is not None
        assert "refund" not in names(connection)


def test_a_text_that_was_labelled_as_a_test_text_stays_one(database: Database) -> None:
    """It fell back into the pool, where its label is of no example and nobody is asked for one."""
    with database.write() as connection:
        start(connection)
        keys = ("n0", "n1")
        new = [edits.create_utterance(key, key, "pool", "f", None) for key in keys]
        change(connection, "new", *new)
        rows = [dataset.utterance_by_id(connection, 1, key) for key in keys]
        change(connection, "A", *(edits.edit(row, "split", "test") for row in rows))
        label(connection, "B", "n0", intent(connection, "a"))
        events.undo(connection, 1, "local", of="A")
        now = {row.id: (row.split, row.labels is None) for row in dataset.utterances(connection, 1)}
        assert (now["n0"], now["n1"]) == (("test", False), ("pool", True))
        events.undo(connection, 1, "local", of="B")
        assert dataset.utterance_by_id(connection, 1, "n0").split == "test"


@pytest.mark.parametrize("field", ["labels", "row"])
def test_no_label_names_an_intent_that_is_not_there(database: Database, field: str) -> None:
    with database.write() as connection:
        start(connection)
        record = dataset.utterance_by_id(connection, 1, "u0")
        before = events.head(connection, 1)
    new = edits.create_utterance("new", "new", "train", "f", ["gone"])
    given = edits.label(record, ["gone"]) if field == "labels" else new
    refused = pytest.raises(Conflict, match="intent of these labels was deleted")
    with refused, database.write() as connection:
        change(connection, "A", given)
    with database.read() as connection:
        assert events.head(connection, 1) == before
