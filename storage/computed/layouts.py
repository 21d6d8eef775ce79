"""Stored layouts of the embedding map: the newest of each model version and method."""

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from storage.records import LayoutRecord, now, record_of
from storage.tables import alias, layout, tree


def add(connection: Connection, values: dict[str, Any]) -> LayoutRecord:
    """Add a layout and delete the older one; a repeated job gets the layout it already stored.

    `values`: project_id, model_version_id, method, tree_sha256, n, job_id.
    """
    if values.get("job_id") is not None:
        same = sa.select(layout).where(layout.c.job_id == values["job_id"])
        existing = connection.execute(same).first()
        if existing is not None:
            return record_of(LayoutRecord, existing)
    which = values["project_id"], values["model_version_id"], values["method"]
    connection.execute(sa.delete(layout).where(_of(*which)))
    made = sa.insert(layout).values({**values, "created_at": now()}).returning(layout)
    return record_of(LayoutRecord, connection.execute(made).one())


def find(
    connection: Connection, project_id: int, model_version_id: int | None, method: str
) -> LayoutRecord | None:
    """Return the layout of a model version (None: of the untuned encoder), or None."""
    query = sa.select(layout).where(_of(project_id, model_version_id, method))
    row = connection.execute(query).first()
    return None if row is None else record_of(LayoutRecord, row)


def newest(connection: Connection, project_id: int, method: str) -> LayoutRecord | None:
    """Return the newest layout of any model version, or None."""
    query = sa.select(layout).where(layout.c.project_id == project_id, layout.c.method == method)
    row = connection.execute(query.order_by(layout.c.id.desc()).limit(1)).first()
    return None if row is None else record_of(LayoutRecord, row)


def remove_all(connection: Connection, project_id: int) -> list[str]:
    """Delete all layouts of a project; return their trees."""
    gone = sa.delete(layout).where(layout.c.project_id == project_id)
    return list(connection.execute(gone.returning(layout.c.tree_sha256)).scalars())


def remove_damaged(connection: Connection, blobs: Collection[str]) -> list[str]:
    """Delete the layouts with one of some files, each of which can be made anew; return trees."""
    trees = sa.select(tree.c.sha256).where(tree.c.blob_sha256.in_(blobs))
    gone = sa.delete(layout).where(layout.c.tree_sha256.in_(trees))
    return list(connection.execute(gone.returning(layout.c.tree_sha256)).scalars())


def remove_old(connection: Connection, made_before: str) -> list[str]:
    """Delete the layouts, made before a time, of versions that no project uses; return their trees.

    Those of champions and of the untuned encoder stay.
    """
    last = sa.select(sa.func.max(alias.c.id)).where(alias.c.name == "champion")
    in_use = sa.select(alias.c.model_version_id).where(
        alias.c.id.in_(last.group_by(alias.c.project_id))
    )
    gone = sa.delete(layout).where(
        layout.c.created_at < made_before,
        layout.c.model_version_id.is_not(None),
        layout.c.model_version_id.not_in(in_use),
    )
    return list(connection.execute(gone.returning(layout.c.tree_sha256)).scalars())


def _of(project_id: int, model_version_id: int | None, method: str) -> sa.ColumnElement[bool]:
    return sa.and_(
        layout.c.project_id == project_id,
        layout.c.model_version_id.is_not_distinct_from(model_version_id),
        layout.c.method == method,
    )
