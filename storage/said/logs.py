"""Logs of traffic that were imported, by the key of their upload."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from storage.records import BatchRecord, now, record_of
from storage.said.tables import said_log, said_text
from storage.tables import batch

_CHUNK = 2_000


@dataclass(frozen=True, slots=True)
class SaidLog:
    """An imported log: `key` is that of its upload, `at` when its import began."""

    id: int
    key: str
    name: str
    at: str


def begin(connection: Connection, project_id: int, key: str, name: str) -> SaidLog:
    """Return the log of a key, which is new unless its import was cut off."""
    there = find(connection, project_id, key)
    if there is not None:
        return there
    at = now()
    values = {"project_id": project_id, "key": key, "name": name, "at": at}
    made = connection.execute(sa.insert(said_log).values(values).returning(said_log.c.id))
    return SaidLog(int(made.scalar_one()), key, name, at)


def find(connection: Connection, project_id: int, key: str) -> SaidLog | None:
    """Return the log of a key, or None."""
    here = sa.and_(said_log.c.project_id == project_id, said_log.c.key == key)
    row = connection.execute(sa.select(said_log).where(here)).first()
    return None if row is None else SaidLog(row.id, row.key, row.name, row.at)


def action_key(key: str) -> str:
    """Return a new key for an action that adds some texts of a log."""
    return f"{key}-{uuid.uuid4().hex}"


def actions(connection: Connection, project_id: int, key: str) -> list[BatchRecord]:
    """Return the actions that added a log's texts and were not taken back."""
    query = sa.select(batch).where(
        batch.c.project_id == project_id,
        batch.c.key > f"{key}-",
        batch.c.key < f"{key}.",
        batch.c.undone_by.is_(None),
    )
    return [record_of(BatchRecord, row) for row in connection.execute(query.order_by(batch.c.id))]


def remove_rows(connection: Connection, project_id: int, log_id: int) -> int:
    """Delete some thousand rows that came with a log; return how many there were."""
    own = sa.and_(said_text.c.project_id == project_id, said_text.c.log_id == log_id)
    keys = connection.execute(sa.select(said_text.c.key).where(own).limit(_CHUNK)).scalars().all()
    if keys:
        here = sa.and_(said_text.c.project_id == project_id, said_text.c.key.in_(keys))
        connection.execute(sa.delete(said_text).where(here))
    return len(keys)


def spoken(connection: Connection, project_id: int, ids: Sequence[str]) -> set[str]:
    """Return those of some utterances that a row of the traffic is about."""
    here = sa.and_(said_text.c.project_id == project_id, said_text.c.utterance_id.in_(ids))
    query = sa.select(said_text.c.utterance_id).distinct().where(here)
    return set(connection.execute(query).scalars())
