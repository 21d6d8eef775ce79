"""Values of slots with their synonyms, as imports brought them; Undo takes them back.

They follow their slot when it gets another name.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, TypeAlias

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from storage.people import preferences
from storage.tables import batch, preference

SlotValues: TypeAlias = Mapping[str, Mapping[str, tuple[str, ...]]]
"""Synonyms by value, by slot."""

_Values: TypeAlias = dict[str, tuple[str, ...]]
_ANYBODY = ""
_NO_ACTION = "import"
"""Begins the name of what an import brought that changed no text, and so cannot be undone."""


def keep_values(connection: Connection, project_id: int, key: str, values: SlotValues) -> None:
    """Store the values that the import of this key brought."""
    stored = {
        slot: {value: list(said) for value, said in found.items()} for slot, found in values.items()
    }
    # Equal values are kept once, and those of another package beside them.
    own = hashlib.sha256(json.dumps(stored, sort_keys=True).encode()).hexdigest()[:32]
    name = key or f"{_NO_ACTION} {own}"
    preferences.keep(connection, project_id, _ANYBODY, "values", {name: stored})


def rename_values(connection: Connection, project_id: int, key: str, name: str, to: str) -> None:
    """Let the values that imports brought for a slot follow the action of this key, its new name.

    Undo of the action takes them back to the old name. Later imports keep the names of their files.
    """
    imports = [one for one, found in _by_import(connection, project_id).items() if name in found]
    if imports:
        renamed = {"slot": name, "to": to, "imports": imports}
        preferences.keep(connection, project_id, _ANYBODY, "renamed", {key: renamed})


def known_values(
    connection: Connection, project_id: int, revision: int | None = None
) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return all values that imports brought, but for those that were undone.

    With a revision, slots have the names that they had there.
    """
    found: dict[str, _Values] = {}
    for slots in _by_import(connection, project_id, revision).values():
        for slot, values in slots.items():
            _join(found.setdefault(slot, {}), values)
    return found


def _by_import(
    connection: Connection, project_id: int, revision: int | None = None
) -> dict[str, dict[str, _Values]]:
    """Return the values that each import brought, by the names that their slots have."""
    stored = preferences.kept(connection, project_id, _ANYBODY, "values")
    found = {
        key: {
            slot: {value: tuple(said) for value, said in values.items()}
            for slot, values in stored[key].items()
        }
        for key in stored
        if not _is_undone(connection, project_id, key)
    }
    for renamed in _renamed(connection, project_id, revision):
        for slots in (found[key] for key in renamed["imports"] if key in found):
            if renamed["slot"] in slots:
                _join(slots.setdefault(renamed["to"], {}), slots.pop(renamed["slot"]))
    return found


def _renamed(
    connection: Connection, project_id: int, revision: int | None = None
) -> list[dict[str, Any]]:
    """Return the new names that slots with such values got, the first one first."""
    stored = preferences.kept(connection, project_id, _ANYBODY, "renamed")
    query = sa.select(batch.c.key).where(batch.c.project_id == project_id)
    query = query.where(batch.c.key.in_(list(stored)))
    if revision is not None:
        query = query.where(batch.c.last_revision <= revision)
    keys = connection.execute(query.order_by(batch.c.id)).scalars().all()
    return [stored[key] for key in keys if not _is_undone(connection, project_id, key)]


def _join(known: _Values, values: Mapping[str, tuple[str, ...]]) -> None:
    """Add values to those of a slot; equal ones have the synonyms of both."""
    for value, said in values.items():
        known[value] = tuple(dict.fromkeys((*known.get(value, ()), *said)))


def _is_undone(connection: Connection, project_id: int, key: str) -> bool:
    """Whether an action is undone now: a redo undoes the undo."""
    query = sa.select(batch.c.undone_by).where(batch.c.project_id == project_id)
    by = connection.execute(query.where(batch.c.key == key)).scalar()
    is_undone = False
    while by is not None:
        is_undone = not is_undone
        by = connection.execute(query.where(batch.c.id == by)).scalar()
    return is_undone


def count_kept(connection: Connection, project_id: int) -> int:
    """Return the number of imports that brought values, and of new names that their slots have."""
    query = sa.select(sa.func.count()).where(
        preference.c.project_id == project_id, preference.c.kind == "values"
    )
    n_renamed = len(_renamed(connection, project_id))
    return int(connection.execute(query).scalar_one()) + n_renamed
