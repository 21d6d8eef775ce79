"""Search a project's utterances, and change many at once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from app.services.studio import Studio
from core.errors import Conflict, InvalidInput
from core.formats.rows import LONGEST_TEXT
from core.text import is_storable, normalise
from storage import projects
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset
from storage.queries.utterances import Filter, Order, Page, by_ids, find_all, read_page
from storage.records import Change, UtteranceRecord


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
        kind: What changes; in a multi-label project `label` keeps the other intents.
        value: Intent id for `label`, and for `unlabel` to remove only that one; split for `move`, a
            reason for `flag`, the text for `text`.
    """

    kind: Literal["label", "out-of-scope", "unlabel", "move", "flag", "unflag", "delete", "text"]
    value: str = ""


def load_page(studio: Studio, project: str, which: Filter, order: Order, page: Page) -> PageView:
    """Return a page of the utterances that match a filter."""
    with studio.database.read() as connection:
        record = projects.find(connection, project)
        rows, total = read_page(connection, record.id, which, order, page)
    return PageView(tuple(rows), total, record.head_revision)


def load_utterances(studio: Studio, project: str, ids: Sequence[str]) -> list[UtteranceRecord]:
    """Return utterances by id, in the order asked for; unknown ids are left out."""
    with studio.database.read() as connection:
        records = by_ids(connection, projects.find(connection, project).id, ids)
    return [records[key] for key in ids if key in records]


def change_many(studio: Studio, project: str, which: Filter, edit: Edit, expected: int) -> int:
    """Change every utterance that matches a filter, as one action; return their number.

    Raises:
        Conflict: Their number is not `expected`, the one that the page showed.
        InvalidInput: The value is invalid.
    """
    with studio.database.write() as connection:
        target = projects.find(connection, project)
        records = find_all(connection, target.id, which)
        if len(records) != expected:
            raise Conflict(
                f"Meanwhile this would change {len(records)} utterances, not {expected}.",
                "Look at the list again, then repeat it.",
            )
        edit = _checked(edit, set(dataset.open_intents(connection, target.id)))
        if edit.kind == "text" and len(records) > 1:
            raise InvalidInput(
                f"{len(records)} utterances cannot have the same text.", "Change one at a time."
            )
        joins = target.task == "multi-label"
        changes = [c for record in records for c in _edit_changes(record, edit, joins=joins)]
        action = Action(edit.kind, studio.settings.actor, "page")
        if changes:
            events.record(connection, target.id, action, changes)
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
        case "move":
            return _set(record, "split", edit.value)
        case "flag" | "unflag":
            return _set(record, "flagged", edit.value)


def _set(record: UtteranceRecord, field: str, value: str) -> list[Change]:
    return [] if getattr(record, field) == value else [edits.edit(record, field, value)]


def _unlabelled(record: UtteranceRecord, intent: str) -> list[Change]:
    """Remove one intent, or all; without any left, the utterance is unlabelled."""
    labels = record.labels
    if labels is None or (intent and intent not in labels):
        return []
    left = tuple(label for label in labels if intent and label != intent)
    return edits.decide(record, left) if left else [edits.label(record, None)]


def _checked(edit: Edit, intent_ids: set[str]) -> Edit:
    """Normalise the value, or refuse it before any utterance is read."""
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
            return replace(edit, value=edit.value or "flagged")
        case "unflag":
            return replace(edit, value="")
        case _:
            pass
    return edit


def _usable_text(text: str) -> str:
    text = normalise(text)
    if not text or len(text) > LONGEST_TEXT or not is_storable(text):
        raise InvalidInput(
            f"'{text[:40]}' cannot be an utterance.", f"Write 1 to {LONGEST_TEXT:,} characters."
        )
    return text
