"""A database of an earlier release keeps its data and the order of what was done."""

from pathlib import Path

import pytest
import sqlalchemy as sa

from storage import database as opening
from storage import pinned_texts, projects
from storage.database import Database, open_database
from storage.log import apply, edits, events, versions
from storage.log.events import Action
from storage.migrations import steps
from storage.queries import dataset, utterances
from storage.queries.utterances import Filter, Page
from storage.records import Change

TABLES = ("project", "batch", "event", "intent", "utterance")
ORDERS = ("newest", "oldest", "changed", "text")


def fill(database: Database) -> None:
    """Two projects with utterances that came, changed, went and came back."""
    with database.write() as connection:
        for name in ("p", "q"):
            key = projects.create(connection, name).id
            made = edits.create_intent("a")
            rows = [
                edits.create_utterance(f"u{i}", f"text {9 - i}", "pool", "f", None)
                for i in range(6)
            ]
            events.record(connection, key, Action("import", "local"), [made, *rows])
            for i in (4, 0, 4):
                row = dataset.utterance_by_id(connection, key, f"u{i}")
                change = edits.edit(row, "flagged", f"{row.flagged}x")
                events.record(connection, key, Action("flag", "local"), [change])
            row = dataset.utterance_by_id(connection, key, "u2")
            events.record(connection, key, Action("delete", "local"), [edits.delete_utterance(row)])
            events.undo(connection, key, "local")


def as_before_m0003(new: Path, old: Path) -> None:
    """Copy a database into one of the schema before it."""
    made = sa.create_engine(f"sqlite:///{old}")
    with pytest.MonkeyPatch.context() as patch, made.begin() as connection:
        patch.setattr(steps, "STEPS", steps.STEPS[:2])
        steps.migrate(connection)
    with made.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql(f"ATTACH '{new}' AS new")
        for table in TABLES:
            columns = ", ".join(
                row.name for row in connection.exec_driver_sql(f"PRAGMA main.table_info({table})")
            )
            connection.exec_driver_sql(
                f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM new.{table}"
            )
    made.dispose()


def orders(database: Database) -> dict[str, list[list[str]]]:
    with database.read() as connection:
        return {
            order: [
                [
                    r.id
                    for r in utterances.read_page(connection, key, Filter(), order, Page(0, 50))[0]
                ]
                for key in (1, 2)
            ]
            for order in ORDERS
        }


def test_orders_survive_the_upgrade(tmp_path: Path) -> None:
    new = open_database(tmp_path / "new.db")
    fill(new)
    expected = orders(new)
    assert expected["newest"][0] == ["u2", "u5", "u4", "u3", "u1", "u0"]
    assert expected["changed"][0] == ["u2", "u4", "u0", "u5", "u3", "u1"]
    new.close()
    as_before_m0003(tmp_path / "new.db", tmp_path / "old.db")
    upgraded = open_database(tmp_path / "old.db")
    assert orders(upgraded) == expected
    assert opening.damage(Path(upgraded.engine.url.database or "")) == ()
    assert (tmp_path / "old.db.before-0002").exists()
    with upgraded.write() as connection:
        row = dataset.utterance_by_id(connection, 1, "u1")
        events.record(connection, 1, Action("flag", "local"), [edits.edit(row, "flagged", "now")])
        assert events.undo(connection, 1, "local") is not None
    assert orders(upgraded)["changed"][0][0] == "u1"
    upgraded.close()


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
def test_old_and_new_have_the_same_schema(tmp_path: Path) -> None:
    new = open_database(tmp_path / "new.db")
    new.close()
    as_before_m0003(tmp_path / "new.db", tmp_path / "old.db")
    open_database(tmp_path / "old.db").close()

    def columns(path: Path) -> dict[str, list[tuple]]:
        engine = sa.create_engine(f"sqlite:///{path}")
        found = sa.inspect(engine)
        shape = {
            table: sorted(
                (c["name"], str(c["type"]), c["nullable"]) for c in found.get_columns(table)
            )
            for table in found.get_table_names()
        }
        indexes = {t: sorted(i["name"] for i in found.get_indexes(t)) for t in shape}
        engine.dispose()
        return {t: [*shape[t], *indexes[t]] for t in shape}

    assert columns(tmp_path / "old.db") == columns(tmp_path / "new.db")


def test_the_last_step_leads_to_the_schema_that_the_program_knows() -> None:
    assert steps.STEPS[-1][0] == opening.SCHEMA


def test_each_column_is_in_the_checksum_of_its_row(tmp_path: Path) -> None:
    """A new column needs a migration that makes the index of its table anew."""
    database = open_database(tmp_path / "new.db")
    with database.read() as connection:
        indexes = "SELECT tbl_name, sql FROM sqlite_master WHERE name = 'ix_' || tbl_name || '_sum'"
        summed = {row.tbl_name: row.sql for row in connection.exec_driver_sql(indexes)}
        tables = "SELECT name FROM sqlite_master WHERE type = 'table'"
        names = set(connection.exec_driver_sql(tables).scalars())
        assert names - summed.keys() == {"vector"}
        for table, sql in summed.items():
            columns = connection.exec_driver_sql(f'PRAGMA table_info("{table}")').all()
            assert [c.name for c in columns if f'"{c.name}"' not in sql.partition(" ON ")[2]] == []
    database.close()


def test_a_pin_of_one_intent_becomes_a_pin_of_a_list_of_one(tmp_path: Path) -> None:
    new = open_database(tmp_path / "new.db")
    fill(new)
    with new.write() as connection:
        intent = dataset.intents(connection, 1)[0].id
    new.close()
    as_before_m0003(tmp_path / "new.db", tmp_path / "old.db")
    made = sa.create_engine(f"sqlite:///{tmp_path / 'old.db'}")
    with made.begin() as connection:
        row = f"(1, 'hash', 'hello', '{intent}', 'local', '2026-01-01')"
        connection.exec_driver_sql(f"INSERT INTO pin VALUES {row}")
    made.dispose()
    old = open_database(tmp_path / "old.db")
    with old.read() as connection:
        [pin] = pinned_texts.list_all(connection, 1)
    assert (pin.text, pin.intents) == ("hello", (intent,))
    old.close()


def test_an_intent_that_is_gone_under_a_label_is_brought_back(tmp_path: Path) -> None:
    """Two undos of an earlier release had left it so, and no training ran any more."""
    old = open_database(tmp_path / "old.db")
    made = edits.create_intent("refund", "money back")
    gone = Change("intent", made.subject_id, "row", made.after, None)
    with old.write() as connection, pytest.MonkeyPatch.context() as patch:
        key = projects.create(connection, "p").id
        said = edits.create_utterance("u0", "text", "train", "f", None)
        events.record(connection, key, Action("label", "local"), [made, said])
        events.record(connection, key, Action("undo", "local"), [gone])
        events.record(connection, key, Action("label", "local"), [edits.create_intent("refund")])
        patch.setattr(apply, "refuse_lost", lambda *_: None)
        row = dataset.utterance_by_id(connection, key, "u0")
        events.record(
            connection, key, Action("undo", "local"), [edits.label(row, [made.subject_id])]
        )
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0024'")
    old.close()
    mended = open_database(tmp_path / "old.db")
    with mended.write() as connection:
        found = dataset.intent_by_id(connection, key, made.subject_id)
        assert (found.name, found.description) == ("refund 2", "money back")
        record = projects.get(connection, key)
        versions.cut(connection, record, "now")
        assert versions.differences(connection, record) == []
        assert (
            events.undo(connection, key, "local") is not None
        )  # nothing that a text carries is taken away
        assert made.subject_id in dataset.intent_names(connection, key)
    assert opening.damage(mended.file) == ()
    mended.close()
