"""Queries for slot books: utterances with marked values, and all texts of a project."""

import json
from collections.abc import Iterator

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.text import is_storable, normalise
from storage.queries.dataset import read_utterances
from storage.queries.words import Contains
from storage.records import UtteranceRecord, utterance_record
from storage.tables import utterance

_WRITTEN = sa.type_coerce(utterance.c.slots, sa.Text)
_NOTHING = "[]"


def book_state(connection: Connection, project_id: int) -> tuple[int, int]:
    """Return the number of utterances in the slot book, and the newest revision among them.

    Additions and changes raise the revision and deletions lower the number, so equal pairs mean
    equal values.
    """
    newest = sa.func.coalesce(sa.func.max(utterance.c.touched_revision), 0)
    query = sa.select(sa.func.count(), newest).where(_giving(project_id))
    n, revision = connection.execute(query).one()
    return int(n), int(revision)


def giving(connection: Connection, project_id: int) -> list[UtteranceRecord]:
    """Return the utterances of the slot book by id: marked, in train, not synthetic."""
    query = sa.select(utterance).where(_giving(project_id)).order_by(utterance.c.id)
    return read_utterances(connection, query)


def carrying(connection: Connection, project_id: int, name: str) -> list[UtteranceRecord]:
    """Return utterances of any split with a slot of this name, by id."""
    written = json.dumps(name, ensure_ascii=False)
    query = sa.select(utterance).where(
        utterance.c.project_id == project_id, _WRITTEN.contains(written, autoescape=True)
    )
    records = read_utterances(connection, query.order_by(utterance.c.id))
    return [record for record in records if any(slot.name == name for slot in record.slots)]


def unmarked(connection: Connection, project_id: int, text: str = "") -> Iterator[UtteranceRecord]:
    """Stream utterances without marked values, outside the test split and not synthetic.

    Every word of `text` occurs in them, in any order, ignoring case.
    """
    if not is_storable(text):
        return  # no text has it, and the database would stop reading at a NUL
    words = [Contains(utterance.c.text, word) for word in normalise(text).split()]
    query = sa.select(utterance).where(
        utterance.c.project_id == project_id,
        utterance.c.split != "test",
        utterance.c.synthetic == "",
        _WRITTEN == _NOTHING,
        *words,
    )
    query = query.order_by(utterance.c.id)
    for row in connection.execution_options(yield_per=2_000).execute(query):
        yield utterance_record(row.id, dict(row._mapping))


def count_open(connection: Connection, project_id: int) -> tuple[int, int]:
    """Count the texts for which values are proposed, and those of them with marked values.

    They are all that people wrote, outside the test split.
    """
    query = sa.select(sa.func.count(), sa.func.count().filter(_WRITTEN != _NOTHING)).where(
        _learnable(project_id), utterance.c.synthetic == ""
    )
    total, n_marked = connection.execute(query).one()
    return int(total), int(n_marked)


def texts(connection: Connection, project_id: int) -> Iterator[str]:
    """Stream every text of a project."""
    query = sa.select(utterance.c.text).where(utterance.c.project_id == project_id)
    yield from connection.execution_options(yield_per=5_000).execute(query).scalars()


def made_of(connection: Connection, project_id: int) -> dict[str, int]:
    """Return the number of synthetic utterances by their source's id."""
    query = (
        sa.select(utterance.c.synthetic, sa.func.count())
        .where(utterance.c.project_id == project_id, utterance.c.synthetic != "")
        .group_by(utterance.c.synthetic)
    )
    return {source: int(n) for source, n in connection.execute(query)}


def marked(connection: Connection, project_id: int) -> list[UtteranceRecord]:
    """Return utterances of any split with marked values, by id."""
    query = sa.select(utterance).where(utterance.c.project_id == project_id, _WRITTEN != _NOTHING)
    return read_utterances(connection, query.order_by(utterance.c.id))


def is_any_marked(connection: Connection, project_id: int) -> bool:
    """Whether an utterance outside the test split has a marked value."""
    query = sa.select(utterance.c.id).where(_learnable(project_id), _WRITTEN != _NOTHING)
    return connection.execute(query.limit(1)).first() is not None


def count_marked(connection: Connection, project_id: int) -> tuple[int, int]:
    """Count the utterances outside the test split, and those of them with marked values."""
    query = sa.select(sa.func.count(), sa.func.count().filter(_WRITTEN != _NOTHING))
    total, n_marked = connection.execute(query.where(_learnable(project_id))).one()
    return int(total), int(n_marked)


def _learnable(project_id: int) -> sa.ColumnElement[bool]:
    return sa.and_(utterance.c.project_id == project_id, utterance.c.split != "test")


def synthetic_ids(connection: Connection, project_id: int) -> frozenset[str]:
    """Return the ids of the synthetic utterances."""
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
