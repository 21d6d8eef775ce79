"""Search a project's utterances, and change many at once."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from app.services.data.bulk import Allowed, BulkAct, BulkCounts, Edit, Plan, plan, plan_each
from app.services.data.intents import named_intents
from app.services.data.large_acts import LARGE, TRIES, stage
from app.services.studio import Studio
from core.errors import Conflict, InvalidInput
from core.formats.rows import LONGEST_TEXT
from core.text import counted, is_blank, is_storable, normalise
from storage import projects
from storage.database import Transaction
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset
from storage.queries.utterances import Filter, Order, Page, by_ids, find_all, read_page
from storage.records import BatchRecord, Change, ProjectRecord, UtteranceRecord


@dataclass(frozen=True, slots=True)
class PageView:
    """A page of utterances."""

    rows: tuple[UtteranceRecord, ...]
    total: int
    revision: int


@dataclass(frozen=True, slots=True)
class CountView:
    """What a bulk act would change, at one revision of the project."""

    counts: BulkCounts
    revision: int


@dataclass(frozen=True, slots=True)
class ChangeView:
    """How many utterances a bulk act changed; `left` counts those it left as they are.

    `revision` is that of the project right after the act.
    """

    changed: int
    left: BulkCounts
    revision: int


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


def count_many(studio: Studio, project: str, which: Filter, edit: Edit) -> CountView:
    """Count what an act would change, by what must be asked first; nothing is saved.

    A `label` may be without an intent: then every labelled text counts as labelled otherwise.

    Raises:
        InvalidInput: The value is invalid.
    """
    with studio.database.read() as connection:
        target = projects.find(connection, project)
        if edit.kind != "label" or edit.value:
            edit = _checked(edit, set(dataset.open_intents(connection, target.id)))
        records = find_all(connection, target.id, which)
    made = plan(records, edit, frozenset(), joins=target.task == "multi-label")
    return CountView(made.counts, target.head_revision)


def change_many(
    studio: Studio,
    project: str,
    which: Filter,
    edit: Edit,
    act: BulkAct,
) -> ChangeView:
    """Change the utterances that match a filter and may be changed, as one action.

    Texts of the test set and labelled ones change only if the act allows it (`bulk.py`).

    Raises:
        Conflict: The number of matches is not the expected one, which the page showed; or the name
            of a new intent looks like that of another one.
        InvalidInput: The value is invalid.
    """

    def planned(connection: Transaction, target: ProjectRecord) -> Plan:
        first, named = _named(connection, target.id, edit)
        usable = {*dataset.open_intents(connection, target.id), *(one.subject_id for one in first)}
        checked = _checked(named, usable)
        records = find_all(connection, target.id, which)
        _refuse_number(records, checked, act.expected)
        touched = touched_texts(connection, target.id, act.allowed.revision)
        made = plan(records, checked, touched, joins=target.task == "multi-label")
        return replace(made, first=first)

    return _carry_out(studio, project, edit.kind, act, planned)


def label_each(studio: Studio, project: str, labels: Mapping[str, str], act: BulkAct) -> ChangeView:
    """Label utterances, each with an intent id of its own, as one action.

    The rule for bulk acts holds: texts of the test set and labelled ones change only if the act
    allows it.

    Raises:
        Conflict: An utterance was deleted since.
        InvalidInput: An intent does not exist any more.
    """

    def planned(connection: Transaction, target: ProjectRecord) -> Plan:
        usable = set(dataset.open_intents(connection, target.id))
        edits_by_id = {k: _checked(Edit("label", v), usable) for k, v in labels.items()}
        records = list(by_ids(connection, target.id, list(labels)).values())
        _refuse_number(records, Edit("label"), act.expected)
        touched = touched_texts(connection, target.id, act.allowed.revision)
        asked = [(record, edits_by_id[record.id]) for record in records]
        return plan_each(asked, touched, joins=target.task == "multi-label")

    return _carry_out(studio, project, "label", act, planned)


def _carry_out(
    studio: Studio,
    project: str,
    verb: str,
    act: BulkAct,
    planned: Callable[[Transaction, ProjectRecord], Plan],
) -> ChangeView:
    """Do a bulk act as one action; a large one lets others save while it is computed."""
    action = Action(verb, studio.settings.actor, "page", act.key or uuid.uuid4().hex)
    for _ in range(TRIES if act.expected >= LARGE else 0):
        with studio.database.read() as connection:
            target = projects.find(connection, project)
            before = events.find_batch(connection, target.id, action.key)
            made = planned(connection, target) if before is None else None
        if made is None:
            break
        changes = made.changes(act.allowed)
        if not changes:
            return _view(made, act.allowed, target.head_revision)
        if stage(studio, target.id, action, changes, target.head_revision):
            with studio.database.read() as connection:
                done = events.find_batch(connection, target.id, action.key)
            return _view(made, act.allowed, done.last_revision if done else target.head_revision)
    with studio.database.write() as connection:
        target = projects.find(connection, project)
        before = events.find_batch(connection, target.id, action.key)
        if before is not None:
            return _done_before(connection, before)
        made, revision = planned(connection, target), target.head_revision
        if changes := made.changes(act.allowed):
            revision = events.record(connection, target.id, action, changes)
        return _view(made, act.allowed, revision)


def _view(made: Plan, allowed: Allowed, revision: int) -> ChangeView:
    return ChangeView(len(made.allowed(allowed)), made.left(allowed), revision)


def _done_before(connection: Transaction, batch: BatchRecord) -> ChangeView:
    changes = events.changes_of(connection, batch.id)
    texts = {change.subject_id for change in changes if change.subject == "utterance"}
    return ChangeView(len(texts), Plan().counts, batch.last_revision)


def _refuse_number(records: Sequence[UtteranceRecord], edit: Edit, expected: int) -> None:
    if len(records) != expected:
        raise Conflict(
            f"Meanwhile this would change {counted(len(records), 'text')}, not {expected:,}.",
            "Look at the list again, then repeat it.",
        )
    if edit.kind == "text" and len(records) > 1:
        raise InvalidInput(f"{len(records):,} texts cannot say the same.", "Change one at a time.")


def touched_texts(connection: Transaction, project_id: int, revision: int | None) -> frozenset[str]:
    """Return the ids of the utterances that changed after a revision; None: of none."""
    if revision is None:
        return frozenset()
    touched = events.touched_since(connection, project_id, revision)
    return frozenset(key for subject, key in touched if subject == "utterance")


def _named(connection: Transaction, project_id: int, edit: Edit) -> tuple[list[Change], Edit]:
    """Return what the intent that an edit names needs before it can be used, and the edit by id."""
    if edit.kind != "label" or not edit.create:
        return [], edit
    first, [intent] = named_intents([edit.create], dataset.intents(connection, project_id))
    return first, replace(edit, value=intent)


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
        case _:
            pass
    return edit


def _usable_text(text: str) -> str:
    text = normalise(text)
    if is_blank(text) or len(text) > LONGEST_TEXT or not is_storable(text):
        raise InvalidInput(
            f"'{text[:40]}' cannot be a text.", f"Write 1 to {LONGEST_TEXT:,} characters."
        )
    return text
