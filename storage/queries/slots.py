"""Queries for slot books: utterances with marked values, and all texts of a project."""

import json
from collections.abc import Iterator

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from storage.queries.dataset import read_utterances
from storage.records import UtteranceRecord, utterance_record
from storage.tables import utterance

_WRITTEN = sa.type_coerce(utterance.c.slots, sa.Text)
_NOTHING = "[]"


def book_state(connection: Connection, project_id: int) -> tuple[int, int]:
    """Return how many utterances give values, and the newest revision that changed one of them.

    What is added or changed has a newer revision, and what goes is missing in the number, so that
    equal pairs stand for equal values.
    """
    newest = sa.func.coalesce(sa.func.max(utterance.c.touched_revision), 0)
    query = sa.select(sa.func.count(), newest).where(_giving(project_id))
    n, revision = connection.execute(query).one()
    return int(n), int(revision)


def giving(connection: Connection, project_id: int) -> list[UtteranceRecord]:
    """Utterances that give values and templates, by id: marked, in train, not synthetic."""
    query = sa.select(utterance).where(_giving(project_id)).order_by(utterance.c.id)
    return read_utterances(connection, query)


def carrying(connection: Connection, project_id: int, name: str) -> list[UtteranceRecord]:
    """Utterances of any split in which a slot of this name is marked, by id."""
    written = json.dumps(name, ensure_ascii=False)
    query = sa.select(utterance).where(
        utterance.c.project_id == project_id, _WRITTEN.contains(written, autoescape=True)
    )
    records = read_utterances(connection, query.order_by(utterance.c.id))
    return [record for record in records if any(slot.name == name for slot in record.slots)]


def unmarked(connection: Connection, project_id: int) -> Iterator[UtteranceRecord]:
    """Utterances without marked values, outside of the test split and not synthetic."""
    query = sa.select(utterance).where(
        utterance.c.project_id == project_id,
        utterance.c.split != "test",
        utterance.c.synthetic == "",
        _WRITTEN == _NOTHING,
    )
    query = query.order_by(utterance.c.id)
    for row in connection.execution_options(yield_per=2_000).execute(query):
        yield utterance_record(row.id, dict(row._mapping))


def count_taught(connection: Connection, project_id: int) -> int:
    """Count the utterances of the training split that are not synthetic."""
    query = sa.select(sa.func.count()).where(
        utterance.c.project_id == project_id,
        utterance.c.split == "train",
        utterance.c.synthetic == "",
    )
    return int(connection.execute(query).scalar_one())


def texts(connection: Connection, project_id: int) -> Iterator[str]:
    """Every text of a project, streamed."""
    query = sa.select(utterance.c.text).where(utterance.c.project_id == project_id)
    yield from connection.execution_options(yield_per=5_000).execute(query).scalars()


def made_of(connection: Connection, project_id: int) -> dict[str, int]:
    """How many synthetic utterances there are of each source, by its id."""
    query = (
        sa.select(utterance.c.synthetic, sa.func.count())
        .where(utterance.c.project_id == project_id, utterance.c.synthetic != "")
        .group_by(utterance.c.synthetic)
    )
    return {source: int(n) for source, n in connection.execute(query)}


def marked(connection: Connection, project_id: int) -> list[UtteranceRecord]:
    """Utterances of any split in which something is marked, by id."""
    query = sa.select(utterance).where(utterance.c.project_id == project_id, _WRITTEN != _NOTHING)
    return read_utterances(connection, query.order_by(utterance.c.id))


def is_any_marked(connection: Connection, project_id: int) -> bool:
    """Whether something is marked in an utterance outside of the test split."""
    query = sa.select(utterance.c.id).where(_learnable(project_id), _WRITTEN != _NOTHING)
    return connection.execute(query.limit(1)).first() is not None


def count_marked(connection: Connection, project_id: int) -> tuple[int, int]:
    """Count utterances outside of the test split, and those of them in which is marked."""
    query = sa.select(sa.func.count(), sa.func.count().filter(_WRITTEN != _NOTHING))
    total, n_marked = connection.execute(query.where(_learnable(project_id))).one()
    return int(total), int(n_marked)


def _learnable(project_id: int) -> sa.ColumnElement[bool]:
    return sa.and_(utterance.c.project_id == project_id, utterance.c.split != "test")


def synthetic_ids(connection: Connection, project_id: int) -> frozenset[str]:
    """Ids of the synthetic utterances."""
    query = sa.select(utterance.c.id).where(
        utterance.c.project_id == project_id, utterance.c.synthetic != ""
    )
    return frozenset(connection.execute(query).scalars())


def _giving(project_id: int) -> sa.ColumnElement[bool]:
    return sa.and_(
        utterance.c.project_id == project_id,
        utterance.c.split == "train",
        utterance.c.synthetic == "",
        _WRITTEN != _NOTHING,
    )
