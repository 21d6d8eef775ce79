import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import Conflict, InvalidInput
from storage import database as opening
from storage import models, pinned_texts, projects
from storage.computed import vectors
from storage.database import Database, open_database
from storage.log import edits, events, versions
from storage.log.diff import diff_states
from storage.log.events import Action
from storage.log.replay import canonical_hash, canonical_lines
from storage.migrations import steps
from storage.queries import dataset
from storage.tables import utterance
from tests.storage.copied_tables import making_tables

Steps = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "label",
                "unlabel",
                "edit",
                "split",
                "rename",
                "merge",
                "delete",
                "undo",
                "redo",
                "add",
            ]
        ),
        st.integers(0, 5),
        st.integers(0, 2),
    ),
    max_size=25,
)


def start(database: Database, n: int = 6) -> int:
    with database.write() as connection:
        project = projects.create(connection, "p")
        made = [edits.create_intent(name) for name in "abc"]
        rows = [
            edits.create_utterance(f"u{i}", f"text {i}", "train", "f", [made[i % 3].subject_id])
            for i in range(n)
        ]
        events.record(connection, project.id, Action("import", "local"), [*made, *rows])
    return project.id


def canonical(connection, project_id: int, revision: int) -> bytes:
    state = versions.state_at(connection, project_id, revision)
    names = {intent.id: intent.name for intent in state.intent_records()}
    return b"".join(canonical_lines(state.utterance_records(), names))


def step(connection, project_id: int, kind: str, row: int, intent: int) -> None:
    intents = dataset.intents(connection, project_id)
    rows = list(dataset.utterances(connection, project_id))
    if kind == "undo":
        events.undo(connection, project_id, "local")
    elif kind == "redo":
        events.redo(connection, project_id, "local")
    elif kind == "add":
        key = f"new{events.head(connection, project_id)}"
        change = edits.create_utterance(key, key, "pool", "f", None)
        events.record(connection, project_id, Action("add", "local"), [change])
    elif len(intents) < 3:
        return  # the import itself was undone
    elif kind == "rename":
        name = f"{intents[intent].name}x{events.head(connection, project_id)}"
        change = edits.rename_intent(connection, project_id, intents[intent].name, name)
        events.record(connection, project_id, Action("rename", "local"), [change])
    elif kind == "merge":
        pair = intents[intent].name, intents[(intent + 1) % 3].name
        changes = edits.merge_intents(connection, project_id, *pair)
        events.record(connection, project_id, Action("merge", "local"), changes)
    elif rows:
        target = rows[row % len(rows)]
        change = {
            "label": lambda: edits.label(target, [intents[intent].id]),
            "unlabel": lambda: edits.label(target, None),
            "edit": lambda: edits.edit(target, "text", f"{target.text}!"),
            "split": lambda: edits.edit(target, "split", "test"),
            "delete": lambda: edits.delete_utterance(target),
        }[kind]()
        events.record(connection, project_id, Action(kind, "local"), [change])


@settings(deadline=None, max_examples=30)
@given(steps=Steps)
def test_the_current_state_is_the_log_replayed_and_the_past_stays(tmp_path_factory, steps) -> None:
    database = open_database(tmp_path_factory.mktemp("log") / "studio.db")
    project_id = start(database)
    with database.write() as connection:
        past: list[tuple[int, bytes]] = []
        for one in steps:
            revision = events.head(connection, project_id)
            past.append((revision, canonical(connection, project_id, revision)))
            step(connection, project_id, *one)
        state = versions.state_at(connection, project_id, events.head(connection, project_id))
        assert state.utterance_records() == list(dataset.utterances(connection, project_id))
        assert state.intent_records() == dataset.intents(connection, project_id)
        for revision, content in past:
            assert canonical(connection, project_id, revision) == content
    database.close()


def test_undoing_everything_and_redoing_it_gives_the_same_state(database: Database) -> None:
    project_id = start(database)
    with database.write() as connection:
        for kind in ("label", "rename", "merge", "delete"):
            step(connection, project_id, kind, 1, 1)
        after = canonical(connection, project_id, events.head(connection, project_id))
        for _ in range(4):
            assert events.undo(connection, project_id, "local") is not None
        for _ in range(4):
            assert events.redo(connection, project_id, "local") is not None
        assert events.redo(connection, project_id, "local") is None
        assert canonical(connection, project_id, events.head(connection, project_id)) == after


def test_a_version_is_byte_identical_after_a_thousand_edits(database: Database) -> None:
    project_id = start(database)
    with database.write() as connection:
        project = projects.get(connection, project_id)
        frozen = versions.cut(connection, project, "before")
        before = canonical(connection, project_id, frozen.revision)
        for turn in range(1_000):
            row = dataset.utterance_by_id(connection, project_id, f"u{turn % 6}")
            change = edits.edit(row, "text", f"edited {turn}")
            events.record(connection, project_id, Action("edit", "local"), [change])
        assert canonical(connection, project_id, frozen.revision) == before
        state = versions.state_at(connection, project_id, frozen.revision)
        names = {intent.id: intent.name for intent in state.intent_records()}
        assert canonical_hash(state.utterance_records(), names) == frozen.sha256
        newer = versions.cut(connection, project, "after")
        now = versions.state_at(connection, project_id, newer.revision)
        assert diff_states(state, now).words == ("6 edited",)


def test_repeating_an_action_under_its_key_changes_nothing(database: Database) -> None:
    project_id = start(database)
    with database.write() as connection:
        row = dataset.utterance_by_id(connection, project_id, "u0")
        action = Action("edit", "local", key="once")
        first = events.record(connection, project_id, action, [edits.edit(row, "text", "new")])
        again = events.record(connection, project_id, action, [edits.edit(row, "text", "new")])
        assert first == again == events.head(connection, project_id)


def test_an_action_on_what_somebody_else_changed_is_a_conflict(database: Database) -> None:
    project_id = start(database)
    with database.write() as connection:
        stale = dataset.utterance_by_id(connection, project_id, "u0")
        events.record(
            connection, project_id, Action("e", "local"), [edits.edit(stale, "text", "theirs")]
        )
    with (
        pytest.raises(Conflict, match="changed meanwhile to 'theirs'"),
        database.write() as connection,
    ):
        events.record(
            connection, project_id, Action("e", "local"), [edits.edit(stale, "text", "mine")]
        )
    with database.read() as connection:
        assert dataset.utterance_by_id(connection, project_id, "u0").text == "theirs"


def test_the_log_cannot_be_rewritten(database: Database) -> None:
    start(database)
    for statement in ("UPDATE event SET field = 'x'", "DELETE FROM event"):
        with (
            pytest.raises(sa.exc.DatabaseError, match="append-only"),
            database.write() as connection,
        ):
            connection.exec_driver_sql(statement)


def test_nothing_is_lost_when_four_threads_label_at_once(database: Database) -> None:
    project_id = start(database, n=200)

    def label(offset: int) -> None:
        for i in range(offset, 200, 4):
            with database.write() as connection:
                row = dataset.utterance_by_id(connection, project_id, f"u{i}")
                change = edits.edit(row, "flagged", f"by {offset}")
                events.record(connection, project_id, Action("flag", "local"), [change])

    threads = [threading.Thread(target=label, args=(offset,)) for offset in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.read() as connection:
        rows = list(dataset.utterances(connection, project_id))
        assert all(row.flagged for row in rows)
        assert events.head(connection, project_id) == 3 + 200 + 200


def test_aliases_and_pins_keep_their_history(database: Database) -> None:
    project_id = start(database)
    with database.write() as connection:
        values = {
            "project_id": project_id,
            "tree_sha256": "x",
            "dataset_version_id": None,
            "lineage": {},
            "metrics": {},
            "pins": {},
        }
        first = models.add(connection, {**values, "job_id": "j1"})
        assert models.add(connection, {**values, "job_id": "j1"}) == first
        second = models.add(connection, {**values, "job_id": "j2"})
        for record in (first, second, first):
            models.point(connection, record, "local")
        assert models.champion(connection, project_id) == first
        moved = [one.model_version_id for one in models.moves(connection, project_id)]
        assert moved == [first.id, second.id, first.id]
        intent = dataset.intents(connection, project_id)[0]
        pinned_texts.add(connection, project_id, "hello", [intent.id], "local")
        pinned_texts.add(connection, project_id, "hello ", [intent.id], "local")
        assert len(pinned_texts.list_all(connection, project_id)) == 1


def test_the_vector_cache_gives_back_what_was_kept(database: Database) -> None:
    import numpy as np

    rows = {f"h{i}": np.full(4, i, dtype=np.float32) for i in range(1_000)}
    with database.write() as connection:
        vectors.put_many(connection, "f", rows)
        vectors.put_many(connection, "f", {"h1": rows["h1"]})
    with database.read() as connection:
        found = vectors.get_many(connection, "f", [*rows, "unknown"], 4)
        assert found.keys() == rows.keys()
        assert all(np.array_equal(found[key], rows[key]) for key in rows)
        assert vectors.get_many(connection, "other", ["h1"], 4) == {}
        assert vectors.get_many(connection, "f", ["h1"], 5) == {}


def test_a_newer_schema_is_refused(database: Database, tmp_path: Path) -> None:
    with database.write() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(InvalidInput, match="newer studio"):
        open_database(tmp_path / "studio.db")


def test_an_interrupted_migration_leaves_the_old_schema(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "studio.db"
    original = steps.migrate

    def interrupted(connection) -> None:
        original(connection)
        raise KeyboardInterrupt

    monkeypatch.setattr(steps, "migrate", interrupted)
    with making_tables(), pytest.raises(KeyboardInterrupt):
        open_database(path)
    monkeypatch.undo()
    assert tables_in(path) == []
    open_database(path).close()
    assert "event" in tables_in(path)


def tables_in(path: Path) -> list[str]:
    import sqlite3

    connection = sqlite3.connect(path)
    found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    connection.close()
    return [name for (name,) in found]


def test_an_unsafe_sqlite_is_refused(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(opening, "FIXED_SQLITE", (99, 0, 0))
    with pytest.raises(InvalidInput, match="can damage a database"):
        open_database(tmp_path / "studio.db")


def test_a_killed_writer_leaves_all_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "studio.db"
    database = open_database(path)
    project_id = start(database)
    script = f"""
import os, signal
from pathlib import Path
from storage.log import edits, events
from storage.database import open_database
database = open_database(Path({str(path)!r}))
with database.write() as connection:
    rows = [edits.create_utterance(f"k{{i}}", "t", "pool", "f", None) for i in range(5000)]
    events.record(connection, {project_id}, events.Action("import", "local"), rows)
    os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True)
    assert done.returncode == -9
    with database.read() as connection:
        assert dataset.count(connection, project_id) == (6, 6)
        assert events.head(connection, project_id) == 9
    assert opening.damage(Path(database.engine.url.database or "")) == ()
    database.close()


def test_many_changes_at_once_are_those_made_one_by_one(tmp_path: Path) -> None:
    """One by one, a hundred thousand had held up every other write for half a minute."""
    states = []
    for at_once in (1, 100):
        database = open_database(tmp_path / f"{at_once}.db")
        project = start(database)
        with database.write() as connection:
            rows = list(dataset.utterances(connection, project))
            changes = [edits.edit(row, "text", f"{row.text}!") for row in rows[:4]]
            changes += [edits.edit(row, "flagged", "why") for row in rows[1:]]
            changes += [edits.label(row, []) for row in rows[:3]]
            for start_at in range(0, len(changes), at_once):
                part = changes[start_at : start_at + at_once]
                events.record(connection, project, Action("edit", "local"), part)
            columns = (utterance.c[name] for name in ("id", "text_hash", "touched_revision"))
            order = list(connection.execute(sa.select(*columns).order_by(utterance.c.id)))
            now = list(dataset.utterances(connection, project))
        states.append(([tuple(row) for row in order], [replace(row, labels=None) for row in now]))
        assert [row.labels for row in now[:3]] == [()] * 3
        database.close()
    assert states[0] == states[1]
    assert [touched for *_, touched in states[0][0]] == [19, 20, 21, 16, 17, 18]


@pytest.mark.parametrize("stale", ["text", "gone"])
def test_of_many_changes_one_that_comes_too_late_keeps_all_away(database, stale: str) -> None:
    project = start(database)
    with database.write() as connection:
        rows = list(dataset.utterances(connection, project))
        late = [edits.edit(row, "text", "late") for row in rows]
        first = edits.edit(rows[5], "text", "first")
        soon = first if stale == "text" else edits.delete_utterance(rows[5])
        events.record(connection, project, Action("edit", "local"), [soon])
        before = list(dataset.utterances(connection, project))
    for changes in (late, [edits.delete_utterance(row) for row in rows]):
        with pytest.raises(Conflict, match="meanwhile"), database.write() as connection:
            events.record(connection, project, Action("edit", "local"), changes)
    with database.read() as connection:
        assert list(dataset.utterances(connection, project)) == before
