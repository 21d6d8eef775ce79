"""The log tells which test texts changed since a revision, and what they were then."""

import pytest
from sqlalchemy.engine import Connection

from storage import projects
from storage.database import Database
from storage.log import edits, events
from storage.log.events import Action
from storage.log.versions import tests_before as told_before
from storage.queries import dataset, utterances
from storage.records import Change


@pytest.fixture
def project(database: Database) -> int:
    """A project with three labelled texts, two of them of the test set, and one without a label."""
    with database.write() as connection:
        project = projects.create(connection, "p").id
        made = [edits.create_intent(name) for name in "ab"]
        labels = [made[0].subject_id]
        rows = [
            edits.create_utterance(key, f"text {key}", split, "f", None if key == "u4" else labels)
            for key, split in (("u1", "test"), ("u2", "test"), ("u3", "train"), ("u4", "test"))
        ]
        events.record(connection, project, Action("import", "local"), [*made, *rows])
    return project


def act(connection: Connection, project: int, *changes: Change, verb: str = "edit") -> None:
    events.record(connection, project, Action(verb, "local"), changes)


def test_a_changed_text_is_told_as_it_was_also_once_that_is_undone(
    database: Database, project: int
) -> None:
    with database.write() as connection:
        start = events.head(connection, project)
        assert told_before(connection, project, start) == {}
        first, second = (one.id for one in dataset.intents(connection, project))
        rows = utterances.by_ids(connection, project, ["u1", "u2", "u3", "u4"])
        act(connection, project, edits.edit(rows["u1"], "flagged", "odd"))
        assert told_before(connection, project, start) == {}
        act(connection, project, edits.label(rows["u1"], [second]))
        act(connection, project, edits.delete_utterance(rows["u2"]))
        act(connection, project, edits.edit(rows["u3"], "split", "test"))
        act(connection, project, edits.label(rows["u4"], [first]))
        new = edits.create_utterance("u5", "new", "test", "f", [first])
        act(connection, project, new)
        expected = {
            **{key: (f"text {key}", (first,)) for key in ("u1", "u2")},
            **dict.fromkeys(("u3", "u4", "u5")),
        }
        assert told_before(connection, project, start) == expected
        for _ in range(5):
            events.undo(connection, project, "Ann")
            assert told_before(connection, project, start) == expected
        left = {row.id: row.labels for row in dataset.utterances(connection, project)}
        assert left == {key: row.labels for key, row in rows.items()}


def test_texts_that_were_never_in_the_test_set_are_not_looked_at(
    database: Database, project: int
) -> None:
    """Whoever labelled or imported thousands of other texts waited for the header to read them."""
    with database.write() as connection:
        start = events.head(connection, project)
        first, second = (one.id for one in dataset.intents(connection, project))
        other = utterances.by_ids(connection, project, ["u3"])["u3"]
        act(connection, project, edits.label(other, [second]))
        made = [
            edits.create_utterance(key, f"new {key}", "pool", "f", None) for key in ("n1", "n2")
        ]
        act(connection, project, *made, verb="import")
        new = utterances.by_ids(connection, project, ["n1", "n2"])
        act(connection, project, *edits.decide(new["n1"], [first]))
        act(connection, project, edits.delete_utterance(new["n2"]))
        assert told_before(connection, project, start) == {}
        moved = utterances.by_ids(connection, project, ["u3"])["u3"]
        act(connection, project, edits.edit(moved, "split", "test"))
        assert told_before(connection, project, start) == {"u3": None}
        gone = utterances.by_ids(connection, project, ["u3"])["u3"]
        act(connection, project, edits.delete_utterance(gone))
        assert told_before(connection, project, start) == {"u3": None}


def test_a_merge_of_intents_changes_no_test_text_and_neither_does_its_undo(
    database: Database, project: int
) -> None:
    with database.write() as connection:
        start = events.head(connection, project)

        def unlike() -> set[str]:
            now = {row.id: row for row in dataset.utterances(connection, project)}
            told = told_before(connection, project, start)
            return {key for key, was in told.items() if was and was[1] != now[key].labels}

        first, second = (one.id for one in dataset.intents(connection, project))
        merged = edits.merge_intents(connection, project, "a", "b")
        act(connection, project, *merged, verb="merge")
        assert told_before(connection, project, start)["u1"] == ("text u1", (second,))
        assert unlike() == set()
        events.undo(connection, project, "Ann")
        assert told_before(connection, project, start)["u1"] == ("text u1", (first,))
        assert unlike() == set()
        events.redo(connection, project, "Ann")
        assert unlike() == set()
        row = utterances.by_ids(connection, project, ["u1"])["u1"]
        act(connection, project, edits.label(row, [first]))
        assert unlike() == {"u1"}
