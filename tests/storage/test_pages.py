"""Pages of many utterances: nothing is sorted for them, and a search finds a word in any case."""

from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from core.text import text_hash
from storage import projects, vectors
from storage.database import Database, open_database
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset, utterances
from storage.queries.utterances import Filter, Page

TEXTS = ("Łódź again", "the router", "a ROUTER from łódź", "100% of it", "straße")


@pytest.fixture
def database(tmp_path: Path):
    opened = open_database(tmp_path / "studio.db")
    rows = [
        edits.create_utterance(f"u{at}", text, "pool", "f", None) for at, text in enumerate(TEXTS)
    ]
    with opened.write() as connection:
        project = projects.create(connection, "p")
        events.record(connection, project.id, Action("import"), rows)
    yield opened
    opened.close()


def shown(database: Database, which: Filter, order: utterances.Order = "oldest") -> list[str]:
    with database.read() as connection:
        return [row.id for row in utterances.read_page(connection, 1, which, order, Page(0, 50))[0]]


@pytest.mark.parametrize("order", ["newest", "oldest", "changed", "text"])
def test_no_order_sorts_the_whole_project_for_a_page(database: Database, order) -> None:
    query = sa.select(utterances.utterance).where(utterances.utterance.c.project_id == 1)
    query = query.order_by(*utterances._ORDERS[order]).offset(3).limit(2)
    compiled = query.compile(database.engine, compile_kwargs={"literal_binds": True})
    with database.read() as connection:
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}").all()
    told = " ".join(str(row) for row in plan)
    assert "USING INDEX ix_utterance_" in told
    assert "TEMP B-TREE" not in told


def test_the_orders_are_by_coming_by_last_change_and_by_text(database: Database) -> None:
    with database.write() as connection:
        row = dataset.utterance_by_id(connection, 1, "u1")
        events.record(connection, 1, Action("flag"), [edits.edit(row, "flagged", "odd")])
    assert shown(database, Filter(), "newest") == ["u4", "u3", "u2", "u1", "u0"]
    assert shown(database, Filter(), "changed") == ["u1", "u4", "u3", "u2", "u0"]
    assert shown(database, Filter(), "text") == ["u3", "u2", "u4", "u1", "u0"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("router", ["u1", "u2"]),
        ("łódź", ["u0", "u2"]),
        ("ŁÓDŹ", ["u0", "u2"]),
        ("łódź ROUTER", ["u2"]),
        ("0%", ["u3"]),
        ("STRASSE", ["u4"]),
    ],
)
def test_a_word_is_found_in_any_case_in_any_alphabet(
    database: Database, text: str, found: list[str]
) -> None:
    assert shown(database, Filter(text=text)) == found


def test_embeddings_come_by_id_however_they_lie_on_the_disk(database: Database) -> None:
    rows = {text_hash(text): np.full(4, at, np.float32) for at, text in enumerate(TEXTS)}
    assert list(rows) != sorted(rows)
    with database.write() as connection:
        vectors.put_many(connection, "f", rows)
        vectors.put_many(connection, "other", {text_hash(TEXTS[0]): np.ones(4, np.float32)})
        ids, found = vectors.of_project(connection, 1, "f", 4)
    assert ids == ["u0", "u1", "u2", "u3", "u4"]
    assert found.tolist() == [[at] * 4 for at in range(5)]
