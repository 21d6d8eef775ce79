"""Model versions, and aliases with their history."""

from dataclasses import replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from core.errors import InvalidInput, NotFound
from core.metrics.coverage import as_counted_now
from core.text import with_thousands_marks
from storage.people import acts
from storage.people.acts import Act
from storage.records import AliasRecord, ModelVersionRecord, now, record_of
from storage.tables import alias, model_version, project

CHAMPION = "champion"
ROLLED_BACK = "rolled back"
"""Points at the champion that a rollback replaces, recorded right before the new champion."""
DISCARDED = "discarded"
DELETED = "deleted"
_VERBS = {
    CHAMPION: "use version",
    ROLLED_BACK: "go back from version",
    DISCARDED: "discard version",
    DELETED: "delete version",
}
"""A deleted version's row is kept without files, so that its number is not reused."""


def add(connection: Connection, values: dict[str, Any]) -> ModelVersionRecord:
    """Add a model version; a repeated job gets the version it already stored.

    `values`: project_id, tree_sha256, dataset_version_id, job_id, lineage, metrics, pins; and kind,
    unless it is `intents`.
    """
    if values.get("job_id") is not None:
        same_job = sa.select(model_version).where(model_version.c.job_id == values["job_id"])
        existing = connection.execute(same_job).first()
        if existing is not None:
            return _version_of(existing)
    query = sa.select(sa.func.max(model_version.c.number))
    query = query.where(model_version.c.project_id == values["project_id"])
    number = int(connection.execute(query).scalar_one() or 0) + 1
    row = {**values, "number": number, "created_at": now()}
    connection.execute(sa.insert(model_version).values(row))
    return find(connection, values["project_id"], number)


def _version_of(row: Row[Any]) -> ModelVersionRecord:
    """Read a version; figures of earlier releases are counted and said as those of now."""
    record = record_of(ModelVersionRecord, row)
    metrics = as_counted_now(record.lineage, record.metrics)
    basis = metrics.get("judged_on")
    if isinstance(basis, str):
        metrics["judged_on"] = with_thousands_marks(basis)
    return replace(record, metrics=metrics)


def list_all(
    connection: Connection, project_id: int, *, deleted: bool = False
) -> list[ModelVersionRecord]:
    """Return all model versions of a project, oldest first; deleted ones only on request."""
    query = sa.select(model_version).where(model_version.c.project_id == project_id)
    if not deleted:
        query = query.where(_standing())
    return [_version_of(row) for row in connection.execute(query.order_by(model_version.c.number))]


def encoder_fingerprints(connection: Connection) -> set[str]:
    """Return the fingerprints of the encoders of all versions that stand, and of their bases."""
    rows = connection.execute(sa.select(model_version.c.lineage).where(_standing())).scalars()
    names = ("fingerprint", "encoder_fingerprint", "base_fingerprint")
    return {str(facts[name]) for facts in rows for name in names if facts.get(name)}


def find(connection: Connection, project_id: int, number: int) -> ModelVersionRecord:
    """Return one model version by its number, or raise `NotFound`."""
    query = sa.select(model_version).where(
        model_version.c.project_id == project_id, model_version.c.number == number, _standing()
    )
    row = connection.execute(query).first()
    if row is None:
        missing = f"There is no model version {number} in this project."
        if recall(connection, project_id, number) is not None:
            missing = f"There is no model version {number} any more: it was deleted."
        raise NotFound(missing, "The Versions page lists them.")
    return _version_of(row)


def find_answering(connection: Connection, project_id: int, number: int) -> ModelVersionRecord:
    """Return one model version that answers intents.

    Raises:
        InvalidInput: It is an encoder without a head.
        NotFound: The project has no such version.
    """
    record = find(connection, project_id, number)
    if record.kind == "encoder":
        raise InvalidInput(
            f"Version {number} is an encoder: it answers no intents.",
            "Train a model from it: choose it as the base.",
        )
    return record


def recall(connection: Connection, project_id: int, number: int) -> ModelVersionRecord | None:
    """Return one model version, even a deleted one, or None."""
    query = sa.select(model_version).where(
        model_version.c.project_id == project_id, model_version.c.number == number
    )
    row = connection.execute(query).first()
    return None if row is None else _version_of(row)


def lineage_of_job(connection: Connection, job_id: str) -> dict[str, Any]:
    """Return the lineage of the version that a job made, even a deleted one; {} if it made none."""
    query = sa.select(model_version.c.lineage).where(model_version.c.job_id == job_id)
    lineage: dict[str, Any] | None = connection.execute(query).scalar_one_or_none()
    return lineage or {}


def built_on(connection: Connection, base: str) -> list[str]:
    """Return the names `PROJECT@N` of versions, of any project, that were trained from a base."""
    query = sa.select(project.c.name, model_version.c.number, model_version.c.lineage)
    query = query.join(project, project.c.id == model_version.c.project_id).where(_standing())
    rows = connection.execute(query.order_by(project.c.name, model_version.c.number))
    return [f"{name}@{number}" for name, number, facts in rows if facts.get("base") == base]


def champion(connection: Connection, project_id: int) -> ModelVersionRecord | None:
    """Return the version that answers for the project, or None."""
    query = sa.select(model_version).join(alias, alias.c.model_version_id == model_version.c.id)
    query = query.where(alias.c.project_id == project_id, alias.c.name == CHAMPION)
    row = connection.execute(query.order_by(alias.c.id.desc()).limit(1)).first()
    return None if row is None else _version_of(row)


def point(
    connection: Connection, record: ModelVersionRecord, actor: str, name: str = CHAMPION
) -> None:
    """Point an alias at a version; its earlier targets stay in the history."""
    _assign(connection, record, name, actor)
    done = Act(_VERBS.get(name, name), actor, str(record.number))
    acts.note(connection, record.project_id, done)


def go_back(
    connection: Connection, left: ModelVersionRecord, target: ModelVersionRecord, actor: str
) -> None:
    """Point the champion at an earlier version: two assignments, and one act."""
    _assign(connection, left, ROLLED_BACK, actor)
    _assign(connection, target, CHAMPION, actor)
    about = f"{left.number} to version {target.number}"
    acts.note(connection, left.project_id, Act(_VERBS[ROLLED_BACK], actor, about))


def _assign(connection: Connection, record: ModelVersionRecord, name: str, actor: str) -> None:
    values = {
        "project_id": record.project_id,
        "name": name,
        "model_version_id": record.id,
        "actor": actor,
        "at": now(),
    }
    connection.execute(sa.insert(alias).values(values))


def moves(connection: Connection, project_id: int) -> list[AliasRecord]:
    """Return every assignment of any alias, oldest first."""
    query = sa.select(
        alias.c.name, alias.c.model_version_id, model_version.c.number, alias.c.actor, alias.c.at
    ).join(model_version, model_version.c.id == alias.c.model_version_id)
    rows = connection.execute(query.where(alias.c.project_id == project_id).order_by(alias.c.id))
    return [AliasRecord(*row) for row in rows]


def change_tree(connection: Connection, version_id: int, tree_sha256: str) -> None:
    """Let a version have other files, from which an erased text was taken."""
    row = sa.update(model_version).where(model_version.c.id == version_id)
    connection.execute(row.values(tree_sha256=tree_sha256))


def bury(connection: Connection, record: ModelVersionRecord, actor: str) -> None:
    """Mark a version as deleted and drop its tree; its row is kept."""
    row = sa.update(model_version).where(model_version.c.id == record.id)
    connection.execute(row.values(tree_sha256=""))
    point(connection, record, actor, DELETED)


def _standing() -> sa.ColumnElement[bool]:
    gone = sa.select(alias.c.model_version_id).where(alias.c.name == DELETED)
    return model_version.c.id.not_in(gone)
