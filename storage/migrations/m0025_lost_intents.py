"""Bring back intents that are gone although texts carry them.

Undo took away the intent that an action had made, and the undo of a later action put it back on a
text. Nothing could be learned, answered or written then, for the label had no name.
"""

import json
import uuid
from typing import Any

from alembic.operations import Operations
from sqlalchemy.engine import Connection

from storage.records import now

REVISION = "0025"

_LOST = """
SELECT DISTINCT utterance.project_id, one.value
FROM utterance, json_each(iif(json_valid(utterance.labels), utterance.labels, '[]')) AS one
WHERE NOT EXISTS (SELECT 1 FROM intent
    WHERE intent.project_id = utterance.project_id AND intent.id = one.value)
ORDER BY 1, 2
"""
# The plus keeps SQLite from reading the whole log backwards instead of the intent's own events.
_REMOVED = """
SELECT before FROM event
WHERE project_id = ? AND subject_id = ? AND subject = 'intent' AND field = 'row' AND after IS NULL
ORDER BY +revision DESC LIMIT 1
"""
_GROW = "UPDATE project SET head_revision = head_revision + 1 WHERE id = ? RETURNING head_revision"
_ACTION = """
INSERT INTO batch (project_id, key, verb, actor, origin, at, last_revision)
VALUES (?, ?, 'bring an intent back', 'studio', 'upgrade', ?, ?) RETURNING id
"""
_EVENT = """
INSERT INTO event (project_id, revision, batch_id, subject, subject_id, field, before, after)
VALUES (?, ?, ?, 'intent', ?, 'row', NULL, ?)
"""
_INTENT = """
INSERT INTO intent (project_id, id, name, description, color, position, archived)
VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_COLUMNS = ("name", "description", "color", "position", "archived")


def upgrade(operations: Operations) -> None:
    """Bring each such intent back as it was last, by an action of the log."""
    connection = operations.get_bind()
    for project, key in connection.exec_driver_sql(_LOST).all():
        removed = connection.exec_driver_sql(_REMOVED, (project, key)).scalar()
        if removed is not None:
            row = json.loads(removed)
            row["name"] = _free_name(connection, project, row["name"])
            _bring_back(connection, project, key, row)


def _free_name(connection: Connection, project: int, wanted: str) -> str:
    taken = "SELECT 1 FROM intent WHERE project_id = ? AND name = ?"
    name, n = wanted, 1
    while connection.exec_driver_sql(taken, (project, name)).first() is not None:
        n += 1
        name = f"{wanted[:190]} {n}"
    return name


def _bring_back(connection: Connection, project: int, key: str, row: dict[str, Any]) -> None:
    revision = connection.exec_driver_sql(_GROW, (project,)).scalar_one()
    action = (project, uuid.uuid4().hex, now(), revision)
    batch = connection.exec_driver_sql(_ACTION, action).scalar_one()
    after = json.dumps(row, ensure_ascii=False)
    connection.exec_driver_sql(_EVENT, (project, revision, batch, key, after))
    columns = (row[name] for name in _COLUMNS)
    connection.exec_driver_sql(_INTENT, (project, key, *columns))
