"""Findings that a person has settled, read from the origins of actions that are not undone."""

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.errors import Conflict, NotFound
from storage.log import events
from storage.log.events import Action
from storage.tables import batch

KEEP = "keep"
"""Verb of an action that dismisses a finding without a change."""

ORIGIN = "review "
"""Begins the origin of an action on the Review page that settles a finding."""


def origin_of(finding: str) -> str:
    """Return the origin of an action that settles a finding."""
    return f"{ORIGIN}{finding}"


def keep_finding(
    connection: Connection, project_id: int, finding: str, key: str, actor: str
) -> None:
    """Record that a finding is dismissed; once for each key."""
    events.record(connection, project_id, Action(KEEP, actor, origin_of(finding), key), ())


def settled(connection: Connection, project_id: int) -> frozenset[str]:
    """Return all findings that were settled, by a change or by dismissal."""
    return frozenset(verbs_of(connection, project_id))


def verbs_of(connection: Connection, project_id: int, prefix: str = "") -> dict[str, str]:
    """Return the verb that settled each finding whose id begins so, `KEEP` for a dismissal."""
    query = sa.select(batch.c.origin, batch.c.verb).where(
        batch.c.project_id == project_id,
        batch.c.undone_by.is_(None),
        batch.c.origin.startswith(ORIGIN + prefix, autoescape=True),
    )
    rows = connection.execute(query.order_by(batch.c.id))
    return {row.origin[len(ORIGIN) :]: row.verb for row in rows}


def undo_settling(connection: Connection, project_id: int, key: str, actor: str) -> None:
    """Undo the action that settled a finding; a second call changes nothing.

    Raises:
        Conflict: Rows that the action changed were changed since, or it was an undo, a redo or an
            erasure.
        NotFound: No action has that key.
    """
    target = events.find_batch(connection, project_id, key)
    if target is None:
        raise NotFound("There is nothing to take back.", "Look at the history on the Data page.")
    if target.verb in (events.ERASE, "undo") or target.undoes is not None:
        raise Conflict(
            "This erased texts, or took something back, so it cannot be taken back itself.",
            "Redo on the Data page does again what was taken back. Nothing brings an erased text "
            "back.",
        )
    if target.undone_by is not None:
        return
    if target.verb != KEEP:
        events.undo(connection, project_id, actor, of=key)
        return
    again = Action("undo", actor)
    events.record(connection, project_id, again, ())
    done = events.find_batch(connection, project_id, again.key)
    if done is not None:
        backwards = sa.update(batch).where(batch.c.id == target.id)
        connection.execute(backwards.values(undone_by=done.id))
