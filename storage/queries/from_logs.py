"""Utterances that came from a conversation log: those that the imports of this log brought.

Their source is a name of a file, which other logs and other imports may have, too.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from storage.queries.dataset import read_many_utterances
from storage.records import ConversationLogRecord, UtteranceRecord
from storage.tables import batch, event, utterance

_NAMED = "conversations-"
"""Begins the key of an import that names its log."""
_TOGETHER = timedelta(seconds=10)
"""The time in which a log and its texts come: imports of an earlier release named no log."""


@dataclass(frozen=True, slots=True)
class LogTexts:
    """Numbers of utterances that came from a log and are still there.

    Attributes:
        n_texts: All of them.
        n_labelled: Those that have a label.
        n_tests: Those of the test set.
        n_tests_labelled: Those of the test set that have a label.
    """

    n_texts: int
    n_labelled: int
    n_tests: int
    n_tests_labelled: int


def import_key(log_id: int | None) -> str:
    """Return a key for an action that brings utterances of a log; None: of no log that is there."""
    own = uuid.uuid4().hex
    return own if log_id is None else f"{_beginning(log_id)}{own}"


def count_from_log(connection: Connection, log: ConversationLogRecord) -> LogTexts:
    """Count the utterances that came from a log."""
    label, is_test = utterance.c.labels, utterance.c.split == "test"
    numbers = (
        sa.func.count(),
        sa.func.count(label),
        sa.func.count().filter(is_test),
        sa.func.count(label).filter(is_test),
    )
    query = sa.select(*numbers).select_from(utterance).where(_came(connection, log))
    return LogTexts(*map(int, connection.execute(query).one()))


def from_log(connection: Connection, log: ConversationLogRecord) -> list[UtteranceRecord]:
    """Return the utterances that came from a log, oldest first."""
    query = sa.select(utterance).where(_came(connection, log))
    return read_many_utterances(connection, query.order_by(utterance.c.added_revision))


def _beginning(log_id: int) -> str:
    return f"{_NAMED}{log_id}-"


def _came(connection: Connection, log: ConversationLogRecord) -> sa.ColumnElement[bool]:
    brought = sa.select(event.c.subject_id).where(
        event.c.batch_id.in_(_imports(connection, log)),
        event.c.subject == "utterance",
        event.c.field == "row",
    )
    return sa.and_(utterance.c.project_id == log.project_id, utterance.c.id.in_(brought))


def _imports(connection: Connection, log: ConversationLogRecord) -> set[int]:
    """Return the ids of the actions that brought utterances of a log."""
    query = sa.select(batch.c.id, batch.c.key).where(
        batch.c.project_id == log.project_id, batch.c.verb == "import"
    )
    first = _beginning(log.id)
    # Hexadecimal digits follow. SQLite gives the number of a deleted log to the next one.
    named = query.where(batch.c.key.between(first, f"{first}~"), batch.c.at >= log.created_at)
    found = {row.id for row in connection.execute(named)}
    until = datetime.fromisoformat(log.created_at) + _TOGETHER
    beside = query.where(
        batch.c.origin == f"import {log.source}",
        batch.c.at.between(log.created_at, until.isoformat(timespec="milliseconds")),
    )
    own = connection.execute(beside.order_by(batch.c.id).limit(1)).first()
    if own is not None and not own.key.startswith(_NAMED):
        found.add(own.id)
    return found
