import time
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from core.text import text_hash
from storage import database as opening
from storage import jobs, models, projects
from storage.artifacts import ArtifactStore, record_tree
from storage.computed import layouts, vectors
from storage.database import Database, damage, open_database
from storage.jobs import JobOutcome
from storage.log import edits, events, versions
from storage.log.events import Action
from storage.migrations import m0001_initial, steps
from storage.queries import columns, dataset, utterances
from storage.said import tables as _said_tables  # noqa: F401 - they join the metadata
from storage.tables import metadata, utterance


def start(database: Database) -> int:
    with database.write() as connection:
        project = projects.create(connection, "p")
        made = [edits.create_intent(name, position=at) for at, name in enumerate("ab")]
        keys = [change.subject_id for change in made]
        labels = [[keys[0]], [keys[1]], keys, [], None]
        rows = [
            edits.create_utterance(f"u{i}", f"text {i}", "train", "f", label)
            for i, label in enumerate(labels)
        ]
        events.record(connection, project.id, Action("import", "local"), made)
        events.record(connection, project.id, Action("import", "local"), rows)
    return project.id


def values(project_id: int, **changed: object) -> dict[str, object]:
    made = {"project_id": project_id, "model_version_id": None, "method": "umap", "n": 3}
    return {**made, "tree_sha256": "t", "job_id": None, **changed}


def model(connection, project_id: int) -> int:
    row = {"project_id": project_id, "tree_sha256": "x", "dataset_version_id": None}
    row |= {"job_id": None, "lineage": {}, "metrics": {}, "pins": {}}
    return models.add(connection, row).id


def test_columns_say_what_the_utterances_say(database: Database) -> None:
    project_id = start(database)
    with database.write() as connection:
        row = dataset.utterance_by_id(connection, project_id, "u1")
        changes = [edits.edit(row, "flagged", "odd"), edits.edit(row, "skipped", value=True)]
        events.record(connection, project_id, Action("flag", "local"), changes)
        found = columns.columns(connection, project_id)
        rows = list(dataset.utterances(connection, project_id))
        assert columns.texts(connection, project_id, ["u3", "gone"]) == {"u3": "text 3"}
    assert found.ids == tuple(row.id for row in rows)
    assert found.hashes == tuple(text_hash(row.text) for row in rows)
    assert found.labels == tuple(row.labels for row in rows)
    assert found.splits == ("train",) * 5
    assert found.flagged == found.skipped == (False, True, False, False, False)


def test_an_empty_project_has_empty_columns(database: Database) -> None:
    with database.write() as connection:
        project = projects.create(connection, "empty")
        assert columns.columns(connection, project.id).ids == ()
        ids, rows = vectors.of_project(connection, project.id, "f", 4)
    assert (ids, rows.shape) == ([], (0, 4))


def test_embeddings_of_a_project_come_by_id_and_without_the_wrong_width(
    database: Database,
) -> None:
    project_id = start(database)
    rows = {text_hash(f"text {i}"): np.full(4, i, np.float32) for i in (3, 0)}
    rows |= {text_hash("text 1"): np.ones(2, np.float32), "other": np.ones(4, np.float32)}
    with database.write() as connection:
        vectors.put_many(connection, "f", rows)
        vectors.put_many(connection, "g", {text_hash("text 4"): np.ones(4, np.float32)})
        ids, found = vectors.of_project(connection, project_id, "f", 4)
    assert ids == ["u0", "u3"]
    np.testing.assert_array_equal(found, [[0] * 4, [3] * 4])
    assert found.dtype == np.float32


def test_an_embedding_that_was_changed_is_not_returned_and_can_be_removed(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    """A zeroed page of the database was read as an embedding, and a version learned from it."""
    project_id = start(database)
    hashes = [text_hash(f"text {i}") for i in range(3)]
    rows = {key: np.full(4, i, np.float32) for i, key in enumerate(hashes)}
    spoil = "UPDATE vector SET value = zeroblob(16) WHERE text_hash = ?"
    with database.write() as connection:
        vectors.put_many(connection, "f", rows)
        assert vectors.remove_changed(connection, only_count=True) == 0
        connection.exec_driver_sql(spoil, (hashes[1],))
    with database.read() as connection:
        assert vectors.of_project(connection, project_id, "f", 4)[0] == ["u0", "u2"]
        assert vectors.get_many(connection, "f", hashes, 4).keys() == {hashes[0], hashes[2]}
        assert vectors.remove_changed(connection, only_count=True) == 1
    assert "1 stored embeddings are not as they were written" in caplog.text
    with database.write() as connection:
        assert vectors.remove_changed(connection) == 1
        vectors.put_many(connection, "f", {hashes[1]: rows[hashes[1]]})
        assert vectors.of_project(connection, project_id, "f", 4)[0] == ["u0", "u1", "u2"]


def test_arrivals_are_the_times_of_the_imports(database: Database) -> None:
    project_id = start(database)
    time.sleep(0.005)
    with database.write() as connection:
        late = edits.create_utterance("late", "x", "pool", "f", None)
        events.record(connection, project_id, Action("import", "local"), [late])
        row = dataset.utterance_by_id(connection, project_id, "u0")
        events.record(
            connection, project_id, Action("edit", "local"), [edits.edit(row, "text", "new")]
        )
        found = columns.arrivals(connection, project_id)
    assert found["u0"] == found["u4"] < found["late"]


def test_a_name_of_the_past_still_finds_its_intent(database: Database) -> None:
    project_id = start(database)
    with database.write() as connection:
        old = {intent.name: intent.id for intent in dataset.intents(connection, project_id)}
        then = events.head(connection, project_id)
        rename = edits.rename_intent(connection, project_id, "a", "c")
        events.record(connection, project_id, Action("rename", "local"), [rename])
        now = events.head(connection, project_id)
        assert versions.intent_ids_at(connection, project_id, then) == old
        expected = {"c": old["a"], "b": old["b"]}
        assert versions.intent_ids_at(connection, project_id, now) == expected


def test_the_newest_layout_of_a_version_and_method_is_kept(database: Database) -> None:
    project_id = start(database)
    with database.write() as connection:
        version = model(connection, project_id)
        layouts.add(connection, values(project_id, tree_sha256="old"))
        layouts.add(connection, values(project_id, tree_sha256="new"))
        layouts.add(connection, values(project_id, method="tsne", tree_sha256="tsne"))
        mine = layouts.add(connection, values(project_id, model_version_id=version))
        untuned = layouts.find(connection, project_id, None, "umap")
        assert untuned is not None
        assert untuned.tree_sha256 == "new"
        assert layouts.find(connection, project_id, version, "umap") == mine
        assert layouts.find(connection, project_id, version, "tsne") is None
        assert layouts.newest(connection, project_id, "umap") == mine
        assert layouts.newest(connection, project_id, "pca") is None


def test_a_repeated_job_adds_its_layout_once(database: Database) -> None:
    project_id = start(database)
    with database.write() as connection:
        first = layouts.add(connection, values(project_id, job_id="j"))
        assert layouts.add(connection, values(project_id, job_id="j", n=9)) == first


def test_a_sweep_leaves_the_files_of_a_layout_and_takes_those_of_a_replaced_one(
    database: Database, tmp_path: Path
) -> None:
    project_id = start(database)
    store = ArtifactStore(tmp_path / "artifacts")

    def keep(content: str) -> str:
        source = tmp_path / content
        source.mkdir()
        (source / "xy").write_text(content)
        files = store.put_files(source)
        with database.write() as connection:
            tree = record_tree(connection, store, files)
            layouts.add(connection, values(project_id, tree_sha256=tree))
        return tree

    keep("old")
    tree = keep("new")
    with database.write() as connection:
        assert store.sweep(connection, grace_seconds=-1) == 1
        out = store.check_out(connection, tree, tmp_path / "out")
        assert store.damaged(connection) == {}
    assert (out / "xy").read_text() == "new"


def test_ended_jobs_are_counted(database: Database) -> None:
    with database.write() as connection:
        first = jobs.enqueue(connection, "layout", {})
        jobs.enqueue(connection, "layout", {})
        assert jobs.count_ended(connection) == 0
        claimed = jobs.claim(connection, first.id)
        jobs.finish(connection, first.id, claimed.attempt, JobOutcome("failed"))
        assert jobs.count_ended(connection) == 1


def schema(connection) -> dict[str, tuple[object, ...]]:
    """Columns, indexes and constraints by table; the order of columns is chance of history."""
    found = sa.inspect(connection)
    return {
        name: (
            sorted((c["name"], str(c["type"]), c["nullable"]) for c in found.get_columns(name)),
            found.get_pk_constraint(name)["constrained_columns"],
            sorted((i["name"], tuple(i["column_names"])) for i in found.get_indexes(name)),
            sorted(map(str, found.get_foreign_keys(name))),
            sorted(c["sqltext"] for c in found.get_check_constraints(name)),
            sorted(map(str, found.get_unique_constraints(name))),
        )
        for name in found.get_table_names()
        if not name.startswith("alembic")
    }


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
def test_the_migrations_give_the_tables_that_the_program_knows(
    database: Database, tmp_path: Path
) -> None:
    fresh = sa.create_engine(f"sqlite:///{tmp_path / 'fresh.db'}", module=opening._sqlite_module())
    with fresh.begin() as connection:
        metadata.create_all(connection)
        expected = schema(connection)
    fresh.dispose()
    with database.read() as connection:
        assert schema(connection) == expected


def start_long_ago(database: Database) -> int:
    """Two utterances, the first edited after the second came, as the first schema wrote them."""
    tables = m0001_initial.metadata.tables
    row = {"split": "pool", "source": "f", "skipped": 0, "flagged": "", "text_hash": "h"}
    event = {"project_id": 1, "batch_id": 1, "subject": "utterance"}
    batch = {"id": 1, "project_id": 1, "key": "k", "verb": "import", "actor": "a", "origin": "o"}
    project = {"id": 1, "name": "p", "task": "single-label", "head_revision": 3, "created_at": ""}
    with database.write() as connection:
        connection.execute(sa.insert(tables["project"]).values(project))
        connection.execute(
            sa.insert(tables["batch"]).values({**batch, "at": "", "last_revision": 3})
        )
        for revision, (key, field) in enumerate(
            (("early", "row"), ("late", "row"), ("early", "text"))
        ):
            change = {"subject_id": key, "field": field, "revision": revision + 1, "after": '"t"'}
            connection.execute(sa.insert(tables["event"]).values({**event, **change}))
        for key in ("early", "late"):
            mine = {**row, "project_id": 1, "id": key, "text": "t"}
            connection.execute(sa.insert(tables["utterance"]).values(mine))
    return 1


def test_an_older_home_is_brought_up_to_date_however_often_that_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "studio.db"
    monkeypatch.setattr(steps, "STEPS", steps.STEPS[:1])
    monkeypatch.setattr(opening, "SCHEMA", "0001")
    old = open_database(path)
    project_id = start_long_ago(old)
    with old.read() as connection:
        before = schema(connection)
    assert "layout" not in before
    monkeypatch.undo()

    migrate = steps.migrate

    def interrupted(connection) -> None:
        migrate(connection)
        raise KeyboardInterrupt

    monkeypatch.setattr(steps, "migrate", interrupted)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            open_database(path)
    with old.read() as connection:
        assert schema(connection) == before
    old.close()
    monkeypatch.undo()
    new = open_database(path)
    with new.write() as connection:
        newest, total = utterances.read_page(
            connection, project_id, utterances.Filter(), "newest", utterances.Page(0, 5)
        )
        assert [record.id for record in newest] == ["late", "early"]
        assert total == 2
        touched = sa.select(
            utterance.c.id, utterance.c.added_revision, utterance.c.touched_revision
        )
        assert sorted(connection.execute(touched).all()) == [("early", 1, 3), ("late", 2, 2)]
        layouts.add(connection, values(project_id))
    assert damage(Path(new.engine.url.database or "")) == ()
    assert (tmp_path / "studio.db.before-0001").exists()
    new.close()
