"""Where a project's rows differ from what its log says."""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.errors import StudioError
from storage.log import versions
from storage.log.replay import State, replay
from storage.queries import dataset
from storage.records import ProjectRecord
from storage.tables import event

_SHOWN = 3
_UNREADABLE = (KeyError, TypeError, ValueError, StudioError)


def differences(connection: Connection, project: ProjectRecord) -> list[str]:
    """Compare texts, intents, the number of events and the data versions with the log, in words."""
    name = f"'{project.name}'"
    events = sa.select(sa.func.count(), sa.func.max(event.c.revision))
    count, last = connection.execute(events.where(event.c.project_id == project.id)).one()
    found: list[str] = []
    if (count, last or 0) != (project.head_revision, project.head_revision):
        head = project.head_revision
        found.append(f"{name}: the log ends at revision {last or 0} with {count} of {head} events")
    try:
        state, changed = _replayed(connection, project)
    except _UNREADABLE:
        return [*found, f"{name}: its log cannot be replayed"]
    texts = {record.id: record for record in dataset.utterances(connection, project.id)}
    intents = {record.id: record for record in dataset.intents(connection, project.id)}
    by_log = {record.id: record for record in state.utterance_records()}
    unlike = [f"text '{one}'" for one in _unlike(texts, by_log, "text")]
    by_log_too = {record.id: record for record in state.intent_records()}
    unlike += [f"intent '{one}'" for one in _unlike(intents, by_log_too, "name")]
    if unlike:
        more = f" and {len(unlike) - _SHOWN} more" if len(unlike) > _SHOWN else ""
        found.append(f"{name} differs from its log: {', '.join(unlike[:_SHOWN])}{more}")
    return found + [f"{name} data version {number} changed" for number in changed]


def _replayed(connection: Connection, project: ProjectRecord) -> tuple[State, list[int]]:
    """Return the data that the log gives, and the data versions that it no longer gives."""
    state, at, changed = State(), 0, list[int]()
    for version in versions.list_all(connection, project.id):
        until = version.revision
        replay(versions.changes_up_to(connection, project.id, until, after=at), state)
        at = until
        if not versions.is_whole(state, version):
            changed.append(version.number)
    newest = project.head_revision
    replay(versions.changes_up_to(connection, project.id, newest, after=at), state)
    return state, changed


def _unlike(rows: Mapping[str, Any], by_log: Mapping[str, Any], called: str) -> list[str]:
    keys = [key for key in sorted({*rows, *by_log}) if rows.get(key) != by_log.get(key)]
    return [str(getattr(rows.get(key) or by_log[key], called)) for key in keys]
