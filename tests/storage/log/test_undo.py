"""Undo and redo: everything back to the beginning, and forth to the end, without losses."""

from contextlib import suppress

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import Conflict, InvalidInput
from storage import projects
from storage.database import Database, open_database, savepoint
from storage.log import edits, events, versions
from storage.log.events import Action
from storage.log.replay import canonical_hash
from storage.queries import dataset
from storage.tables import batch

KINDS = ["label", "decide", "edit", "move", "delete", "add", "create", "rename", "merge", "restore"]
Steps = st.lists(
    st.tuples(st.sampled_from([*KINDS, "undo", "redo"]), st.integers(0, 9), st.integers(0, 4)),
    max_size=14,
)
AnySteps = st.lists(
    st.tuples(
        st.sampled_from([*KINDS, "undo", "redo", *["undo any"] * 4]),
        st.integers(0, 9),
        st.integers(0, 4),
    ),
    max_size=20,
)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory):
    """One file for all examples; each takes a project of its own."""
    database = open_database(tmp_path_factory.mktemp("undo") / "studio.db")
    yield database
    database.close()


def start(connection) -> int:
    known = len(projects.list_all(connection))
    project = projects.create(connection, f"p{known}").id
    made = [edits.create_intent(name) for name in "abc"]
    rows = [
        edits.create_utterance(f"u{i}", f"text {i}", "pool", "f", [made[i % 3].subject_id])
        for i in range(5)
    ]
    events.record(connection, project, Action("import", "local"), [*made, *rows])
    return project


def step(connection, project: int, kind: str, place: int, choice: int) -> None:
    intents = dataset.intents(connection, project)
    rows = list(dataset.utterances(connection, project))
    name = f"new {events.head(connection, project)}"
    changes = []
    if kind in ("undo", "redo"):
        (events.undo if kind == "undo" else events.redo)(connection, project, "local")
    elif kind == "add":
        changes = [edits.create_utterance(name, name, "pool", "f", None)]
    elif kind == "create" and rows:
        made = edits.create_intent(name)
        changes = [made, *edits.decide(rows[place % len(rows)], [made.subject_id])]
    elif intents and rows:
        intent, row = intents[choice % len(intents)], rows[place % len(rows)]
        other = intents[(choice + 1) % len(intents)]
        changes = (
            {
                "label": lambda: [edits.label(row, None)],
                "decide": lambda: edits.decide(row, [intent.id, other.id]),
                "edit": lambda: [edits.edit(row, "text", name)],
                "move": lambda: [edits.edit(row, "split", "test")],
                "delete": lambda: [edits.delete_utterance(row)],
                "rename": lambda: [edits.edit(intent, "name", name)],
                "merge": lambda: edits.merge_intents(connection, project, intent.name, other.name),
                "restore": lambda: [edits.edit(intent, "archived", value=False)],
            }[kind]()
            if len(intents) > 1
            else []
        )
    if changes:
        events.record(connection, project, Action(kind, "local"), changes)


def fingerprint(connection, project: int) -> tuple[str, list]:
    intents = dataset.intents(connection, project)
    names = {intent.id: intent.name for intent in intents}
    rows = list(dataset.utterances(connection, project))
    return canonical_hash(rows, names), [intents, rows]


@settings(deadline=None, max_examples=40)
@given(steps=Steps)
def test_undoing_everything_and_redoing_it_leads_back(opened: Database, steps) -> None:
    with opened.write() as connection:
        project = start(connection)
        first = fingerprint(connection, project)
        for one in steps:
            step(connection, project, *one)
        last = fingerprint(connection, project)
        undone = 0
        while (batch := events.undoable(connection, project)) and batch.verb != "import":
            assert events.undo(connection, project, "local") == batch
            undone += 1
        if any(b.verb == "import" and b.undone_by is None for b in history(connection, project)):
            assert fingerprint(connection, project) == first
        for _ in range(undone):
            assert events.redo(connection, project, "local") is not None
        assert fingerprint(connection, project) == last


@settings(deadline=None, max_examples=60)
@given(steps=AnySteps)
def test_whichever_action_is_undone_each_label_names_an_intent(opened: Database, steps) -> None:
    """One undo took an intent away, and the next one put it back on a text."""
    with opened.write() as connection:
        project = start(connection)
        for kind, place, choice in steps:
            with suppress(Conflict), savepoint(connection):
                if kind == "undo any":
                    undo_any(connection, project, 5 * place + choice)
                else:
                    step(connection, project, kind, place, choice)
            names = dataset.intent_names(connection, project)
            rows = dataset.utterances(connection, project)
            assert names.keys() >= {key for row in rows for key in row.labels or ()}
        record = projects.get(connection, project)
        versions.cut(connection, record, "whatever was undone")
        assert versions.differences(connection, record) == []


def undo_any(connection, project: int, place: int) -> None:
    """Undo one of all actions, however long ago it was; nothing if it is undone."""
    actions = sa.and_(batch.c.project_id == project, batch.c.undoes.is_(None))
    keys = connection.execute(sa.select(batch.c.key).where(actions).order_by(batch.c.id)).scalars()
    listed = keys.all()
    events.undo(connection, project, "local", of=listed[place % len(listed)])


def history(connection, project: int) -> list:
    return events.history(connection, project, 1_000)


def label(connection, key: str, row: str, intent: str) -> None:
    record = dataset.utterance_by_id(connection, 1, row)
    changes = edits.decide(record, [intent])
    events.record(connection, 1, Action("label", "local", key=key), changes)


def intent(connection, name: str) -> str:
    return dataset.intent_named(connection, 1, name).id


def test_redo_does_not_reach_behind_what_was_done_since(database: Database) -> None:
    """A, undo, B, undo, redo, redo: the second redo had brought A back upon B."""
    with database.write() as connection:
        start(connection)
        label(connection, "A", "u0", intent(connection, "b"))
        events.undo(connection, 1, "local")
        label(connection, "B", "u1", intent(connection, "c"))
        events.undo(connection, 1, "local")
        assert events.redo(connection, 1, "local") is not None
        assert events.redo(connection, 1, "local") is None
        assert dataset.utterance_by_id(connection, 1, "u0").split == "pool"


def test_an_undo_under_a_known_key_happens_once(database: Database) -> None:
    """Sent twice, it had marked another action as undone without undoing it."""
    with database.write() as connection:
        start(connection)
        label(connection, "A", "u0", intent(connection, "b"))
        label(connection, "B", "u1", intent(connection, "c"))
        first = events.undo(connection, 1, "local", key="once")
        head = events.head(connection, 1)
        again = events.undo(connection, 1, "local", key="once")
        assert first is not None
        assert again is not None
        assert first.id == again.id
        assert events.head(connection, 1) == head
        standing = events.undoable(connection, 1)
        assert standing is not None
        assert standing.verb == "label"


def test_undo_of_an_older_action_refuses_to_delete_what_changed_since(database) -> None:
    with database.write() as connection:
        start(connection)
        added = edits.create_utterance("new", "text", "pool", "f", None)
        events.record(connection, 1, Action("add", "local", key="A"), [added])
        label(connection, "B", "new", intent(connection, "a"))
    with pytest.raises(Conflict, match="changed meanwhile"), database.write() as connection:
        events.undo(connection, 1, "local", of="A")
    with database.write() as connection:
        assert dataset.utterance_by_id(connection, 1, "new").labels is not None
        for _ in range(2):
            events.undo(connection, 1, "local")
        assert "new" not in {r.id for r in dataset.utterances(connection, 1)}


def test_an_intent_stays_while_others_use_or_have_renamed_it(database: Database) -> None:
    with database.write() as connection:
        start(connection)
        for key, row in (("A", "u0"), ("B", "u1")):
            made = edits.create_intent(f"from {key}")
            record = dataset.utterance_by_id(connection, 1, row)
            changes = [made, *edits.decide(record, [made.subject_id])]
            events.record(connection, 1, Action("label", "local", key=key), changes)
        label(connection, "C", "u2", intent(connection, "from A"))
        rename = edits.rename_intent(connection, 1, "from B", "better")
        events.record(connection, 1, Action("rename", "local"), [rename])
        for key in ("A", "B"):
            events.undo(connection, 1, "local", of=key)
        names = [record.name for record in dataset.intents(connection, 1)]
        assert names == ["a", "b", "better", "c", "from A"]
        for _ in range(2):
            assert events.undo(connection, 1, "local") is not None  # the rename, and C


def test_an_intent_that_labels_texts_is_never_deleted(database: Database) -> None:
    with database.write() as connection:
        start(connection)
        record = dataset.intent_named(connection, 1, "a")
        row = edits.create_intent(record.name).after
        gone = events.Change("intent", record.id, "row", row, None)
        with pytest.raises(Conflict, match="'a' is the label of utterances"):
            events.record(connection, 1, Action("delete", "local"), [gone])


@pytest.mark.parametrize("beside", [0, 1])
def test_a_taken_name_is_a_conflict_in_words(database: Database, beside: int) -> None:
    """One new intent alone had failed with the database's own words."""
    others = [edits.create_utterance("x", "x", "pool", "f", None)] * beside
    with database.write() as connection:
        start(connection)
    with pytest.raises(Conflict, match="intent 'a' already"), database.write() as connection:
        events.record(connection, 1, Action("add", "local"), [*others, edits.create_intent("a")])
    twice = [edits.create_intent("d"), edits.create_intent("d")]
    with pytest.raises(Conflict, match="intent 'd' already"), database.write() as connection:
        events.record(connection, 1, Action("add", "local"), [*others, *twice])


def test_undoing_a_rename_whose_old_name_is_taken_is_a_conflict(database: Database) -> None:
    with database.write() as connection:
        start(connection)
        rename = edits.rename_intent(connection, 1, "a", "x")
        events.record(connection, 1, Action("rename", "local", key="A"), [rename])
        events.record(connection, 1, Action("add", "local"), [edits.create_intent("a")])
    with pytest.raises(Conflict, match="intent 'a' already"), database.write() as connection:
        events.undo(connection, 1, "local", of="A")


def test_an_id_that_came_back_in_another_way_is_a_conflict(database: Database) -> None:
    row = edits.create_utterance("x", "x", "pool", "f", None)
    with database.write() as connection:
        start(connection)
        events.record(connection, 1, Action("add", "local"), [row])
    with pytest.raises(Conflict, match="there already"), database.write() as connection:
        events.record(connection, 1, Action("add", "local"), [row])


def test_an_action_without_changes_is_remembered_but_not_undone(database: Database) -> None:
    with database.write() as connection:
        start(connection)
        label(connection, "A", "u0", intent(connection, "b"))
        events.record(connection, 1, Action("label", "local", key="empty"), [])
        assert events.find_batch(connection, 1, "empty") is not None
        assert [batch.verb for batch in history(connection, 1)] == ["label", "import"]
        events.undo(connection, 1, "local")
        events.record(connection, 1, Action("label", "local", key="also"), [])
        assert events.redo(connection, 1, "local") is not None


def test_what_was_touched_is_told_by_revision(database: Database) -> None:
    with database.write() as connection:
        start(connection)
        before = events.head(connection, 1)
        assert events.touched_since(connection, 1, before) == set()
        key = intent(connection, "b")
        rename = edits.rename_intent(connection, 1, "b", "better")
        events.record(connection, 1, Action("rename", "local"), [rename])
        label(connection, "A", "u0", key)
        touched = {("intent", key), ("utterance", "u0")}
        assert events.touched_since(connection, 1, before) == touched
        assert len(events.touched_since(connection, 1, 0)) == 8
        assert versions.intent_ids_at(connection, 1, before)["b"] == key
        now = versions.intent_ids_at(connection, 1, events.head(connection, 1))
        assert (now["better"], "b" in now) == (key, False)
        assert versions.intent_ids_at(connection, 1, 0) == {}


def test_a_merge_into_itself_or_into_an_archived_intent(database: Database) -> None:
    with database.write() as connection:
        start(connection)
        with pytest.raises(InvalidInput, match="merged into itself"):
            edits.merge_intents(connection, 1, "a", "a")
        for pair in (("a", "b"), ("c", "a")):
            changes = edits.merge_intents(connection, 1, *pair)
            events.record(connection, 1, Action("merge", "local"), changes)
        archived = {record.name: record.archived for record in dataset.intents(connection, 1)}
        assert archived == {"a": False, "b": False, "c": True}


def test_a_decision_teaches_once_and_counts_an_intent_once(database: Database) -> None:
    with database.write() as connection:
        start(connection)
        record = dataset.utterance_by_id(connection, 1, "u0")
        a, b = sorted((intent(connection, "a"), intent(connection, "b")))
        assert [(c.field, c.after) for c in edits.decide(record, [b, a, b])] == [
            ("labels", [a, b]),
            ("split", "train"),
        ]
        same = edits.decide(record, record.labels or ())
        assert [(c.field, c.before, c.after) for c in same] == [("split", "pool", "train")]
