"""Apply changes to the current rows of a project, or refuse them."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.errors import Conflict
from core.text import text_hash
from storage.log.slot_rules import refuse_change, refuse_row
from storage.queries import dataset
from storage.records import UNMARKED, Change
from storage.tables import intent, utterance

_TABLES = {"utterance": utterance, "intent": intent}

_TOGETHER = 10_000
"""Changes in one statement; SQLite takes about 32,000 values in one."""


def bring_up(
    connection: Connection, project_id: int, first: int, changes: Sequence[Change]
) -> None:
    """Apply changes of the log, the first of which has revision `first`, to the current state.

    Raises:
        Conflict: The state differs from a change's `before`, a name is taken, or an intent that
            texts would carry afterwards is not there.
    """
    _apply(connection, project_id, first, changes)
    refuse_lost(connection, project_id, given_intents(changes))


def given_intents(changes: Iterable[Change]) -> set[str]:
    """Return the ids of the intents that texts carry after changes of their labels."""
    given = dict[str, Sequence[str]]()
    for change in changes:
        if change.subject != "utterance":
            continue
        if change.field == "row":
            given[change.subject_id] = (change.after or {}).get("labels") or ()
        elif change.field == "labels":
            given[change.subject_id] = change.after or ()
    return {key for labels in given.values() for key in labels}


def refuse_lost(connection: Connection, project_id: int, given: set[str]) -> None:
    """Refuse labels that would name no intent: without its name no text can be learned or written.

    Raises:
        Conflict: One of these intents is not there.
    """
    if not given:
        return
    some = sa.func.json_each(json.dumps(sorted(given))).table_valued("value")
    here = sa.and_(intent.c.project_id == project_id, intent.c.id.in_(sa.select(some)))
    if given - set(connection.execute(sa.select(intent.c.id).where(here)).scalars()):
        raise Conflict("An intent of these labels was deleted meanwhile.", "Reload and try again.")


def _apply(connection: Connection, project_id: int, first: int, changes: Sequence[Change]) -> None:
    """Apply changes; those that allow it in one statement."""
    new = [c for c in changes if c.field == "row" and c.before is None]
    if len(new) == len(changes) and len({c.subject for c in new}) == 1:
        table = _TABLES[new[0].subject]
        rows = [_row(project_id, first + place, change) for place, change in enumerate(changes)]
        _insert(connection, table, rows)
        return
    if changes and all(_is_intent_gone(change) for change in changes):
        _delete_intents(connection, project_id, changes)
        return
    if _apart(changes):
        _apply_together(connection, project_id, first, changes)
        return
    for place, change in enumerate(changes):
        _apply_one(connection, project_id, first + place, change)


def refuse_stale(connection: Connection, project_id: int, changes: Sequence[Change]) -> None:
    """Refuse changes of utterances as `bring_up` would, with nothing written.

    Raises:
        Conflict: The state differs from a change's `before`.
    """
    ids = sorted({c.subject_id for c in changes if c.subject == "utterance"})
    rows: dict[str, dict[str, Any]] = {}
    for start in range(0, len(ids), _TOGETHER):
        chosen = utterance.c.id.in_(ids[start : start + _TOGETHER])
        query = sa.select(utterance).where(utterance.c.project_id == project_id, chosen)
        rows |= {row.id: dict(row._mapping) for row in connection.execute(query)}
    for change in changes:
        if change.subject == "intent":
            continue
        row = rows.get(change.subject_id)
        if change.field == "row" and change.before is None:
            if row is not None:
                raise Conflict("One of the texts is there already.", "Reload and try again.")
            rows[change.subject_id] = UNMARKED | change.after
            continue
        _refuse_changed(connection, project_id, change, row)
        if change.field == "row":
            del rows[change.subject_id]
        else:
            rows[change.subject_id][change.field] = change.after


def _is_intent_gone(change: Change) -> bool:
    return change.subject == "intent" and change.field == "row" and change.before is not None


def _delete_intents(connection: Connection, project_id: int, changes: Sequence[Change]) -> None:
    """Delete many intents; a search for the texts of each took seconds with 100,000 utterances."""
    ids = [change.subject_id for change in changes]
    chosen = sa.and_(intent.c.project_id == project_id, intent.c.id.in_(ids))
    rows = {row.id: row._mapping for row in connection.execute(sa.select(intent).where(chosen))}
    used = dataset.intents_with_labels(connection, project_id)
    for change in changes:
        row = rows.get(change.subject_id)
        if row is None:
            raise Conflict("The intent was deleted meanwhile.", "Reload and try again.")
        _refuse_delete(change, row, is_used=change.subject_id in used)
    connection.execute(sa.delete(intent).where(chosen))


def _apart(changes: Sequence[Change]) -> bool:
    """Whether changes of utterances are independent: no two touch the same attribute."""
    deletes = sum(c.field == "row" and c.before is not None for c in changes)
    editable = all(c.subject == "utterance" and (c.field != "row" or c.before) for c in changes)
    # A text and its slots must change in order, because slots refer to positions in the text.
    places = {(c.subject_id, "text" if c.field == "slots" else c.field) for c in changes}
    return editable and deletes in (0, len(changes)) and len(places) == len(changes)


def _apply_together(
    connection: Connection, project_id: int, first: int, changes: Sequence[Change]
) -> None:
    """Change or delete many utterances; one statement each took 30 s for 100,000 utterances."""
    in_project = utterance.c.project_id == project_id
    this_row = sa.and_(in_project, utterance.c.id == sa.bindparam("own_id"))
    for start in range(0, len(changes), _TOGETHER):
        part = changes[start : start + _TOGETHER]
        chosen = sa.and_(in_project, utterance.c.id.in_({c.subject_id for c in part}))
        found = connection.execute(sa.select(utterance).where(chosen))
        rows = {row.id: row._mapping for row in found}
        for change in part:
            _refuse_changed(connection, project_id, change, rows.get(change.subject_id))
    if changes[0].field == "row":
        gone = [{"own_id": change.subject_id} for change in changes]
        connection.execute(sa.delete(utterance).where(this_row), gone)
        return
    values = defaultdict[str, dict[str, Any]](dict)
    for place, change in enumerate(changes):
        values[change.subject_id] |= _values(change, first + place)
    alike = defaultdict[frozenset[str], list[dict[str, Any]]](list)
    for key, row_values in values.items():
        alike[frozenset(row_values)].append({"own_id": key, **row_values})
    for same_columns in alike.values():
        connection.execute(sa.update(utterance).where(this_row), same_columns)


def _values(change: Change, revision: int) -> dict[str, Any]:
    values = {change.field: change.after, "touched_revision": revision}
    if change.field == "text":
        values["text_hash"] = text_hash(str(change.after))
    return values


def _refuse_changed(
    connection: Connection, project_id: int, change: Change, row: Mapping[Any, Any] | None
) -> None:
    """Refuse a change whose `before` differs from the current row."""
    if row is None:
        raise Conflict(f"The {change.subject} was deleted meanwhile.", "Reload and try again.")
    if change.field == "row":
        is_used = change.subject == "intent" and bool(
            dataset.ids_labelled_with(connection, project_id, change.subject_id)
        )
        _refuse_delete(change, row, is_used=is_used)
        return
    current = row[change.field]
    if current != change.before:
        raise Conflict(
            f"The {change.subject}'s {change.field} was changed meanwhile to {current!r}.",
            "Reload, look, and try again.",
        )
    if change.subject == "utterance":
        refuse_change(change.field, change.after, dict(row))


def _apply_one(connection: Connection, project_id: int, revision: int, change: Change) -> None:
    table = _TABLES[change.subject]
    this_row = sa.and_(table.c.project_id == project_id, table.c.id == change.subject_id)
    if change.field == "row" and change.before is None:
        _insert(connection, table, [_row(project_id, revision, change)])
        return
    row = connection.execute(sa.select(table).where(this_row)).first()
    if table is intent and change.field == "name" and row is not None:
        _refuse_taken(connection, project_id, [change.after])
    values = None if row is None else row._mapping
    _refuse_changed(connection, project_id, change, values)
    if change.field == "row":
        connection.execute(sa.delete(table).where(this_row))
    elif table is utterance:
        connection.execute(sa.update(table).where(this_row).values(_values(change, revision)))
    else:
        connection.execute(sa.update(table).where(this_row).values({change.field: change.after}))


def _insert(connection: Connection, table: sa.Table, rows: list[dict[str, Any]]) -> None:
    if table is intent:
        _refuse_taken(connection, rows[0]["project_id"], [row["name"] for row in rows])
    try:
        connection.execute(sa.insert(table), rows)
    except sa.exc.IntegrityError as error:
        what = f"One of {len(rows)}" if len(rows) > 1 else "This one"
        raise Conflict(f"{what} is there already.", "Reload and try again.") from error


def _refuse_taken(connection: Connection, project_id: int, names: Sequence[str]) -> None:
    query = sa.select(intent.c.name).where(
        intent.c.project_id == project_id, intent.c.name.in_(names)
    )
    taken = connection.execute(query).scalars().first()
    if taken is not None or len(set(names)) < len(names):
        name = names[0] if taken is None else taken
        raise Conflict(f"There is an intent '{name}' already.", "Choose another name.")


def _refuse_delete(change: Change, row: Mapping[Any, Any], *, is_used: bool) -> None:
    """Refuse to delete a row that was changed since, or an intent that labels utterances."""
    if differs(row, change.before):
        raise Conflict(f"The {change.subject} was changed meanwhile.", "Reload and try again.")
    if is_used:
        raise Conflict(
            f"The intent '{change.before['name']}' is the label of utterances.",
            "Merge it into another instead.",
        )


def _row(project_id: int, revision: int, change: Change) -> dict[str, Any]:
    row = {**change.after, "project_id": project_id, "id": change.subject_id}
    if change.subject == "utterance":
        row = UNMARKED | row
        refuse_row(row)
        row["text_hash"] = text_hash(row["text"])
        row["added_revision"] = row["touched_revision"] = revision
    return row


def differs(row: Mapping[Any, Any], values: dict[str, Any]) -> bool:
    """Whether a row differs from these values."""
    if "split" in values:
        values = UNMARKED | values
    return any(row[name] != value for name, value in values.items())
