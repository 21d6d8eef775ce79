"""Look through a project's utterances and intents, and change many at once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from app.services.studio import Studio
from core.errors import Conflict, InvalidInput
from core.formats.rows import LONGEST_TEXT
from core.maps.palette import position_colour
from core.text import is_storable, normalise
from storage import projects
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset
from storage.queries import utterances as browse
from storage.queries.utterances import Counts, Filter, Order
from storage.records import BatchRecord, Change, IntentRecord, UtteranceRecord


@dataclass(frozen=True, slots=True)
class IntentView:
    """An intent with its stable number, a colour in any case, and how many utterances it has."""

    id: str
    number: int
    name: str
    description: str
    color: str
    archived: bool
    utterances: int


@dataclass(frozen=True, slots=True)
class PageView:
    """A page of utterances."""

    rows: tuple[UtteranceRecord, ...]
    total: int
    revision: int


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of one kind to many utterances.

    Attributes:
        kind: What changes; in a multi-label project `label` leaves other intents as they are.
        value: Intent id for `label`, and for `unlabel` where only that one goes; split for `move`,
            a reason for `flag`, the text for `text`.
    """

    kind: Literal["label", "out-of-scope", "unlabel", "move", "flag", "unflag", "delete", "text"]
    value: str = ""


def look(
    studio: Studio, project: str, which: Filter, order: Order, window: tuple[int, int]
) -> PageView:
    """Return a page of the utterances that a filter lets through."""
    with studio.database.read() as connection:
        found = projects.find(connection, project)
        rows, total = browse.page(connection, found.id, which, order, window)
    return PageView(tuple(rows), total, found.head_revision)


def by_ids(studio: Studio, project: str, ids: Sequence[str]) -> list[UtteranceRecord]:
    """Return utterances by their ids, in the order asked for; those that are gone are left out."""
    with studio.database.read() as connection:
        found = browse.by_ids(connection, projects.find(connection, project).id, ids)
    return [found[key] for key in ids if key in found]


def overview(studio: Studio, project: str) -> tuple[Counts, tuple[IntentView, ...]]:
    """Count a project's utterances, and list its intents by position."""
    with studio.database.read() as connection:
        found = projects.find(connection, project)
        counts = browse.counts(connection, found.id)
        records = dataset.intents(connection, found.id)
    views = [_intent_view(place, r, counts) for place, r in enumerate(records)]
    return counts, tuple(views)


def _intent_view(place: int, record: IntentRecord, counts: Counts) -> IntentView:
    return IntentView(
        id=record.id,
        number=place + 1,
        name=record.name,
        description=record.description,
        color=record.color or position_colour(record.position),
        archived=record.archived,
        utterances=counts.by_intent.get(record.id, 0),
    )


def change_many(studio: Studio, project: str, which: Filter, edit: Edit, expected: int) -> int:
    """Change every utterance that a filter lets through, as one action; return how many.

    Args:
        studio: The studio.
        project: Its name.
        which: The filter, as the person saw it.
        edit: What changes.
        expected: How many the person was told it would be.

    Raises:
        Conflict: Meanwhile it would be another number.
        InvalidInput: The value does not fit.
    """
    with studio.database.write() as connection:
        found = projects.find(connection, project)
        records = browse.find_all(connection, found.id, which)
        if len(records) != expected:
            raise Conflict(
                f"Meanwhile this would change {len(records)} utterances, not {expected}.",
                "Look at the list again, then repeat it.",
            )
        intents = dataset.intents(connection, found.id)
        edit = _checked(edit, {intent.id for intent in intents if not intent.archived})
        if edit.kind == "text" and len(records) > 1:
            raise InvalidInput(
                f"{len(records)} utterances cannot have the same text.", "Change one at a time."
            )
        joins = found.task == "multi-label"
        changes = [c for record in records for c in _edit_changes(record, edit, joins=joins)]
        action = Action(edit.kind, studio.settings.actor, "page")
        if changes:
            events.record(connection, found.id, action, changes)
    return len(records)


def _edit_changes(record: UtteranceRecord, edit: Edit, *, joins: bool) -> list[Change]:
    match edit.kind:
        case "label":
            others = (record.labels or ()) if joins else ()
            return edits.decide(record, (*others, edit.value))
        case "out-of-scope":
            return edits.decide(record, ())
        case "unlabel":
            return _unlabelled(record, edit.value)
        case "delete":
            return [edits.delete_utterance(record)]
        case "text":
            return [] if record.text == edit.value else edits.reword(record, edit.value)
    field, value = _ATTRIBUTES[edit.kind], edit.value
    if edit.kind == "flag":
        value = value or "flagged"
    return [] if getattr(record, field) == value else [edits.edit(record, field, value)]


def _unlabelled(record: UtteranceRecord, intent: str) -> list[Change]:
    """Take one intent away, or all; without its last one an utterance awaits a decision again."""
    labels = record.labels
    if labels is None or (intent and intent not in labels):
        return []
    left = tuple(label for label in labels if intent and label != intent)
    return edits.decide(record, left) if left else [edits.label(record, None)]


_ATTRIBUTES = {"move": "split", "flag": "flagged", "unflag": "flagged"}


def _checked(edit: Edit, intent_ids: set[str]) -> Edit:
    """Refuse a value that does not fit, before anything is looked at."""
    match edit.kind:
        case "label" | "unlabel" if edit.value not in intent_ids and (
            edit.value or edit.kind == "label"
        ):
            raise InvalidInput(f"There is no intent {edit.value!r}.", "Choose another.")
        case "move" if edit.value not in ("train", "test", "pool"):
            raise InvalidInput(f"There is no split '{edit.value}'.", "Use train, test or pool.")
        case "text":
            return replace(edit, value=_usable_text(edit.value))
        case "flag":
            edits.check_note(edit.value)
        case "unflag":
            return replace(edit, value="")
    return edit


def _usable_text(text: str) -> str:
    found = normalise(text)
    if not found or len(found) > LONGEST_TEXT or not is_storable(found):
        raise InvalidInput(
            f"'{found[:40]}' cannot be an utterance.", f"Write 1 to {LONGEST_TEXT:,} characters."
        )
    return found


def add_intent(studio: Studio, project: str, name: str, description: str = "") -> str:
    """Create an intent; return its id.

    Raises:
        Conflict: The name is taken.
        InvalidInput: The name cannot be one.
    """
    with studio.database.write() as connection:
        found = projects.find(connection, project)
        known = dataset.intents(connection, found.id)
        _refuse_archived(known, normalise(name))
        change = edits.create_intent(normalise(name), description, position=len(known))
        action = Action("create intent", studio.settings.actor, "page")
        events.record(connection, found.id, action, [change])
    return change.subject_id


def _refuse_archived(known: Sequence[IntentRecord], name: str) -> None:
    if any(record.archived and record.name == name for record in known):
        raise Conflict(
            f"There is an archived intent '{name}'.", "Bring it back, or choose another name."
        )


def change_intent(studio: Studio, project: str, intent_id: str, values: dict[str, object]) -> None:
    """Rename, describe, colour, archive or restore an intent; no label is touched.

    Raises:
        Conflict: The new name is taken.
        InvalidInput: A value does not fit.
        NotFound: There is no such intent.
    """
    with studio.database.write() as connection:
        found = projects.find(connection, project)
        known = dataset.intents(connection, found.id)
        record = dataset.intent_by_id(connection, found.id, intent_id)
        changes = list(_intent_changes(record, values, {r.name for r in known}))
        action = Action("change intent", studio.settings.actor, "page")
        if changes:
            events.record(connection, found.id, action, changes)


def _intent_changes(
    record: IntentRecord, values: dict[str, object], taken: set[str]
) -> Iterable[Change]:
    for field, value in values.items():
        if field == "name":
            value = normalise(str(value))
            edits.check_intent_name(value)
            if value in taken and value != record.name:
                raise Conflict(f"There is an intent '{value}' already.", "Merge the two instead.")
        if field == "description":
            edits.check_description(str(value))
        if getattr(record, field) != value:
            yield edits.edit(record, field, value)


def merge(studio: Studio, project: str, source: str, target: str) -> None:
    """Give all utterances of one intent to another, by their names, and archive it."""
    with studio.database.write() as connection:
        found = projects.find(connection, project)
        changes = edits.merge_intents(connection, found.id, source, target)
        events.record(connection, found.id, Action("merge", studio.settings.actor, "page"), changes)


def undo(studio: Studio, project: str) -> BatchRecord | None:
    """Take back the newest action of a project; None when there is none."""
    with studio.database.write() as connection:
        found = projects.find(connection, project)
        return events.undo(connection, found.id, studio.settings.actor)


def redo(studio: Studio, project: str) -> BatchRecord | None:
    """Take back the newest undo, unless something was done since."""
    with studio.database.write() as connection:
        found = projects.find(connection, project)
        return events.redo(connection, found.id, studio.settings.actor)


def history(studio: Studio, project: str, limit: int = 50) -> Sequence[BatchRecord]:
    """The newest actions of a project."""
    with studio.database.read() as connection:
        found = projects.find(connection, project)
        return events.history(connection, found.id, limit)
