"""Values kept in a project by name: goals, filters, proposals, bases of syncs, spot checks."""

from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from storage.records import now
from storage.tables import preference

Kind = Literal["check", "goal", "filter", "proposal", "sync", "values", "renamed"]


def keep(
    connection: Connection, project_id: int, actor: str, kind: Kind, values: dict[str, Any]
) -> None:
    """Store values by name; a name that is there gets the new value."""
    for name, value in values.items():
        drop(connection, project_id, actor, kind, name)
        row = {
            "project_id": project_id,
            "actor": actor,
            "kind": kind,
            "name": name,
            "value": value,
            "at": now(),
        }
        connection.execute(sa.insert(preference).values(row))


def drop(connection: Connection, project_id: int, actor: str, kind: Kind, name: str) -> None:
    """Delete the value of a name, if there is one."""
    here = _of(project_id, actor, kind)
    connection.execute(sa.delete(preference).where(here, preference.c.name == name))


def kept(connection: Connection, project_id: int, actor: str, kind: Kind) -> dict[str, Any]:
    """Return a person's values of one kind, by name in alphabetical order."""
    query = sa.select(preference.c.name, preference.c.value).where(_of(project_id, actor, kind))
    rows = connection.execute(query.order_by(preference.c.name))
    return {row.name: row.value for row in rows}


def _of(project_id: int, actor: str, kind: Kind) -> sa.ColumnElement[bool]:
    return sa.and_(
        preference.c.project_id == project_id,
        preference.c.actor == actor,
        preference.c.kind == kind,
    )
