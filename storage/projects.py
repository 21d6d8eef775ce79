"""Projects: create, list, find."""

import difflib
from typing import Any
from unicodedata import category

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from core.errors import Conflict, InvalidInput, NotFound
from core.types import Task
from storage.records import ProjectRecord, now
from storage.tables import project

_LONGEST_NAME = 100
_NO_LETTERS = ("Cc", "Cs", "Zl", "Zp")
"""Control characters, halves of surrogate pairs, and line ends."""


def create(connection: Connection, name: str, task: Task = "single-label") -> ProjectRecord:
    """Create an empty project.

    Raises:
        Conflict: The name is taken.
        InvalidInput: The name is empty, too long, or has characters that a name must not have.
    """
    _check_name(name)
    if connection.execute(sa.select(project.c.id).where(project.c.name == name)).first():
        raise Conflict(f"There is a project '{name}' already.", "Choose another name.")
    values = {"name": name, "task": task, "head_revision": 0, "created_at": now()}
    connection.execute(sa.insert(project).values(values))
    return find(connection, name)


def list_all(connection: Connection) -> list[ProjectRecord]:
    """Return all projects by name."""
    return [_record(row) for row in connection.execute(sa.select(project).order_by(project.c.name))]


def find(connection: Connection, name: str) -> ProjectRecord:
    """Find a project by its name, or raise `NotFound` with the closest name as hint."""
    row = connection.execute(sa.select(project).where(project.c.name == name)).first()
    if row is None:
        names = list(connection.execute(sa.select(project.c.name)).scalars())
        close = difflib.get_close_matches(name, names, n=1)
        raise NotFound(
            f"There is no project '{name}'.",
            f"Did you mean '{close[0]}'?"
            if close
            else "The first page lists them, and so does `intent-studio projects`.",
        )
    return _record(row)


def get(connection: Connection, project_id: int) -> ProjectRecord:
    """Return a project by its id, or raise `NotFound`."""
    row = connection.execute(sa.select(project).where(project.c.id == project_id)).first()
    if row is None:
        raise NotFound(
            "The project was deleted.",
            "The first page lists the others.",
        )
    return _record(row)


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


def _check_name(name: str) -> None:
    wrong = not name.strip() or len(name) > _LONGEST_NAME or name != name.strip()
    unreachable = name in (".", "..")  # URLs drop these path segments
    signs = any(sign in "@/\\" or category(sign) in _NO_LETTERS for sign in name)
    if wrong or unreachable or signs:
        raise InvalidInput(
            f"'{name[:_LONGEST_NAME]}' cannot name a project.",
            "Use up to 100 letters, digits, spaces, - and _; no @ and no slashes.",
        )
