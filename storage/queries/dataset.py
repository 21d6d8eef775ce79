"""The current intents and utterances of a project, read as records."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.errors import NotFound
from core.text import did_you_mean
from core.types import Intent
from storage.queries.columns import arrivals
from storage.records import IntentRecord, UtteranceRecord, intent_record, utterance_record
from storage.tables import JsonText, event, intent, utterance

LABELS_TEXT = sa.type_coerce(utterance.c.labels, sa.Text)
"""Labels as stored: a JSON list of intent ids."""

_DECODED_AT_ONCE = 500
"""Rows that are decoded while no other thread can run."""
_COLUMNS = tuple(column.name for column in utterance.c)


def intents(connection: Connection, project_id: int) -> list[IntentRecord]:
    """Return all intents, archived ones included, by position and name."""
    query = sa.select(intent).where(intent.c.project_id == project_id)
    rows = connection.execute(query.order_by(intent.c.position, intent.c.name))
    return [intent_record(row.id, dict(row._mapping)) for row in rows]


def intent_names(connection: Connection, project_id: int) -> dict[str, str]:
    """Map the ids of all intents, archived ones included, to their names."""
    return {record.id: record.name for record in intents(connection, project_id)}


def with_utterances(rows: sa.Table) -> sa.Join:
    """Join rows about utterances with these; a row whose text was deleted is left out."""
    same = sa.and_(
        utterance.c.project_id == rows.c.project_id, utterance.c.id == rows.c.utterance_id
    )
    return rows.join(utterance, same)


def names_ever(connection: Connection, project_id: int) -> set[str]:
    """Return the names of all intents that a project has or had, now and before."""
    query = sa.select(event.c.field, event.c.before, event.c.after).where(
        event.c.project_id == project_id,
        event.c.subject == "intent",
        event.c.field.in_(("name", "row")),
    )
    rows = connection.execute(query).all()
    told = [(row.field, side) for row in rows for side in (row.before, row.after)]
    return {one if field == "name" else one["name"] for field, one in told if one is not None}


def open_intents(connection: Connection, project_id: int) -> dict[str, Intent]:
    """Return the intents that are not archived, by id, for training and answering."""
    return {
        record.id: Intent(record.name, record.description)
        for record in intents(connection, project_id)
        if not record.archived
    }


def intent_named(connection: Connection, project_id: int, name: str) -> IntentRecord:
    """Find an intent by its name, or raise `NotFound`."""
    every = {record.name: record for record in intents(connection, project_id)}
    if name in every:
        return every[name]
    hint = did_you_mean(name, every, "Create it, or check the spelling.")
    raise NotFound(f"There is no intent '{name}'.", hint)


def intent_by_id(connection: Connection, project_id: int, key: str) -> IntentRecord:
    """Find an intent by its id, or raise `NotFound`."""
    query = sa.select(intent).where(intent.c.project_id == project_id, intent.c.id == key)
    row = connection.execute(query).first()
    if row is None:
        raise NotFound(f"There is no intent {key!r}.", "It may have been deleted; reload.")
    return intent_record(row.id, dict(row._mapping))


def utterances(
    connection: Connection, project_id: int, split: str | None = None
) -> Iterator[UtteranceRecord]:
    """Stream utterances by id, of one split or all."""
    query = sa.select(utterance).where(utterance.c.project_id == project_id)
    if split is not None:
        query = query.where(utterance.c.split == split)
    query = query.order_by(utterance.c.id)
    for row in connection.execution_options(yield_per=2_000).execute(query):
        yield utterance_record(row.id, dict(row._mapping))


def utterance_by_id(connection: Connection, project_id: int, key: str) -> UtteranceRecord:
    """Return one utterance, or raise `NotFound`."""
    query = sa.select(utterance).where(utterance.c.project_id == project_id, utterance.c.id == key)
    row = connection.execute(query).first()
    if row is None:
        raise _no_utterance(key)
    return utterance_record(row.id, dict(row._mapping))


def present(records: Mapping[str, UtteranceRecord], key: str) -> UtteranceRecord:
    """Return one of some utterances that were read, or raise `NotFound`."""
    if key not in records:
        raise _no_utterance(key)
    return records[key]


def _no_utterance(key: str) -> NotFound:
    return NotFound(f"There is no text '{key[:80]}'.", "It may have been deleted.")


def count(connection: Connection, project_id: int) -> tuple[int, int]:
    """Return how many utterances there are, and how many are labelled."""
    labelled = sa.func.count(utterance.c.labels)
    query = sa.select(sa.func.count(), labelled).where(utterance.c.project_id == project_id)
    total, with_label = connection.execute(query).one()
    return int(total), int(with_label)


def intents_with_labels(
    connection: Connection, project_id: int, without: Iterable[str] = ()
) -> set[str]:
    """Return the ids of the intents that utterances carry, `without` those of some ids."""
    some = sa.func.json_each(json.dumps(sorted(without))).table_valued("value")
    query = (
        sa.select(utterance.c.labels)
        .distinct()
        .where(
            utterance.c.project_id == project_id,
            utterance.c.labels.is_not(None),
            utterance.c.id.not_in(sa.select(some)),
        )
    )
    return {key for labels in connection.execute(query).scalars() for key in labels}


def ids_labelled_with(connection: Connection, project_id: int, intent_id: str) -> list[str]:
    """Return the ids of utterances labelled with an intent, rising."""
    query = sa.select(utterance.c.id).where(
        utterance.c.project_id == project_id, labelled_with(intent_id)
    )
    return list(connection.execute(query.order_by(utterance.c.id)).scalars())


def labelled_with(intent_id: str) -> sa.ColumnElement[bool]:
    """Return the condition that an utterance is labelled with an intent."""
    # Ids are hexadecimal, so no other part of the JSON list can match one.
    return LABELS_TEXT.contains(f'"{intent_id}"', autoescape=True)


def read_utterances(connection: Connection, query: sa.Select[Any]) -> list[UtteranceRecord]:
    """Return the rows of a query on utterances as records."""
    return [utterance_record(row.id, dict(row._mapping)) for row in connection.execute(query)]


def read_many_utterances(connection: Connection, query: sa.Select[Any]) -> list[UtteranceRecord]:
    """Return the rows of a query on utterances as records, read in one step of SQLite.

    The driver gives Python's lock away at each row. With other threads at work, thousands of rows
    then wait thousands of times for their turn; on a busy day each decision waited for them.
    """
    return read_gathered(connection, gathered(query))


def gathered(query: sa.Select[Any]) -> sa.Select[tuple[str]]:
    """Return a statement that yields all rows of a query on utterances as lines of JSON.

    It takes 3 ms to make, so those that are run often are made once.
    """
    table = query.subquery()
    values = [
        sa.func.json(table.c[name])
        if isinstance(utterance.c[name].type, JsonText)
        else table.c[name]
        for name in _COLUMNS
    ]
    return sa.select(sa.func.group_concat(sa.func.json_array(*values), "\n"))  # JSON has no bare \n


def read_gathered(
    connection: Connection, statement: sa.Select[tuple[str]], **values: object
) -> list[UtteranceRecord]:
    """Return the records of a statement that `gathered` made, with values for its parameters."""
    found = connection.execute(statement, values).scalar_one()
    rows = [] if found is None else str(found).split("\n")
    records = list[UtteranceRecord]()
    for start in range(0, len(rows), _DECODED_AT_ONCE):
        part = json.loads(f"[{','.join(rows[start : start + _DECODED_AT_ONCE])}]")
        for row in part:
            attributes = dict(zip(_COLUMNS, row, strict=True))
            records.append(utterance_record(attributes["id"], attributes))
    return records


def in_order_of_arrival(
    connection: Connection, project_id: int, records: Iterable[UtteranceRecord]
) -> list[UtteranceRecord]:
    """Sort utterances as they came in first, those of a file in its order."""
    places = {key: place for place, key in enumerate(arrivals(connection, project_id))}
    return sorted(records, key=lambda record: (places.get(record.id, len(places)), record.id))
