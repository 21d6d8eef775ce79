"""Values of slots with their synonyms, as imports brought them; Undo takes them back."""

from collections.abc import Mapping
from typing import TypeAlias

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from storage.people import preferences
from storage.tables import batch, preference

SlotValues: TypeAlias = Mapping[str, Mapping[str, tuple[str, ...]]]
"""Synonyms by value, by slot."""

_ANYBODY = ""
_NO_ACTION = "import"
"""Name of what an import brought that changed no text, and so cannot be undone."""


def keep_values(connection: Connection, project_id: int, key: str, values: SlotValues) -> None:
    """Store the values that the import of this key brought."""
    stored = {
        slot: {value: list(said) for value, said in found.items()} for slot, found in values.items()
    }
    preferences.keep(connection, project_id, _ANYBODY, "values", {key or _NO_ACTION: stored})


def known_values(connection: Connection, project_id: int) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return all values that imports brought, but for those that were undone."""
    stored = preferences.kept(connection, project_id, _ANYBODY, "values")
    if not stored:
        return {}
    undone = {key for key in stored if _is_undone(connection, project_id, key)}
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for key in sorted(stored.keys() - undone):
        for slot, values in stored[key].items():
            known = found.setdefault(slot, {})
            for value, said in values.items():
                known[value] = tuple(dict.fromkeys((*known.get(value, ()), *said)))
    return found


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
    """Return the number of imports that brought values."""
    query = sa.select(sa.func.count()).where(
        preference.c.project_id == project_id, preference.c.kind == "values"
    )
    return int(connection.execute(query).scalar_one())
