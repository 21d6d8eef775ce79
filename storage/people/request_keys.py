"""First answers to requests that bear a key, for a sender who does not know whether one arrived.

An answer is kept in the transaction that does what it tells: a request is done and answered, or
neither, whenever the process ends.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.errors import Conflict
from storage.records import now
from storage.tables import answered_request

KEPT_HOURS = 24

_Answer = TypeVar("_Answer")

Keep: TypeAlias = Callable[[Connection, _Answer], None]
"""Keeps the answer to a request; called within the transaction that does what the answer tells."""


@dataclass(frozen=True, slots=True)
class AnsweredRequest:
    """An answer as it was sent.

    Attributes:
        digest: SHA-256 of method, path, project and content of the request, in hexadecimal.
        answer: The body, JSON.
    """

    key: str
    digest: str
    status: int
    answer: str


def find(connection: Connection, key: str, digest: str) -> AnsweredRequest | None:
    """Return the first answer to the request of a key, while it is kept.

    Raises:
        Conflict: The key was sent with other content.
    """
    table = answered_request
    row = connection.execute(sa.select(table).where(table.c.key == key)).first()
    if row is None or row.at < _oldest():
        return None
    if row.digest != digest:
        raise Conflict(
            f"The key '{key[:40]}' belongs to another request.",
            "Send a new key with each new request, and the same only to repeat one.",
        )
    return AnsweredRequest(row.key, row.digest, row.status, row.answer)


def keep(connection: Connection, answered: AnsweredRequest) -> None:
    """Keep an answer for 24 hours, and delete those that are older."""
    table = answered_request
    old = sa.or_(table.c.at < _oldest(), table.c.key == answered.key)
    connection.execute(sa.delete(table).where(old))
    values = {
        "key": answered.key,
        "digest": answered.digest,
        "status": answered.status,
        "answer": answered.answer,
        "at": now(),
    }
    connection.execute(sa.insert(table).values(values))


def keep_nothing(_connection: Connection, _answer: object) -> None:
    """Keep no answer: the request bears no key."""


def forget_all(connection: Connection) -> None:
    """Delete all answers: one may quote a text that is erased."""
    connection.execute(sa.delete(answered_request))


def _oldest() -> str:
    return (datetime.fromisoformat(now()) - timedelta(hours=KEPT_HOURS)).isoformat(
        timespec="milliseconds"
    )
