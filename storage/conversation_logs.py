"""Rows of imported conversation logs; their files are in `storage.artifacts`.

A removed log keeps row and files for a while, so that it can come back; nothing else sees it.
"""

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.errors import Conflict, NotFound
from storage.records import ConversationLogRecord, now, record_of
from storage.tables import conversation_log


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over all logs of a project."""

    dialogues: int
    turns: int

    @property
    def pairs(self) -> int:
        """Number of turns that another turn follows."""
        return self.turns - self.dialogues


def add(connection: Connection, values: dict[str, Any]) -> ConversationLogRecord:
    """Add a log whose files are stored.

    `values`: project_id, source, tree_sha256, n_dialogues, n_turns, n_user_turns, masked, actor.
    """
    made = sa.insert(conversation_log).values({**values, "created_at": now()})
    return record_of(
        ConversationLogRecord, connection.execute(made.returning(conversation_log)).one()
    )


def list_all(connection: Connection, project_id: int) -> list[ConversationLogRecord]:
    """Return all logs of a project, oldest first."""
    query = sa.select(conversation_log).where(_there(project_id))
    return [
        record_of(ConversationLogRecord, row)
        for row in connection.execute(query.order_by(conversation_log.c.id))
    ]


def find(connection: Connection, project_id: int, log_id: int) -> ConversationLogRecord:
    """Return one log, or raise `NotFound`."""
    for record in list_all(connection, project_id):
        if record.id == log_id:
            return record
    raise NotFound(
        f"There is no conversation log {log_id} in this project.",
        "The Data page lists them.",
    )


def set_aside(connection: Connection, record: ConversationLogRecord) -> None:
    """Remove a log so that it can come back."""
    here = conversation_log.c.id == record.id
    connection.execute(sa.update(conversation_log).where(here).values(removed_at=now()))


def bring_back(
    connection: Connection, project_id: int, log_id: int
) -> ConversationLogRecord | None:
    """Bring a removed log back; None if there is no removed one of this id.

    Raises:
        Conflict: Another log came since, which may hold the same conversations.
    """
    is_removed = conversation_log.c.removed_at.is_not(None)
    here = sa.and_(conversation_log.c.id == log_id, conversation_log.c.project_id == project_id)
    row = connection.execute(sa.select(conversation_log).where(here, is_removed)).first()
    if row is None:
        return None
    later = _there(project_id), conversation_log.c.created_at > row.removed_at
    if connection.execute(sa.select(conversation_log).where(*later)).first():
        raise Conflict(
            f"'{row.source}' cannot come back: another log was added since.",
            "Add its file again.",
        )
    connection.execute(sa.update(conversation_log).where(here).values(removed_at=None))
    return record_of(ConversationLogRecord, row)


def removed(connection: Connection, until: str) -> list[ConversationLogRecord]:
    """Return the logs of all projects that were removed up to a time, as `now` writes it."""
    query = sa.select(conversation_log).where(conversation_log.c.removed_at <= until)
    return [record_of(ConversationLogRecord, row) for row in connection.execute(query)]


def delete(connection: Connection, record: ConversationLogRecord) -> None:
    """Delete a log's row; its files are kept."""
    connection.execute(sa.delete(conversation_log).where(conversation_log.c.id == record.id))


def totals(connection: Connection, project_id: int) -> Totals:
    """Sum up a project's logs."""
    columns = (conversation_log.c.n_dialogues, conversation_log.c.n_turns)
    sums = (sa.func.coalesce(sa.func.sum(column), 0) for column in columns)
    query = sa.select(*sums).where(_there(project_id))
    dialogues, turns = connection.execute(query).one()
    return Totals(int(dialogues), int(turns))


def _there(project_id: int) -> sa.ColumnElement[bool]:
    here = conversation_log.c.project_id == project_id
    return sa.and_(here, conversation_log.c.removed_at.is_(None))
