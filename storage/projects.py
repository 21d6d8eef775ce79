"""Projects: create, list, find, rename; delete and restore.

A deleted project keeps its row under another name, so its own name is free again.
"""

from typing import Any
from unicodedata import category

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from core.errors import Conflict, InvalidInput, NotFound
from core.text import did_you_mean, is_hidden
from core.types import Task
from storage.records import ProjectRecord, now
from storage.tables import job, model_version, project

_LONGEST_NAME = 100
_UNREAD = " (not read to its end)"
_NO_LETTERS = ("Cc", "Cs", "Zl", "Zp")
"""Control characters, halves of surrogate pairs, and line ends."""


def create(connection: Connection, name: str, task: Task = "single-label") -> ProjectRecord:
    """Create an empty project.

    Raises:
        Conflict: The name is taken.
        InvalidInput: The name is empty, too long, or has characters that a name must not have.
    """
    _check_name(name)
    _check_free(connection, name)
    values = {"name": name, "task": task, "head_revision": 0, "created_at": now()}
    connection.execute(sa.insert(project).values(values))
    return find(connection, name)


def list_all(connection: Connection) -> list[ProjectRecord]:
    """Return all projects by name, without deleted ones."""
    query = sa.select(project).where(project.c.deleted_name.is_(None)).order_by(project.c.name)
    return [_record(row) for row in connection.execute(query)]


def list_deleted(connection: Connection) -> list[ProjectRecord]:
    """Return the deleted projects, the newest project first."""
    query = sa.select(project).where(project.c.deleted_name.is_not(None))
    return [_record(row) for row in connection.execute(query.order_by(project.c.id.desc()))]


def find(connection: Connection, name: str) -> ProjectRecord:
    """Find a project by its name, or raise `NotFound` with the closest name as hint."""
    query = sa.select(project).where(project.c.deleted_name.is_(None))
    row = connection.execute(query.where(project.c.name == name)).first()
    if row is None:
        names = [record.name for record in list_all(connection)]
        hint = did_you_mean(name, names, "The first page lists them.")
        raise NotFound(f"There is no project '{name}'.", hint)
    return _record(row)


def find_numbered(connection: Connection, name: str, number: int | None) -> ProjectRecord:
    """Find a project by its name, or raise `NotFound`, also if it is not the one of a number."""
    record = find(connection, name)
    if number is not None and record.id != number:
        raise NotFound(
            f"The project '{name}' is another one than before.",
            "The one before was renamed or deleted: the first page lists the projects.",
        )
    return record


def get(connection: Connection, project_id: int) -> ProjectRecord:
    """Return a project by its id, even a deleted one, or raise `NotFound`."""
    row = connection.execute(sa.select(project).where(project.c.id == project_id)).first()
    if row is None:
        raise NotFound(
            "The project was deleted.",
            "The first page lists the others.",
        )
    return _record(row)


def get_open(connection: Connection, project_id: int) -> ProjectRecord:
    """Return a project by its id, or raise `NotFound`, also if it was deleted meanwhile."""
    record = get(connection, project_id)
    if record.deleted_name is not None:
        raise NotFound(
            f"The project '{record.deleted_name}' was deleted meanwhile.",
            "The first page brings it back.",
        )
    return record


def rename(connection: Connection, record: ProjectRecord, name: str) -> None:
    """Rename a project; versions and jobs that start from its versions name it anew.

    Raises:
        Conflict: The name is taken.
        InvalidInput: The name cannot name a project.
    """
    if name == record.name:
        return
    _check_name(name)
    _check_free(connection, name)
    _move(connection, record, {"name": name})


def delete(connection: Connection, record: ProjectRecord) -> None:
    """Move a project aside: no list has it any more, and its name is free again."""
    name = f"{record.name} (deleted {record.id})"
    while _is_taken(connection, name):
        name += "+"
    _move(connection, record, {"name": name, "deleted_name": record.name})


def create_unseen(connection: Connection, name: str, task: Task) -> ProjectRecord:
    """Create a project that no list has before `show`, or return the one that was begun before.

    Until then it stands among the deleted ones, under a name that says why.

    Raises:
        Conflict: The name is taken.
        InvalidInput: The name cannot name a project.
    """
    called = f"{name}{_UNREAD}"
    query = sa.select(project).where(project.c.deleted_name == called, project.c.task == task)
    begun = connection.execute(query.order_by(project.c.id.desc())).first()
    if begun is not None:
        _check_free(connection, name)
        return _record(begun)
    record = create(connection, name, task)
    delete(connection, record)
    update = sa.update(project).where(project.c.id == record.id)
    connection.execute(update.values(deleted_name=called))
    return get(connection, record.id)


def show(connection: Connection, record: ProjectRecord, name: str) -> None:
    """Give a project that nobody saw its name.

    Raises:
        Conflict: The name is taken.
    """
    _check_free(connection, name)
    _move(connection, record, {"name": name, "deleted_name": None})


def restore(connection: Connection, project_id: int) -> ProjectRecord:
    """Bring a deleted project back, by its name or, if that was taken since, by one like it.

    Raises:
        NotFound: There is no such project.
    """
    record = get(connection, project_id)
    wanted = record.deleted_name
    if wanted is not None:
        name, n = wanted, 1
        while _is_taken(connection, name):
            n += 1
            name = f"{wanted[: _LONGEST_NAME - 10]} {n}"
        _move(connection, record, {"name": name, "deleted_name": None})
    return get(connection, project_id)


def _move(connection: Connection, record: ProjectRecord, values: dict[str, Any]) -> None:
    """Change a project's name wherever it is part of `PROJECT@N`."""
    update = sa.update(project).where(project.c.id == record.id)
    connection.execute(update.values(values))
    for table, column, field in (
        (model_version, model_version.c.lineage, "base"),
        (job, job.c.payload, "base"),
        (job, job.c.result, "model"),
    ):
        for key, facts in connection.execute(sa.select(table.c.id, column)).all():
            name, at, number = str((facts or {}).get(field, "")).rpartition("@")
            if at and name == record.name:
                now_called = {**facts, field: f"{values['name']}@{number}"}
                change = sa.update(table).where(table.c.id == key)
                connection.execute(change.values({column.name: now_called}))


def change_gate(connection: Connection, project_id: int, *, auto_promote: bool) -> None:
    """Set whether a version that passes the gate is promoted without a person."""
    update = sa.update(project).where(project.c.id == project_id)
    connection.execute(update.values(auto_promote=int(auto_promote)))


def change_fence(connection: Connection, project_id: int, fence: dict[str, Any] | None) -> None:
    """Set the project's rule for out of scope; None uses the model's own limit."""
    update = sa.update(project).where(project.c.id == project_id)
    connection.execute(update.values(fence=fence))


def _record(row: Row[tuple[object, ...]]) -> ProjectRecord:
    values = row._asdict()
    return ProjectRecord(**{**values, "auto_promote": bool(values["auto_promote"])})


def _check_free(connection: Connection, name: str) -> None:
    if _is_taken(connection, name):
        raise Conflict(f"There is a project '{name}' already.", "Choose another name.")


def _is_taken(connection: Connection, name: str) -> bool:
    query = sa.select(project.c.id).where(project.c.name == name)
    return connection.execute(query).first() is not None


def _check_name(name: str) -> None:
    wrong = not name.strip() or len(name) > _LONGEST_NAME or name != name.strip()
    unreachable = name in (".", "..")  # URLs drop these path segments
    signs = any(sign in "@/\\" or category(sign) in _NO_LETTERS for sign in name)
    misread = name.startswith("-") or any(map(is_hidden, name))  # by commands, and by people
    if wrong or unreachable or signs or misread:
        raise InvalidInput(
            f"'{name[:_LONGEST_NAME]}' cannot name a project.",
            "Use up to 100 letters, digits, spaces, - and _; no @, no slashes, no hidden "
            "characters, and no - at the beginning.",
        )
