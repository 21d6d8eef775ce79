"""Dataset versions, and the data at any revision; creating a version copies no data."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.errors import NotFound, StudioError
from storage.log import events
from storage.log.diff import DatasetDiff, diff_states
from storage.log.events import change_of
from storage.log.replay import SCHEME, State, canonical_hash, replay
from storage.queries import dataset, utterances
from storage.records import (
    Change,
    DatasetVersionRecord,
    ModelVersionRecord,
    ProjectRecord,
    UtteranceRecord,
    now,
    record_of,
)
from storage.tables import batch, dataset_version, event, utterance

_SHOWN = 3
_UNREADABLE = (KeyError, TypeError, ValueError, StudioError)
"""Raised by a log in which an event is missing or is not what was written."""
_TELLING = ("row", "text", "labels", "split")
"""Fields of an utterance by which it tests a model."""
_MAKES_TEXT = sa.and_(event.c.field == "row", event.c.before.is_(None))

TestedText = tuple[str, tuple[str, ...]]
"""Text and sorted intent ids of a labelled test text."""


def cut(connection: Connection, project: ProjectRecord, message: str) -> DatasetVersionRecord:
    """Create a version of the current data; return the newest one if nothing changed since."""
    newest = latest(connection, project.id)
    revision = events.head(connection, project.id)
    if newest is not None and newest.revision == revision:
        return newest
    names = dataset.intent_names(connection, project.id)
    rows = list(dataset.utterances(connection, project.id))
    number = 1 if newest is None else newest.number + 1
    values = {
        "project_id": project.id,
        "number": number,
        "revision": revision,
        "scheme": SCHEME,
        "sha256": canonical_hash(rows, names),
        "n_rows": len(rows),
        "message": message,
        "parent_id": None if newest is None else newest.id,
        "created_at": now(),
    }
    connection.execute(sa.insert(dataset_version).values(values))
    return find(connection, project.id, number)


def latest(connection: Connection, project_id: int) -> DatasetVersionRecord | None:
    """Return the newest version, or None."""
    records = list_all(connection, project_id)
    return records[-1] if records else None


def list_all(connection: Connection, project_id: int) -> list[DatasetVersionRecord]:
    """Return all versions, oldest first."""
    query = sa.select(dataset_version).where(dataset_version.c.project_id == project_id)
    rows = connection.execute(query.order_by(dataset_version.c.number))
    return [record_of(DatasetVersionRecord, row) for row in rows]


def is_whole(state: State, version: DatasetVersionRecord) -> bool:
    """Whether the data at a version's revision have its SHA-256, in the version's scheme."""
    names = {record.id: record.name for record in state.intent_records()}
    sha256 = canonical_hash(state.utterance_records(), names, version.scheme)
    return sha256 == version.sha256


def find(connection: Connection, project_id: int, number: int) -> DatasetVersionRecord:
    """Return one version by its number, or raise `NotFound`."""
    records = list_all(connection, project_id)
    for record in records:
        if record.number == number:
            return record
    known = f"Versions go from 1 to {records[-1].number}." if records else ""
    hint = known or "Training cuts the first one."
    raise NotFound(f"There is no dataset version {number}.", hint)


def get(connection: Connection, version_id: int) -> DatasetVersionRecord:
    """Return one version by its id, or raise `NotFound`."""
    query = sa.select(dataset_version).where(dataset_version.c.id == version_id)
    row = connection.execute(query).first()
    if row is None:
        raise NotFound("The dataset version is gone.", "Train again from the current data.")
    return record_of(DatasetVersionRecord, row)


def learned_at(connection: Connection, version: ModelVersionRecord) -> int:
    """Return the revision that a model version was trained on; 0 if unknown."""
    if version.dataset_version_id is None:
        return 0
    return get(connection, version.dataset_version_id).revision


def has_newer_labels(connection: Connection, project_id: int, older: int, newer: int) -> bool:
    """Whether a text outside the test set got a label, or another one, between two revisions.

    What was taken back by the second revision is none; False where `newer` is not the later one.
    """
    if newer <= older:
        return False
    first, last = states_between(connection, project_id, older, newer)
    return any(
        label != _taught(first, key) for key in last.utterances if (label := _taught(last, key))
    )


def _taught(state: State, key: str) -> tuple[str, tuple[str, ...]] | None:
    """Return text and labels of an utterance that a training learns; None for others."""
    row = state.utterances.get(key)
    if row is None or row["labels"] is None or row["split"] == "test":
        return None
    return row["text"], tuple(sorted(row["labels"]))


def tests_before(
    connection: Connection, project_id: int, revision: int
) -> dict[str, TestedText | None]:
    """Return which labelled test texts the utterances changed after a revision were at it, by id.

    None: it was none. Texts that were in no test set at the revision or since are left out. A merge
    of intents counts as made by then where it relabelled the text.
    """
    then = _fields_before(connection, project_id, revision)
    left = sorted(key for key, known in then.items() if known is not None)
    now = utterances.by_ids(connection, project_id, left)
    found: dict[str, TestedText | None] = {}
    for key, known in then.items():
        row = {**_told(now.get(key)), **(known or {})}
        labels = row.get("labels") if row.get("split") == "test" else None
        found[key] = None if labels is None else (str(row.get("text")), tuple(sorted(labels)))
    return found


def _told(record: UtteranceRecord | None) -> dict[str, Any]:
    if record is None:
        return {}
    return {"text": record.text, "labels": record.labels, "split": record.split}


def _fields_before(
    connection: Connection, project_id: int, revision: int
) -> dict[str, dict[str, Any] | None]:
    """Return the fields changed after a revision as they were; None: the text was not there."""
    born = _made_after(connection, project_id, revision)
    query = sa.select(event).where(
        _of_texts(project_id, revision),
        sa.not_(_MAKES_TEXT),
        event.c.field.in_(_TELLING),
        event.c.subject_id.in_(_tests_since(project_id, revision)),
    )
    merges = _merges_after(connection, project_id, revision)
    found: dict[str, dict[str, Any] | None] = {}
    for row in connection.execute(query.order_by(event.c.revision)):
        is_new = born.get(row.subject_id, row.revision) < row.revision
        known = found.setdefault(row.subject_id, None if is_new else {})
        if known is None:
            continue
        if row.field == "row":
            found[row.subject_id] = {**row.before, **known}
        elif row.batch_id in merges and known.get("labels", row.before) == row.before:
            known["labels"] = row.after
        else:
            known.setdefault(row.field, row.before)
    return {**dict.fromkeys(born), **found}


def _made_after(connection: Connection, project_id: int, revision: int) -> dict[str, int]:
    """Return the first revision after another at which each test text was made, by id."""
    # One row, as in `events.touched_since`: an import makes thousands of texts.
    pair = sa.func.json_array(event.c.subject_id, event.c.revision)
    query = sa.select(sa.func.json_group_array(pair)).where(
        _of_texts(project_id, revision),
        _MAKES_TEXT,
        event.c.subject_id.in_(_tests_since(project_id, revision)),
    )
    pairs = json.loads(connection.execute(query).scalar_one())
    return dict(sorted(pairs, key=lambda one: -one[1]))


def _tests_since(project_id: int, revision: int) -> sa.CompoundSelect[Any]:
    """Select the ids of texts that are in the test set, or left it after a revision."""
    of_row = sa.func.json_extract(event.c.before, "$.split")
    left = sa.or_(
        sa.and_(event.c.field == "split", event.c.before == "test"),
        sa.and_(event.c.field == "row", of_row == "test"),
    )
    there = sa.and_(utterance.c.project_id == project_id, utterance.c.split == "test")
    return sa.union(
        sa.select(utterance.c.id).where(there),
        sa.select(event.c.subject_id).where(_of_texts(project_id, revision), left),
    )


def _of_texts(project_id: int, revision: int) -> sa.ColumnElement[bool]:
    return sa.and_(
        event.c.project_id == project_id,
        event.c.subject == "utterance",
        event.c.revision > revision,
    )


def _merges_after(connection: Connection, project_id: int, revision: int) -> set[int]:
    """Return the ids of the merges of intents after a revision, and of what took them back."""
    query = sa.select(batch.c.id, batch.c.verb, batch.c.undoes).where(
        batch.c.project_id == project_id,
        batch.c.last_revision > revision,
        sa.or_(batch.c.verb == "merge", batch.c.undoes.is_not(None)),
    )
    found = set[int]()
    for row in connection.execute(query.order_by(batch.c.id)):
        if row.verb == "merge" or row.undoes in found:
            found.add(row.id)
    return found


def state_at(connection: Connection, project_id: int, revision: int) -> State:
    """Rebuild the project's data at any revision."""
    return replay(changes_up_to(connection, project_id, revision))


def states_between(
    connection: Connection, project_id: int, older: int, newer: int
) -> tuple[State, State]:
    """Rebuild the data at two revisions, reading the log once."""
    low, high = sorted((older, newer))
    state = state_at(connection, project_id, low)
    first = state.part(state.utterances)
    last = replay(changes_up_to(connection, project_id, high, after=low), state)
    return (first, last) if older <= newer else (last, first)


def successive_diffs(connection: Connection, project_id: int) -> list[DatasetDiff]:
    """Return what each version changed since the previous one; the first, since the empty project.

    The log is read once, and only rows with changes in an interval are compared.
    """
    state, at, diffs = State(), 0, []
    for version in list_all(connection, project_id):
        changes = list(changes_up_to(connection, project_id, version.revision, after=at))
        touched = {change.subject_id for change in changes}
        before = state.part(touched)
        replay(changes, state)
        diffs.append(diff_states(before, state.part(touched)))
        at = version.revision
    return diffs


def changes_up_to(
    connection: Connection, project_id: int, revision: int, after: int = 0
) -> Iterable[Change]:
    """Stream every change after revision `after`, up to and including `revision`, in order."""
    query = (
        sa.select(event)
        .where(event.c.project_id == project_id, event.c.revision.between(after + 1, revision))
        .order_by(event.c.revision)
    )
    for row in connection.execution_options(yield_per=2_000).execute(query):
        yield change_of(row)


def intent_ids_at(connection: Connection, project_id: int, revision: int) -> dict[str, str]:
    """Map intent names to ids as of a revision."""
    query = sa.select(event.c.subject_id, event.c.field, event.c.after).where(
        event.c.project_id == project_id,
        event.c.subject == "intent",
        event.c.revision <= revision,
        event.c.field.in_(("row", "name")),
    )
    names: dict[str, str] = {}
    for key, changed, after in connection.execute(query.order_by(event.c.revision)):
        if after is None:
            names.pop(key, None)
        else:
            names[key] = after["name"] if changed == "row" else after
    return {name: key for key, name in names.items()}


def differences(connection: Connection, project: ProjectRecord) -> list[str]:
    """Compare texts, intents, the last event and the data versions with the log, in words."""
    name = f"'{project.name}'"
    newest = sa.select(sa.func.max(event.c.revision)).where(event.c.project_id == project.id)
    last, head = connection.execute(newest).scalar() or 0, project.head_revision
    # Revisions have gaps: an import leaves out rows that somebody labelled while it was computed.
    found = [f"{name}: the log ends at revision {last}, after {head}"] if last > head else []
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
    for version in list_all(connection, project.id):
        until = version.revision
        replay(changes_up_to(connection, project.id, until, after=at), state)
        at = until
        if not is_whole(state, version):
            changed.append(version.number)
    newest = project.head_revision
    replay(changes_up_to(connection, project.id, newest, after=at), state)
    return state, changed


def _unlike(rows: Mapping[str, Any], by_log: Mapping[str, Any], called: str) -> list[str]:
    keys = [key for key in sorted({*rows, *by_log}) if rows.get(key) != by_log.get(key)]
    return [str(getattr(rows.get(key) or by_log[key], called)) for key in keys]
