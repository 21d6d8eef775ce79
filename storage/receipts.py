"""Receipts: evidence of single answers, stored under the digest of their content."""

import hashlib
import json
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.errors import NotFound
from storage.people import acts, shares
from storage.people.acts import Act
from storage.records import ReceiptRecord, now
from storage.tables import receipt

_DIGITS = 32


def keep(
    connection: Connection, project_id: int, content: dict[str, Any], actor: str
) -> ReceiptRecord:
    """Store a receipt; equal evidence is stored once, under the same id."""
    words = json.dumps([project_id, content], ensure_ascii=False, sort_keys=True)
    key = hashlib.sha256(words.encode()).hexdigest()[:_DIGITS]
    existing = _read(connection, key)
    if existing is not None:
        return existing
    record = ReceiptRecord(key, project_id, content, actor, now())
    values = {name: getattr(record, name) for name in ReceiptRecord.__dataclass_fields__}
    connection.execute(sa.insert(receipt).values(values))
    acts.note(connection, project_id, Act("receipt", actor, key[:8]))
    return record


def find(connection: Connection, key: str) -> ReceiptRecord:
    """Return a receipt, or raise `NotFound`."""
    record = _read(connection, key)
    if record is None:
        raise NotFound(
            "There is no such receipt.", "Check the link, or make a new one on the Try page."
        )
    return record


def _read(connection: Connection, key: str) -> ReceiptRecord | None:
    row = connection.execute(sa.select(receipt).where(receipt.c.id == key)).first()
    return None if row is None else ReceiptRecord(**row._asdict())


def remove_old(connection: Connection, made_before: str, actor: str) -> int:
    """Delete the receipts made before a time, and stop the links to them; return how many."""
    old = sa.select(receipt.c.id).where(receipt.c.created_at < made_before)
    shares.stop_receipts(connection, connection.execute(old).scalars().all(), actor)
    return connection.execute(sa.delete(receipt).where(receipt.c.created_at < made_before)).rowcount
