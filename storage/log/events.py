"""The append-only log: every change of a project is an event, and updates the current state."""

import json
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from core.errors import Conflict, InvalidInput
from storage.log.apply import bring_up
from storage.log.edits import backwards, count_erasures, is_erased
from storage.people.acts import VIA, Via
from storage.records import BatchRecord, Change, now, record_of
from storage.tables import batch, event, project

_CHUNK = 500
_CHANGED_SOMETHING = sa.exists().where(event.c.batch_id == batch.c.id)
ERASE = "erase"
"""The verb of what cannot be undone: the text is gone."""
TRAFFIC = "traffic"
"""The verb of texts that a program sent; who takes back the last act means an act of a person."""
_STANDING = sa.and_(
    batch.c.undone_by.is_(None),
    batch.c.undoes.is_(None),
    batch.c.verb != ERASE,
    _CHANGED_SOMETHING,
)
"""Actions that have not been undone, and are neither undo nor redo."""
_BY_PEOPLE = batch.c.verb != TRAFFIC


@dataclass(frozen=True, slots=True)
class Action:
    """Who does what: one action is one batch, and is undone as a whole.

    Attributes:
        verb: `label`, `import`, `rename`, `merge`, ... as a history shows it.
        origin: Where the changes are from: `page`, `group`, `traffic`, `sample`, `import FILE`,
            `sync FOLDER`, or `review FINDING`; empty if an act takes back or erases.
        key: Repeating an action with the same key changes nothing.
        expected_revision: If the project is at another revision, refuse; None skips the check.
        via: The entrance of the program through which it came.
        at: When it was done, as `now` writes it; empty is now.
    """

    verb: str
    actor: str
    origin: str = ""
    key: str = field(default_factory=lambda: uuid.uuid4().hex)
    expected_revision: int | None = None
    via: Via = field(default_factory=VIA.get)
    at: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """An action, its changes, and the action that these take back, if any."""

    action: Action
    changes: Sequence[Change]
    undoes: BatchRecord | None = None


def record(
    connection: Connection, project_id: int, action: Action, changes: Iterable[Change]
) -> int:
    """Append changes to the log and apply them; return the project's new revision.

    Changes are streamed: any number is written in chunks within the caller's transaction.

    Raises:
        Conflict: The project is past the expected revision, or a name is taken.
    """
    earlier = find_batch(connection, project_id, action.key)
    if earlier is not None:
        return earlier.last_revision
    if action.expected_revision is not None:
        _check_revision(connection, project_id, action.expected_revision)
    rest = iter(changes)
    first = list(islice(rest, _CHUNK))
    if len(first) < _CHUNK:
        return record_together(connection, project_id, [Entry(action, first)])
    batch_id = open_batch(connection, project_id, action)
    revision = _append(connection, project_id, batch_id, first)
    while more := list(islice(rest, _CHUNK)):
        revision = _append(connection, project_id, batch_id, more)
    close_batch(connection, batch_id, revision)
    return revision


def open_batch(connection: Connection, project_id: int, action: Action) -> int:
    """Begin an action; return the id that its events carry."""
    newest = sa.select(project.c.head_revision).where(project.c.id == project_id)
    values = _batch_row(project_id, action) | {"last_revision": newest.scalar_subquery()}
    made = connection.execute(sa.insert(batch).values(values).returning(batch.c.id))
    return int(made.scalar_one())


def _batch_row(project_id: int, action: Action) -> dict[str, Any]:
    return {
        "project_id": project_id,
        "key": action.key,
        "verb": action.verb,
        "actor": action.actor,
        "origin": action.origin,
        "via": action.via,
        "at": action.at or now(),
    }


def record_together(connection: Connection, project_id: int, entries: Sequence[Entry]) -> int:
    """Append small actions to the log and apply them; return the project's new revision.

    It takes as many statements as one action. No two of them change the same row, and none has
    been recorded before.

    Raises:
        Conflict: A change does not fit the current state.
    """
    changes = [change for entry in entries for change in entry.changes]
    first = _allocate(connection, project_id, len(changes))
    rows, last = list[dict[str, Any]](), first - 1
    for entry in entries:
        last += len(entry.changes)
        undoes = None if entry.undoes is None else entry.undoes.id
        row = _batch_row(project_id, entry.action)
        rows.append(row | {"last_revision": last, "undoes": undoes})
    insert = sa.insert(batch).returning(batch.c.id, sort_by_parameter_order=True)
    batch_ids = connection.execute(insert, rows).scalars().all()
    _mark_undone(connection, entries, batch_ids)
    if changes:
        sizes = [len(entry.changes) for entry in entries]
        of_change = [key for key, n in zip(batch_ids, sizes, strict=True) for _ in range(n)]
        _write(connection, project_id, first, of_change, changes)
    return last


def close_batch(connection: Connection, batch_id: int, revision: int) -> None:
    """Note the revision of an action's last event."""
    done = sa.update(batch).where(batch.c.id == batch_id)
    connection.execute(done.values(last_revision=revision))


def head(connection: Connection, project_id: int) -> int:
    """Return the newest revision of a project."""
    query = sa.select(project.c.head_revision).where(project.c.id == project_id)
    return int(connection.execute(query).scalar_one())


def history(connection: Connection, project_id: int, limit: int = 50) -> list[BatchRecord]:
    """Return the last batches that changed something, newest first."""
    query = sa.select(batch).where(batch.c.project_id == project_id, _CHANGED_SOMETHING)
    rows = connection.execute(query.order_by(batch.c.id.desc()).limit(limit))
    return [record_of(BatchRecord, row) for row in rows]


def changes_of(connection: Connection, batch_id: int) -> list[Change]:
    """Return the changes of one batch in order."""
    query = sa.select(event).where(event.c.batch_id == batch_id).order_by(event.c.revision)
    return [change_of(row) for row in connection.execute(query)]


def find_batch(connection: Connection, project_id: int, key: str) -> BatchRecord | None:
    """Return the action that was recorded under a key, or None."""
    return find_batches(connection, project_id, [key]).get(key)


def _mark_undone(
    connection: Connection, entries: Sequence[Entry], batch_ids: Sequence[int]
) -> None:
    undone = [
        {"own_id": entry.undoes.id, "undone_by": batch_id}
        for entry, batch_id in zip(entries, batch_ids, strict=True)
        if entry.undoes is not None
    ]
    if undone:
        this_row = batch.c.id == sa.bindparam("own_id")
        connection.execute(sa.update(batch).where(this_row), undone)


def find_batches(
    connection: Connection, project_id: int, keys: Sequence[str]
) -> dict[str, BatchRecord]:
    """Return the actions that were recorded under these keys."""
    query = sa.select(batch).where(batch.c.project_id == project_id, batch.c.key.in_(keys))
    return {row.key: record_of(BatchRecord, row) for row in connection.execute(query)}


@dataclass(frozen=True, slots=True)
class Reversal:
    """What takes an action back: an undo, or the redo of one.

    Attributes:
        target: The action that is taken back.
        changes: Its changes backwards, without what others need by now.
        erasures: Number of the project's erasures when these were computed.
    """

    target: BatchRecord
    action: Action
    changes: list[Change]
    erasures: int = 0


def undo(
    connection: Connection,
    project_id: int,
    actor: str,
    of: str | None = None,
    key: str | None = None,
) -> BatchRecord | None:
    """Undo an action by compensating events; None when there is nothing to undo.

    `of` is the action's key; None is the newest that was not undone. `key` is that of the undo
    itself, so that a repeated request undoes once. What others need by now stays (`backwards`).

    Raises:
        Conflict: A row that the action changed was changed since, all its texts were erased, or
            others need all of it.
    """
    action = Action("undo", actor) if key is None else Action("undo", actor, key=key)
    return _reverse(connection, project_id, undoable(connection, project_id, of), action)


def undoable(connection: Connection, project_id: int, of: str | None = None) -> BatchRecord | None:
    """Return the action that `undo` would undo next; `of` is a key as there."""
    if of is not None:
        return _newest(connection, project_id, sa.and_(_STANDING, batch.c.key == of))
    return _newest_with_texts(connection, project_id, sa.and_(_STANDING, _BY_PEOPLE))


def touched_since(connection: Connection, project_id: int, revision: int) -> set[tuple[str, str]]:
    """Return (subject, id) of everything that changed after a revision."""
    # One row for each kind of subject: the driver gives Python's lock away at each row, and
    # thousands of them a second kept every decision waiting.
    ids = sa.func.json_group_array(event.c.subject_id.distinct())
    query = sa.select(event.c.subject, ids.label("ids")).group_by(event.c.subject)
    query = query.where(event.c.project_id == project_id, event.c.revision > revision)
    rows = connection.execute(query)
    return {(row.subject, key) for row in rows for key in json.loads(row.ids)}


def redo(connection: Connection, project_id: int, actor: str) -> BatchRecord | None:
    """Redo the newest undo; None if there is none, or an action was recorded since."""
    return _reverse(connection, project_id, redoable(connection, project_id), Action("redo", actor))


def redoable(connection: Connection, project_id: int) -> BatchRecord | None:
    """Return the undo that `redo` would take back next."""
    return _newest_with_texts(connection, project_id, _open_undos(connection, project_id))


def _newest_with_texts(
    connection: Connection, project_id: int, which: sa.ColumnElement[bool]
) -> BatchRecord | None:
    """Return the newest action of which not all texts were erased since."""
    if not count_erasures(connection, project_id):
        return _newest(connection, project_id, which)
    has_texts = sa.exists().where(event.c.batch_id == batch.c.id, ~is_erased(project_id))
    return _newest(connection, project_id, sa.and_(which, has_texts))


def _open_undos(connection: Connection, project_id: int) -> sa.ColumnElement[bool]:
    last = _newest(connection, project_id, sa.and_(batch.c.undoes.is_(None), _BY_PEOPLE))
    since = 0 if last is None else last.id
    return sa.and_(
        batch.c.undone_by.is_(None), batch.c.verb == "undo", _CHANGED_SOMETHING, batch.c.id > since
    )


def _reverse(
    connection: Connection, project_id: int, target: BatchRecord | None, action: Action
) -> BatchRecord | None:
    again = find_batch(connection, project_id, action.key)
    if again is not None:  # a repeated request returns what the first undid
        return _newest(connection, project_id, batch.c.id == again.undoes)
    if target is None:
        return None
    reversal = reversal_of(connection, project_id, target, action)
    record(connection, project_id, action, reversal.changes)
    close_reversal(connection, project_id, reversal)
    return target


def reversal_of(
    connection: Connection, project_id: int, target: BatchRecord, action: Action
) -> Reversal:
    """Compute what takes an action back; nothing is written.

    Raises:
        Conflict: All its texts were erased, or others need all of it.
    """
    changes = backwards(connection, project_id, target, changes_of(connection, target.id))
    if not changes and undoable(connection, project_id) != target:
        raise Conflict(
            "Others have gone on from this since, so nothing is taken back.",
            "Look at it on the Data page, and change it there.",
        )
    return Reversal(target, action, changes, count_erasures(connection, project_id))


def close_reversal(connection: Connection, project_id: int, reversal: Reversal) -> None:
    """Note which action a recorded reversal took back."""
    target = reversal.target
    done = sa.select(batch.c.id).where(
        batch.c.project_id == project_id, batch.c.key == reversal.action.key
    )
    done_id = connection.execute(done).scalar_one()
    connection.execute(sa.update(batch).where(batch.c.id == done_id).values(undoes=target.id))
    connection.execute(sa.update(batch).where(batch.c.id == target.id).values(undone_by=done_id))
    if reversal.action.verb == "redo" and target.undoes is not None:
        stands = sa.update(batch).where(batch.c.id == target.undoes)
        connection.execute(stands.values(undone_by=None))


def is_undone(connection: Connection, target: BatchRecord) -> bool:
    """Whether an action was taken back meanwhile."""
    query = sa.select(batch.c.undone_by).where(batch.c.id == target.id)
    return connection.execute(query).scalar_one() is not None


def size_of(connection: Connection, batch_id: int) -> int:
    """Return the number of changes of an action."""
    query = sa.select(sa.func.count()).where(event.c.batch_id == batch_id)
    return int(connection.execute(query).scalar_one())


def _newest(
    connection: Connection, project_id: int, which: sa.ColumnElement[bool]
) -> BatchRecord | None:
    query = sa.select(batch).where(batch.c.project_id == project_id, which, _CHANGED_SOMETHING)
    row = connection.execute(query.order_by(batch.c.id.desc()).limit(1)).first()
    return None if row is None else record_of(BatchRecord, row)


def _append(
    connection: Connection, project_id: int, batch_id: int, changes: Sequence[Change]
) -> int:
    first = _allocate(connection, project_id, len(changes))
    _write(connection, project_id, first, [batch_id] * len(changes), changes)
    return first + len(changes) - 1


def _allocate(connection: Connection, project_id: int, n_changes: int) -> int:
    """Return the first of as many new revisions."""
    # Allocating by UPDATE orders revisions by commit on every database; a sequence would not.
    grow = sa.update(project).where(project.c.id == project_id)
    grow = grow.values(head_revision=project.c.head_revision + n_changes)
    last = connection.execute(grow.returning(project.c.head_revision)).scalar_one()
    return int(last) - n_changes + 1


def _write(
    connection: Connection,
    project_id: int,
    first: int,
    batch_ids: Sequence[int],
    changes: Sequence[Change],
) -> None:
    """Write changes, the first of which has revision `first`, as events, and apply them."""
    rows = [
        {
            "project_id": project_id,
            "revision": first + place,
            "batch_id": batch_id,
            "subject": change.subject,
            "subject_id": change.subject_id,
            "field": change.field,
            "before": change.before,
            "after": change.after,
        }
        for place, (batch_id, change) in enumerate(zip(batch_ids, changes, strict=True))
    ]
    connection.execute(sa.insert(event), rows)
    bring_up(connection, project_id, first, changes)


def _check_revision(connection: Connection, project_id: int, expected: int) -> None:
    newest = head(connection, project_id)
    if expected > newest:
        raise InvalidInput(f"Revision {expected} does not exist yet.", "Reload the project.")
    if newest != expected:
        raise Conflict(
            f"The project has moved on from revision {expected} to {newest}.",
            "Reload and try again.",
        )


def change_of(row: Row[Any]) -> Change:
    """Make a change from a row of the log."""
    return Change(row.subject, row.subject_id, row.field, row.before, row.after)
