"""Build the log's changes for edits of utterances and intents."""

import json
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.errors import Conflict, InvalidInput
from core.lookalikes import differing_sign, lookalike
from core.templates.moved_slots import carried
from core.templates.slots import Slot, SlottedText, slotted
from core.text import is_storable
from core.types import Split
from storage.log.apply import differs
from storage.log.slot_rules import refuse_row
from storage.queries import dataset, utterances
from storage.queries.utterances import Filter
from storage.records import (
    BatchRecord,
    Change,
    IntentRecord,
    UtteranceRecord,
    row_of,
    stored_slots,
)
from storage.tables import batch, erasure, event, intent, utterance

_LONGEST_NOTE = 500
_GIVES_LABELS = event.c.field.in_(("labels", "row"))


def create_intent(name: str, description: str = "", color: str = "", position: int = 0) -> Change:
    """Return the change that creates an intent.

    Raises:
        InvalidInput: The name is empty or too long, or the description cannot be stored.
    """
    check_intent_name(name)
    check_description(description)
    row = {
        "name": name,
        "description": description,
        "color": color,
        "position": position,
        "archived": 0,
    }
    return Change("intent", uuid.uuid4().hex, "row", None, row)


def check_intent_name(name: str) -> None:
    """Raise `InvalidInput` for a name that is empty, too long, or not storable."""
    if not name.strip() or len(name) > 200 or not is_storable(name):
        raise InvalidInput(f"'{name[:200]}' cannot name an intent.", "Use 1 to 200 characters.")


def check_look(name: str, others: Iterable[IntentRecord]) -> None:
    """Refuse a name that people would take for that of another intent.

    Raises:
        Conflict: It differs from another name only by signs that look the same.
    """
    twin = lookalike(name, [other.name for other in others])
    if twin is not None:
        raise Conflict(
            f"'{name}' looks like the intent '{twin}', but is another name: one of the two has a "
            f"{differing_sign(name, twin)}.",
            "Use the intent that is there, or choose a name that people can tell from it.",
        )


def check_description(description: str) -> None:
    """Raise `InvalidInput` for a description with characters that a database cannot store."""
    if not is_storable(description):
        raise InvalidInput(
            f"'{description[:40]}' cannot describe an intent.", "Type it anew: a sign is broken."
        )


def check_note(note: str) -> None:
    """Raise `InvalidInput` for a flag's note that is too long or not storable."""
    if len(note) > _LONGEST_NOTE or not is_storable(note):
        raise InvalidInput(
            f"'{note[:40]}' cannot be a note.", f"Write up to {_LONGEST_NOTE:,} characters."
        )


def create_utterance(
    key: str, text: str, split: Split, source: str, labels: Sequence[str] | None
) -> Change:
    """Return the change that adds an utterance; `labels` are intent ids."""
    chosen = None if labels is None else tuple(sorted(set(labels)))
    return create(UtteranceRecord(key, text, split, source, chosen, skipped=False, flagged=""))


def create(record: UtteranceRecord) -> Change:
    """Return the change that adds an utterance with its slots.

    Raises:
        InvalidInput: A synthetic utterance is in the test split, or its slots do not fit its text.
    """
    row = row_of(record)
    refuse_row(row)
    return Change("utterance", record.id, "row", None, row)


def mark(record: UtteranceRecord, slots: Iterable[Slot]) -> Change:
    """Return the change that replaces all marked values of an utterance.

    Raises:
        InvalidInput: A slot does not fit the text; it is named.
    """
    after = slotted(record.text, slots).slots
    before = stored_slots(record.slots)
    return Change("utterance", record.id, "slots", before, stored_slots(after))


def reword(record: UtteranceRecord, text: str) -> list[Change]:
    """Return the changes that give an utterance another text and move its slots.

    The slots are removed before the text changes and added after it, so that they always fit.
    """
    change = edit(record, "text", text)
    if not record.slots:
        return [change]
    bare = replace(record, text=text, slots=())
    kept = carried(SlottedText(record.text, record.slots), text).slots
    return [mark(record, ()), change, *([mark(bare, kept)] if kept else [])]


def label(record: UtteranceRecord, labels: Sequence[str] | None) -> Change:
    """Return the change that labels an utterance; None removes its label."""
    before = None if record.labels is None else list(record.labels)
    return Change(
        "utterance", record.id, "labels", before, None if labels is None else sorted(set(labels))
    )


def decide(record: UtteranceRecord, labels: Sequence[str]) -> list[Change]:
    """Return the changes of a person's decision; a text of the pool moves to the training split."""
    chosen = tuple(sorted(set(labels)))
    changes = [] if record.labels == chosen else [label(record, chosen)]
    if record.split == "pool":
        changes.append(edit(record, "split", "train"))
    if record.skipped:
        changes.append(edit(record, "skipped", value=False))
    return changes


def edit(record: UtteranceRecord | IntentRecord, field: str, value: object) -> Change:
    """Return the change of one attribute: split, flagged, name, description, color, ...

    To change the text of an utterance with slots, use `reword`.
    """
    before = getattr(record, field)
    subject = "intent" if isinstance(record, IntentRecord) else "utterance"
    if isinstance(before, bool):
        before, value = int(before), int(bool(value))
    return Change(subject, record.id, field, before, value)


def delete_utterance(record: UtteranceRecord) -> Change:
    """Return the change that deletes an utterance; the log keeps its row."""
    return Change("utterance", record.id, "row", row_of(record), None)


def rename_intent(connection: Connection, project_id: int, old: str, new: str) -> Change:
    """Return the change that renames an intent; no label changes.

    Raises:
        Conflict: The new name is taken, or looks like that of another intent.
    """
    record = dataset.intent_named(connection, project_id, old)
    intents = dataset.intents(connection, project_id)
    if any(other.name == new for other in intents):
        raise Conflict(f"There is an intent '{new}' already.", "Merge the two, or choose another.")
    check_look(new, [other for other in intents if other.id != record.id])
    return edit(record, "name", new)


def merge_intents(
    connection: Connection, project_id: int, source: str, target: str
) -> list[Change]:
    """Return the changes that move all utterances of `source` to `target` and archive `source`.

    Raises:
        InvalidInput: Both are the same intent.
        NotFound: One of them does not exist.
    """
    gone = dataset.intent_named(connection, project_id, source)
    kept = dataset.intent_named(connection, project_id, target)
    if gone.id == kept.id:
        raise InvalidInput(f"'{source}' cannot be merged into itself.", "Choose another intent.")
    moved = [
        label(record, sorted({kept.id if key == gone.id else key for key in record.labels}))
        for record in utterances.find_all(connection, project_id, Filter(intent_id=gone.id))
        if record.labels is not None
    ]
    archive = [] if gone.archived else [edit(gone, "archived", value=True)]
    restore = [edit(kept, "archived", value=False)] if kept.archived else []
    return [*moved, *archive, *restore]


def split_intent(
    connection: Connection, project_id: int, source: str, new: str, moved: Sequence[str]
) -> list[Change]:
    """Return the changes that move some utterances of an intent to a new intent."""
    record = dataset.intent_named(connection, project_id, source)
    created = create_intent(new, position=record.position + 1)
    changes = [created]
    for key in moved:
        utterance = dataset.utterance_by_id(connection, project_id, key)
        labels = utterance.labels or ()
        swapped = [created.subject_id if name == record.id else name for name in labels]
        changes.append(label(utterance, swapped))
    return changes


def backwards(
    connection: Connection, project_id: int, target: BatchRecord, changes: Sequence[Change]
) -> list[Change]:
    """Return what takes an action's changes back, without what others need by now.

    An intent that it made stays while texts carry it, or get it back by the undo of another action;
    also if it was changed since. Where others labelled since, an intent that it brought back stays
    open, and a text stays outside the pool. Texts that were erased stay away.

    Raises:
        Conflict: There is nothing to take back, because the texts were erased.
    """
    texts = {c.subject_id for c in changes if c.subject == "utterance"}
    gone = erased(connection, project_id, texts)
    left = [c for c in changes if c.subject_id not in gone]
    if gone and not left:
        raise Conflict(
            "This was done with texts that were erased, so it cannot be taken back.",
            "Nothing brings an erased text back.",
        )
    stay = _made_for_others(connection, project_id, target, left)
    stay |= _labelled_by_others(connection, project_id, target, left)
    return [
        Change(c.subject, c.subject_id, c.field, c.after, c.before)
        for c in reversed(left)
        if (c.subject_id, c.field) not in stay
    ]


def erased(connection: Connection, project_id: int, ids: Iterable[str]) -> set[str]:
    """Return which utterances were erased: a tombstone stands in the log for their texts."""
    if not count_erasures(connection, project_id):
        return set()
    some = sa.func.json_each(json.dumps(sorted(ids))).table_valued("value")
    here = event.c.subject_id.in_(sa.select(some))
    query = sa.select(event.c.subject_id).where(here, is_tombstone(project_id, event))
    return set(connection.execute(query).scalars())


def count_erasures(connection: Connection, project_id: int) -> int:
    """Count the erasures: nearly no project has one, and then the log need not be searched."""
    query = sa.select(sa.func.count()).where(erasure.c.project_id == project_id)
    return int(connection.execute(query).scalar_one())


def is_erased(project_id: int) -> sa.ColumnElement[bool]:
    """Whether the subject of an event was erased."""
    row = event.alias()
    same = row.c.subject_id == event.c.subject_id
    return sa.exists().where(same, is_tombstone(project_id, row))


def is_tombstone(project_id: int, rows: sa.FromClause) -> sa.ColumnElement[bool]:
    """Whether events, of the table or an alias of it, have a tombstone for an utterance's text."""
    stones = sa.func.json_each(erasure.c.tombstones).table_valued("value", joins_implicitly=True)
    # Of one project, and not of that of each row: so SQLite collects them once.
    of_project = sa.select(stones.c.value).where(erasure.c.project_id == project_id)
    text = sa.func.json_extract(sa.func.coalesce(rows.c.after, rows.c.before), "$.text")
    told = sa.and_(rows.c.subject == "utterance", rows.c.field == "row")
    return sa.and_(rows.c.project_id == project_id, told, text.in_(of_project))


def _made_for_others(
    connection: Connection, project_id: int, target: BatchRecord, changes: Sequence[Change]
) -> set[tuple[str, str]]:
    """Return (id, `row`) of the intents that an action made and that others need by now."""
    made = {c.subject_id: c.after for c in changes if c.subject == "intent" and _makes(c)}
    if not made:
        return set()
    here = sa.select(intent).where(intent.c.project_id == project_id)
    rows = {row.id: row._mapping for row in connection.execute(here)}
    texts = {c.subject_id for c in changes if c.subject == "utterance"}
    needed = dataset.intents_with_labels(connection, project_id, without=texts)
    needed |= _come_back(connection, project_id, target)
    changed = {key for key, row in made.items() if key in rows and differs(rows[key], row)}
    return {(key, "row") for key in rows.keys() & made.keys() & (needed | changed)}


def _makes(change: Change) -> bool:
    return change.field == "row" and change.before is None


def _come_back(connection: Connection, project_id: int, target: BatchRecord) -> set[str]:
    """Return the intents that the undo of later actions puts back on texts, or changes."""
    stands = _stands_since(project_id, target)
    both = event.join(batch, batch.c.id == event.c.batch_id)
    changed = sa.select(event.c.subject_id).where(stands, event.c.subject == "intent")
    labels = sa.case((event.c.field == "row", "$.labels"), else_="$")
    each = sa.func.json_each(event.c.before, labels).table_valued("value")
    taken = sa.select(each.c.value).select_from(both.join(each, sa.true()))
    taken = taken.where(stands, event.c.subject == "utterance", _GIVES_LABELS)
    if count_erasures(connection, project_id):
        taken = taken.where(~is_erased(project_id))
    found = connection.execute(changed.select_from(both).distinct()).scalars().all()
    return {*found, *connection.execute(taken.distinct()).scalars()}


def _stands_since(project_id: int, target: BatchRecord) -> sa.ColumnElement[bool]:
    """Whether an event, joined with its action, is of a later action that was not undone."""
    return sa.and_(
        event.c.project_id == project_id,
        event.c.revision > target.last_revision,
        batch.c.undone_by.is_(None),
        batch.c.undoes.is_(None),
    )


def _labelled_by_others(
    connection: Connection, project_id: int, target: BatchRecord, changes: Sequence[Change]
) -> set[tuple[str, str]]:
    """Return (id, field) of what an action changed and others have labelled on since.

    These are intents that it brought back, and texts that it took out of the pool: there a label
    would be of no example, and the text would not wait for one.
    """
    texts = {c.subject_id for c in changes if c.subject == "utterance"}
    own = {c.subject_id for c in changes if c.field == "labels"}
    opened = {c.subject_id for c in changes if c.field == "archived" and c.before}
    moved = {c.subject_id for c in changes if c.field == "split" and c.before == "pool"} - own
    if not opened and not moved:
        return set()
    # By one look at the later log: asked for each text, SQLite would read half of it every time.
    both = event.join(batch, batch.c.id == event.c.batch_id)
    given = sa.select(event.c.subject_id).select_from(both)
    given = given.where(
        _stands_since(project_id, target), event.c.subject == "utterance", _GIVES_LABELS
    )
    touched = utterance.c.touched_revision > target.last_revision
    query = sa.select(utterance.c.id, utterance.c.labels).where(
        utterance.c.project_id == project_id,
        touched,
        utterance.c.labels.is_not(None),
        utterance.c.id.in_(given),
    )
    since = {row.id: row.labels for row in connection.execute(query)}
    carried = {key for text, labels in since.items() if text not in texts for key in labels}
    open_still = {(key, "archived") for key in opened & carried}
    return open_still | {(key, "split") for key in moved & since.keys()}
