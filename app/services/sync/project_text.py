"""A project's data as rows of text, and the log's changes that rows of a folder make."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from core.errors import InvalidInput
from core.sync.folder import ProjectText
from core.sync.merge import Row
from storage import models, pinned_texts
from storage.database import Transaction
from storage.log import edits
from storage.queries import dataset
from storage.records import (
    Change,
    IntentRecord,
    ProjectRecord,
    UtteranceRecord,
    intent_record,
    row_of,
    utterance_record,
)

_EDITED = ("split", "source", "skipped", "flagged", "synthetic", "beside")


def text_of(connection: Transaction, project: ProjectRecord) -> ProjectText:
    """Return a project's data as rows."""
    champion = models.champion(connection, project.id)
    bundle = (
        None
        if champion is None
        else {
            "made": champion.created_at,
            "sha256": champion.tree_sha256,
            "version": champion.number,
        }
    )
    intents = intent_rows(dataset.intents(connection, project.id))
    settings = {"auto_promote": project.auto_promote, "fence": _fence(project.fence, intents)}
    return ProjectText(
        task=project.task,
        settings={name: {"value": value} for name, value in settings.items()},
        bundle=bundle,
        intents=intents,
        utterances=utterance_rows(dataset.utterances(connection, project.id)),
        pins=pin_rows(connection, project.id, intents),
    )


def pin_rows(
    connection: Transaction, project_id: int, intents: Mapping[str, Row]
) -> dict[str, dict[str, Any]]:
    """Return the pins of these intents as rows by text; others judge no model, and name nothing."""
    return {
        one.text: {"text": one.text, "intents": sorted(one.intents)}
        for one in pinned_texts.list_all(connection, project_id)
        if intents.keys() >= set(one.intents)
    }


def _fence(fence: dict[str, Any] | None, intents: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a fence without limits of intents that are gone."""
    if fence is None:
        return None
    limits = fence.get("limits") or {}
    return {**fence, "limits": {key: one for key, one in limits.items() if key in intents}}


def utterance_rows(records: Iterable[UtteranceRecord]) -> dict[str, dict[str, Any]]:
    """Return utterances as rows by id."""
    return {r.id: {**row_of(r), "id": r.id, "skipped": r.skipped} for r in records}


def intent_rows(records: Iterable[IntentRecord]) -> dict[str, dict[str, Any]]:
    """Return intents as rows by id."""
    return {
        one.id: {
            "id": one.id,
            "name": one.name,
            "description": one.description,
            "color": one.color,
            "position": one.position,
            "archived": one.archived,
        }
        for one in records
    }


def utterance_changes(before: Row | None, after: Row | None) -> Iterator[Change]:
    """Yield the changes that make one row of an utterance another.

    Raises:
        InvalidInput: The new row breaks a rule, such as for synthetic texts.
    """
    was = None if before is None else utterance_record(before["id"], dict(before))
    now = None if after is None else utterance_record(after["id"], dict(after))
    if was is None or now is None:
        if now is not None:
            yield edits.create(now)
        elif was is not None:
            yield edits.delete_utterance(was)
        return
    if was.text != now.text or was.slots != now.slots:
        yield from _reworded(was, now)
    if was.labels != now.labels:
        yield edits.label(was, now.labels)
    for name in _EDITED:
        if getattr(was, name) != getattr(now, name):
            yield edits.edit(was, name, getattr(now, name))


def _reworded(was: UtteranceRecord, now: UtteranceRecord) -> Iterator[Change]:
    """Remove the slots before the text changes and add them after it, so that they always fit."""
    bare = replace(was, slots=())
    if was.slots:
        yield edits.mark(was, ())
    if was.text != now.text:
        yield edits.edit(bare, "text", now.text)
    if now.slots:
        yield edits.mark(replace(bare, text=now.text), now.slots)


def intent_changes(rows: Mapping[str, Row], changes: Mapping[str, Row | None]) -> list[Change]:
    """Return the changes that create and edit intents, in an order that frees names first.

    Raises:
        InvalidInput: Two intents change names with each other.
    """
    found = list[Change]()
    waiting = {key: row for key, row in changes.items() if row is not None}
    names = {key: row["name"] for key, row in rows.items()}
    while waiting:
        free = (
            key
            for key, row in waiting.items()
            if all(name != row["name"] or other == key for other, name in names.items())
        )
        key = next(free, None)
        if key is None:
            raise _taken(waiting)
        row = waiting.pop(key)
        found += _intent(rows.get(key), row)
        names[key] = row["name"]
    return found


def _intent(before: Row | None, after: Row) -> Iterator[Change]:
    edits.check_intent_name(after["name"])
    if before is None:
        yield Change("intent", after["id"], "row", None, _stored(after))
        return
    was = intent_record(before["id"], dict(before))
    for name in ("name", "description", "color", "position", "archived"):
        if before[name] != after[name]:
            yield edits.edit(was, name, after[name])


def intent_removals(rows: Mapping[str, Row], changes: Mapping[str, Row | None]) -> list[Change]:
    """Return the changes that delete intents, which no text may carry any more."""
    gone = (rows[key] for key, row in changes.items() if row is None)
    return [Change("intent", row["id"], "row", _stored(row), None) for row in gone]


def _stored(row: Row) -> dict[str, Any]:
    """Return an intent's row as it stands in the log."""
    return {k: v for k, v in row.items() if k != "id"} | {"archived": int(row["archived"])}


def _taken(waiting: Mapping[str, Row]) -> InvalidInput:
    name = next(iter(waiting.values()))["name"]
    return InvalidInput(
        f"intents.jsonl: project and folder have an intent '{name}' each, with different ids.",
        "Rename one of the two, sync, then merge them on the Data page.",
    )
