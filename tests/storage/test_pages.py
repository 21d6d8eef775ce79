"""Pages of many utterances: nothing is sorted for them, and a search finds a word in any case."""

from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from core.text import text_hash
from storage import projects
from storage.computed import vectors
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
        events.record(connection, project.id, Action("import", "local"), rows)
    yield opened
    opened.close()


def shown(database: Database, which: Filter, order: utterances.Order = "oldest") -> list[str]:
    with database.read() as connection:
        return [row.id for row in utterances.read_page(connection, 1, which, order, Page(0, 50))[0]]


@pytest.mark.parametrize("order", ["newest", "oldest", "changed", "text"])
def test_no_order_sorts_the_whole_project_for_a_page(database: Database, order) -> None:
    query = sa.select(utterances.utterance).where(utterances.utterance.c.project_id == 1)
    query = query.order_by(*utterances._order(order)).offset(3).limit(2)
    compiled = query.compile(database.engine, compile_kwargs={"literal_binds": True})
    with database.read() as connection:
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}").all()
    told = " ".join(str(row) for row in plan)
    assert "USING INDEX ix_utterance_" in told
    assert "TEMP B-TREE" not in told


def test_the_orders_are_by_coming_by_last_change_and_by_text(database: Database) -> None:
    with database.write() as connection:
        row = dataset.utterance_by_id(connection, 1, "u1")
        events.record(connection, 1, Action("flag", "local"), [edits.edit(row, "flagged", "odd")])
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


@pytest.mark.parametrize("order", ["newest", "oldest", "changed", "text"])
def test_a_search_has_the_same_pages_however_many_it_finds(
    database: Database, order: utterances.Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pages() -> list[tuple[list[str], int]]:
        with database.read() as connection:
            views = [
                utterances.read_page(connection, 1, Filter(text="t"), order, Page(at, 2))
                for at in (0, 2, 4)
            ]
        return [([row.id for row in rows], total) for rows, total in views]

    few = pages()
    monkeypatch.setattr(utterances, "_FEW", 1)
    assert pages() == few
    assert [total for _, total in few] == [4, 4, 4]


def test_a_search_in_plain_letters_folds_no_text_in_python(database: Database) -> None:
    folded: list[str] = []
    with database.read() as connection:
        raw = connection.connection.dbapi_connection
        raw.create_function("lower", 1, lambda text: folded.append(text) or text.casefold())
        rows, total = utterances.read_page(
            connection, 1, Filter(text="the router"), "newest", Page(0, 50)
        )
    assert ([row.id for row in rows], total) == (["u1"], 1)
    assert {text for text in folded if text.isascii()} == set()


def test_a_search_that_finds_little_reads_the_rows_once(database: Database) -> None:
    asked: list[str] = []

    def keep(*given) -> None:
        asked.append(given[2])

    sa.event.listen(database.engine, "before_cursor_execute", keep)
    shown(database, Filter(text="router"))
    reading = [statement for statement in asked if "LIKE" in statement]
    assert len(reading) == 1


def test_embeddings_come_by_id_however_they_lie_on_the_disk(database: Database) -> None:
    rows = {text_hash(text): np.full(4, at, np.float32) for at, text in enumerate(TEXTS)}
    assert list(rows) != sorted(rows)
    with database.write() as connection:
        vectors.put_many(connection, "f", rows)
        vectors.put_many(connection, "other", {text_hash(TEXTS[0]): np.ones(4, np.float32)})
        ids, found = vectors.of_project(connection, 1, "f", 4)
    assert ids == ["u0", "u1", "u2", "u3", "u4"]
    assert found.tolist() == [[at] * 4 for at in range(5)]
