"""Pins: texts with the intents that a person expects for them."""

from collections.abc import Iterable

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.text import text_hash
from storage.records import PinRecord, now
from storage.tables import pin


def add(
    connection: Connection,
    project_id: int,
    text: str,
    intents: Iterable[str],
    actor: str,
) -> None:
    """Set the intents, by id, expected for a text; an earlier pin of the text is replaced."""
    key = text_hash(text)
    here = sa.and_(pin.c.project_id == project_id, pin.c.text_hash == key)
    connection.execute(sa.delete(pin).where(here))
    values = {
        "project_id": project_id,
        "text_hash": key,
        "text": text,
        "intents": sorted(intents),
        "actor": actor,
        "at": now(),
    }
    connection.execute(sa.insert(pin).values(values))


def remove(connection: Connection, project_id: int, text: str) -> None:
    """Delete the pin of a text."""
    here = sa.and_(pin.c.project_id == project_id, pin.c.text_hash == text_hash(text))
    connection.execute(sa.delete(pin).where(here))


def list_all(connection: Connection, project_id: int) -> list[PinRecord]:
    """Return all pins of a project by text."""
    query = sa.select(pin.c.text, pin.c.intents, pin.c.actor, pin.c.at)
    query = query.where(pin.c.project_id == project_id).order_by(pin.c.text)
    rows = connection.execute(query)
    return [PinRecord(row.text, tuple(row.intents), row.actor, row.at) for row in rows]
