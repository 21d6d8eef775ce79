"""Changes that wait in a file of their own, and join the log in one short transaction."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.text import text_hash
from storage import projects
from storage.database import Database, scratch_database
from storage.log import edits, events
from storage.log.apply import bring_up, refuse_lost
from storage.log.events import Action, Reversal
from storage.queries import dataset
from storage.records import UNMARKED, Change
from storage.tables import project

_Ended = TypeVar("_Ended")

_TOGETHER = 2_000
_MANY = 5_000
"""Changes after which the write-ahead log is emptied, about 4 MB of it."""

_JSON_FIELDS = ("labels", "slots")
_EDITED_FIELDS = (
    *("labels", "split", "skipped", "flagged", "text", "text_hash", "slots", "source", "beside"),
)

_SCHEMA = """
CREATE TABLE change (seq INTEGER PRIMARY KEY, subject, subject_id, field, before, after);
CREATE TABLE fresh (id TEXT PRIMARY KEY, text, text_hash, split, source, labels, skipped, flagged,
                    slots, synthetic, beside, seq) WITHOUT ROWID;
CREATE TABLE edited (field TEXT, id TEXT, value, PRIMARY KEY (field, id)) WITHOUT ROWID;
CREATE TABLE gone (id TEXT PRIMARY KEY) WITHOUT ROWID;
"""
_SEAL = """
CREATE TABLE touched (id TEXT PRIMARY KEY, last INTEGER) WITHOUT ROWID;
INSERT INTO touched SELECT subject_id, max(seq) FROM change
    WHERE subject = 'utterance' AND field <> 'row' GROUP BY subject_id;
CREATE TABLE sorted AS SELECT fresh.*, coalesce(last, seq) AS last
    FROM fresh LEFT JOIN touched USING (id) ORDER BY text_hash;
CREATE INDEX change_of ON change (subject_id);
"""
_EVENTS = """
INSERT INTO event (project_id, revision, batch_id, subject, subject_id, field, before, after)
SELECT :project, :base + seq, :batch, subject, subject_id, field, before, after
FROM staged.change ORDER BY seq
"""
_GONE = """
DELETE FROM utterance WHERE project_id = :project AND id IN (SELECT id FROM staged.gone)
"""
_ROWS = """
INSERT INTO utterance (project_id, id, text, text_hash, split, source, labels, skipped, flagged,
                       slots, synthetic, beside, added_revision, touched_revision)
SELECT :project, id, text, text_hash, split, source, labels, skipped, flagged, slots, synthetic,
       beside, :base + seq, :base + last
FROM staged.sorted ORDER BY rowid
"""
_EDITS = """
UPDATE utterance SET {field} = edited.value, touched_revision = :base + touched.last
FROM staged.edited AS edited JOIN staged.touched AS touched USING (id)
WHERE edited.field = '{field}' AND utterance.project_id = :project AND utterance.id = edited.id
"""
_TEXT_IS_THERE = """
SELECT 1 FROM utterance JOIN staged.fresh AS fresh
ON fresh.text_hash = utterance.text_hash OR fresh.id = utterance.id
WHERE utterance.project_id = :project AND utterance.touched_revision > :seen LIMIT 1
"""
_LABELS = """
SELECT labels FROM staged.fresh WHERE labels IS NOT NULL
UNION SELECT value FROM staged.edited WHERE field = 'labels' AND value IS NOT NULL
"""
_NAMED_SINCE = """
SELECT DISTINCT one.value
FROM event, json_each(json_array(json(event.before), json(event.after))) AS side,
    json_each(side.value, iif(event.field = 'row', '$.labels', '$')) AS one
WHERE event.project_id = :project AND event.revision > :seen AND event.subject = 'utterance'
    AND event.field IN ('labels', 'row') AND side.type IN ('array', 'object')
"""


@dataclass(slots=True)
class StagedChanges:
    """Changes of one action, computed from the project at a revision.

    Attributes:
        file: An SQLite database of its own.
        seen: The project's revision from which the changes were computed.
        labels: Ids of the intents that they label with; computed while the file is filled.
        intents: Changes of intents, in order.
        count: Number of changes.
    """

    file: Path
    seen: int
    labels: set[str]
    intents: list[Change] = field(default_factory=list)
    count: int = 0

    def fill(self, changes: Iterable[Change]) -> None:
        """Write all changes into the file, which nobody else opens meanwhile."""
        with scratch_database(self.file) as raw:
            raw.executescript(_SCHEMA)
            raw.execute("BEGIN")
            waiting: list[Change] = []
            for change in changes:
                waiting.append(change)
                if len(waiting) == _TOGETHER:
                    self._write(raw, waiting)
                    waiting = []
            self._write(raw, waiting)
            raw.execute("COMMIT")
            raw.executescript(_SEAL)

    def _write(self, raw: Any, changes: Sequence[Change]) -> None:
        raw.executemany(
            "INSERT INTO change VALUES (?, ?, ?, ?, ?, ?)",
            [
                (place, c.subject, c.subject_id, c.field, _json(c.before), _json(c.after))
                for place, c in enumerate(changes, start=self.count + 1)
            ],
        )
        for place, change in enumerate(changes, start=self.count + 1):
            if change.subject == "intent":
                self.intents.append(change)
            elif change.removes:
                self._delete(raw, change.subject_id)
            elif change.field == "row":
                row = _fresh(change, place)
                raw.execute(f"INSERT INTO fresh VALUES ({', '.join('?' * len(row))})", row)
            else:
                self._edit(raw, change)
        self.count += len(changes)

    def _edit(self, raw: Any, change: Change) -> None:
        name, value = change.field, change.after
        stored = {name: _json(value) if name in _JSON_FIELDS else value}
        if name == "text":
            stored["text_hash"] = text_hash(value)
        key = change.subject_id
        for column, content in stored.items():
            same = raw.execute(f"UPDATE fresh SET {column} = ? WHERE id = ?", (content, key))
            if not same.rowcount:
                raw.execute(
                    "INSERT OR REPLACE INTO edited VALUES (?, ?, ?)", (column, key, content)
                )

    def _delete(self, raw: Any, key: str) -> None:
        if not raw.execute("DELETE FROM fresh WHERE id = ?", (key,)).rowcount:
            raw.execute("INSERT INTO gone VALUES (?)", (key,))


@dataclass(frozen=True, slots=True)
class Landed:
    """What did not join the log: texts that changed since, and their changes by field."""

    texts: int
    left_out: Mapping[str, int]


def land(
    database: Database,
    project_id: int,
    action: Action,
    staged: StagedChanges,
    end: Callable[[Connection, Landed], _Ended],
) -> _Ended | None:
    """Append staged changes to the log, apply them, and call `end`, in one transaction.

    Utterances that changed since the changes were computed keep what they have. Returns what `end`
    returns, or None, with nothing written, if the changes must be computed anew: an intent that
    they use was changed, or one of their new texts was added.

    Raises:
        NotFound: The project was deleted meanwhile.
    """
    with database.write_beside(staged.file) as connection:
        projects.get_open(connection, project_id)
        touched = events.touched_since(connection, project_id, staged.seen)
        if touched and _must_restart(connection, project_id, staged, touched):
            return None
        landed = _leave_out(connection, [key for kind, key in touched if kind == "utterance"])
        join_staged(connection, project_id, action, staged)
        ended = end(connection, landed)
    if staged.count > _MANY:
        database.empty_log()
    return ended


def land_whole(
    database: Database, project_id: int, staged: StagedChanges, act: Action | Reversal
) -> bool:
    """Append staged changes to the log and apply them, all of them in one transaction, or none.

    An action whose key is in the log already changes nothing. Returns False, with nothing written,
    if the changes must be computed anew: something that they use was changed since.

    Raises:
        NotFound: The project was deleted meanwhile.
    """
    action = act.action if isinstance(act, Reversal) else act
    with database.write_beside(staged.file) as connection:
        projects.get_open(connection, project_id)
        if events.find_batch(connection, project_id, action.key) is not None:
            return True
        if isinstance(act, Reversal) and _is_outdated(connection, project_id, act):
            return False
        touched = events.touched_since(connection, project_id, staged.seen)
        if touched and (
            _must_restart(connection, project_id, staged, touched)
            or _changes_touched(connection, project_id, staged, touched)
        ):
            return False
        join_staged(connection, project_id, action, staged)
        if isinstance(act, Reversal):
            events.close_reversal(connection, project_id, act)
    if staged.count > _MANY:
        database.empty_log()
    return True


def join_staged(
    connection: Connection, project_id: int, action: Action, staged: StagedChanges
) -> None:
    """Append all staged changes to an action, and apply them; see `Database.write_beside`.

    An action that is in the log already gets them behind those that it has.

    Raises:
        Conflict: A name is taken, or an intent that texts would carry afterwards is not there.
    """
    begun = events.find_batch(connection, project_id, action.key)
    batch_id = begun.id if begun else events.open_batch(connection, project_id, action)
    grow = sa.update(project).where(project.c.id == project_id)
    grow = grow.values(head_revision=project.c.head_revision + staged.count)
    head = connection.execute(grow.returning(project.c.head_revision)).scalar_one()
    places = {"project": project_id, "base": head - staged.count, "batch": batch_id}
    edits = (_EDITS.format(field=name) for name in _EDITED_FIELDS)
    for statement in (_EVENTS, _GONE, _ROWS, *edits):
        connection.exec_driver_sql(statement, places)
    # An intent can be deleted when no text carries it any more.
    for is_last in (False, True):
        changes = [change for change in staged.intents if change.removes is is_last]
        if changes:
            bring_up(connection, project_id, head, changes)
    given = connection.exec_driver_sql(_LABELS).scalars()
    refuse_lost(connection, project_id, {key for labels in given for key in json.loads(labels)})
    events.close_batch(connection, batch_id, head)


def _is_outdated(connection: Connection, project_id: int, act: Reversal) -> bool:
    """Whether its action was taken back meanwhile, or a text erased that it may bring back."""
    erasures = edits.count_erasures(connection, project_id)
    return erasures != act.erasures or events.is_undone(connection, act.target)


def _changes_touched(
    connection: Connection, project_id: int, staged: StagedChanges, touched: set[tuple[str, str]]
) -> bool:
    """Whether something that was changed since is changed, or named an intent to be put away."""
    for _, key in touched:
        one = "SELECT 1 FROM staged.change WHERE subject_id = ? LIMIT 1"
        if connection.exec_driver_sql(one, (key,)).first() is not None:
            return True
    # Also one that a text lost again: whoever takes that back gives it to the text once more.
    away = {c.subject_id for c in staged.intents if c.removes or _archives(c)}
    if not away:
        return False
    places = {"project": project_id, "seen": staged.seen}
    named = connection.exec_driver_sql(_NAMED_SINCE, places).scalars()
    return not away.isdisjoint(named)


def _must_restart(
    connection: Connection, project_id: int, staged: StagedChanges, touched: set[tuple[str, str]]
) -> bool:
    """Whether an intent that the changes use was changed, or one of their new texts was added."""
    ids = {key for kind, key in touched if kind == "intent"}
    new = {c.after["name"] for c in staged.intents if c.field == "row" and c.after is not None}
    names = {record.name for record in dataset.intents(connection, project_id) if record.id in ids}
    if ids & staged.labels or names & new:
        return True
    places = {"project": project_id, "seen": staged.seen}
    return connection.exec_driver_sql(_TEXT_IS_THERE, places).first() is not None


def _leave_out(connection: Connection, ids: Sequence[str]) -> Landed:
    """Remove the changes of utterances that changed since from those that wait."""
    left_out: Counter[str] = Counter()
    texts = 0
    for key in ids:
        fields = connection.exec_driver_sql(
            "DELETE FROM staged.edited WHERE id = ? RETURNING field", (key,)
        )
        names = [row.field for row in fields]
        texts += bool(names)
        left_out.update(names)
        if names:
            connection.exec_driver_sql("DELETE FROM staged.change WHERE subject_id = ?", (key,))
    return Landed(texts, left_out)


def _archives(change: Change) -> bool:
    return change.field == "archived" and bool(change.after)


def _fresh(change: Change, seq: int) -> tuple[Any, ...]:
    row = UNMARKED | change.after
    return (
        *(change.subject_id, row["text"], text_hash(row["text"]), row["split"], row["source"]),
        *(_json(row["labels"]), row["skipped"], row["flagged"], _json(row["slots"])),
        *(row["synthetic"], row["beside"], seq),
    )


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False, allow_nan=False)
