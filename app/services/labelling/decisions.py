"""Save decisions from the labelling card, each once and in order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from app.services.data.intents import named_intents
from app.services.studio import Studio
from core.errors import MACHINE_FAULTS, Conflict, InvalidInput, NotFound, StudioError
from core.text import label_words
from storage import projects
from storage.database import Transaction, savepoint
from storage.log import edits, events
from storage.log.events import Action, Entry
from storage.people.acts import VIA
from storage.queries import dataset, utterances
from storage.records import BatchRecord, Change, IntentRecord, ProjectRecord, UtteranceRecord
from storage.write_queue import Take

Kind = Literal["label", "out-of-scope", "unlabel", "skip", "flag", "undo"]

_PLAIN = frozenset(get_args(Kind)) - {"undo"}
_FLAGGED = "flagged while labelling"
"""The note of a flag on a text that has none."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One decision.

    Attributes:
        key: Made by the page; an operation with the same key is saved once.
        create: Names of intents to label with, created if they do not exist.
        seen: The label that the person saw; if it differs now, that is a conflict.
        of: For `undo`: the key of the decision to undo.
        note: For `flag`; without one, that of the text stays.
    """

    key: str
    kind: Kind
    id: str = ""
    intents: tuple[str, ...] = ()
    create: tuple[str, ...] = ()
    seen: tuple[str, ...] | None = None
    of: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a decision: `saved`, `conflict` (nothing was overwritten) or `refused`."""

    key: str
    state: Literal["saved", "conflict", "refused"]
    message: str = ""
    hint: str = ""


def decide(
    studio: Studio, project: str, operations: Sequence[Operation], number: int | None = None
) -> list[Outcome]:
    """Save decisions in order, durably, in one transaction with those that wait at the same time.

    A decision that cannot be saved does not affect the others; its outcome gives the reason.

    A fault of the machine saves none of them and is raised: it is no answer to any decision, and
    all of them can be sent again.

    Raises:
        NotFound: There is no such project, or it has another number than the one given.
        StudioError: The database is damaged or busy, or cannot be written to.
    """
    actor, via = studio.settings.actor, VIA.get()
    tasks = tuple(
        _Task(one, Action(one.kind, actor, "page", one.key, via=via)) for one in operations
    )

    def save(take: Take[_Request]) -> list[list[Outcome] | NotFound]:
        with studio.database.write() as connection:
            return _save_all(connection, take())

    saved = studio.database.decisions.write(_Request((project, number), tasks), save)
    if isinstance(saved, NotFound):
        raise saved
    outcomes: list[Outcome] = saved
    return outcomes


@dataclass(frozen=True, slots=True)
class _Task:
    """A decision, and the action that the log keeps of it."""

    operation: Operation
    action: Action


@dataclass(frozen=True, slots=True)
class _Request:
    """Decisions that came together about texts of one project: its name, and number if told."""

    project: tuple[str, int | None]
    tasks: tuple[_Task, ...]


def _save_all(
    connection: Transaction, requests: Sequence[_Request]
) -> list[list[Outcome] | NotFound]:
    """Save the decisions of some requests; return the outcomes of each, or why it has none."""
    found = dict[tuple[str, int | None], ProjectRecord | NotFound]()
    for asked in {request.project for request in requests}:
        try:
            found[asked] = projects.find_numbered(connection, *asked)
        except NotFound as error:
            found[asked] = error
    outcomes = dict[_Task, Outcome]()
    for asked, project in found.items():
        if not isinstance(project, NotFound):
            # Requests came at the same time, in no order; those that need more than a run are last.
            here = sorted((one for one in requests if one.project == asked), key=_is_special)
            for run in _runs([task for one in here for task in one.tasks]):
                outcomes |= zip(run, _save_run(connection, project, run), strict=True)
    return [
        missing
        if isinstance(missing := found[request.project], NotFound)
        else [outcomes[task] for task in request.tasks]
        for request in requests
    ]


def _runs(tasks: Sequence[_Task]) -> list[list[_Task]]:
    """Cut decisions, in order, into runs that can be saved together: each about another text.

    An undo, and a label that creates an intent, are runs of their own.
    """
    runs, told = list[list[_Task]](), set[str]()
    for task in tasks:
        operation = task.operation
        own = {f"id {operation.id}", f"key {operation.key}"}
        is_plain = _is_plain(task)
        if not runs or not is_plain or told & own or "other" in told:
            runs.append([])
            told = set()
        runs[-1].append(task)
        told |= own if is_plain else {"other"}
    return runs


def _is_plain(task: _Task) -> bool:
    return task.operation.kind in _PLAIN and not task.operation.create


def _is_special(request: _Request) -> bool:
    return not all(_is_plain(task) for task in request.tasks)


def _save_run(
    connection: Transaction, project: ProjectRecord, run: Sequence[_Task]
) -> list[Outcome]:
    if len(run) > 1:
        try:
            with savepoint(connection):
                return _apply_together(connection, project, run)
        except MACHINE_FAULTS:
            raise
        except StudioError:
            pass  # one of them does not fit the log; each is saved for itself
    return [_save_one(connection, project, task) for task in run]


def _save_one(connection: Transaction, project: ProjectRecord, task: _Task) -> Outcome:
    try:
        with savepoint(connection):
            return _apply(connection, project, task)
    except MACHINE_FAULTS:
        raise
    except StudioError as error:
        return _not_saved(task.operation, error)


def _not_saved(operation: Operation, error: StudioError) -> Outcome:
    overtaken = isinstance(error, Conflict | NotFound)
    return Outcome(operation.key, "conflict" if overtaken else "refused", error.message, error.hint)


def _apply(connection: Transaction, project: ProjectRecord, task: _Task) -> Outcome:
    operation = task.operation
    if operation.kind not in get_args(Kind):
        raise InvalidInput(f"'{operation.kind[:40]}' is no decision.", "Reload the page.")
    if operation.kind != "undo":
        [outcome] = _apply_together(connection, project, [task])
        return outcome
    found = events.find_batches(connection, project.id, (operation.key, operation.of))
    if operation.key not in found:
        _undo(connection, project, task.action, found.get(operation.of))
    return Outcome(operation.key, "saved")


def _apply_together(
    connection: Transaction, project: ProjectRecord, run: Sequence[_Task]
) -> list[Outcome]:
    """Save decisions about different texts, by as many statements as for one."""
    saved = events.find_batches(connection, project.id, [task.operation.key for task in run])
    records = utterances.by_ids(connection, project.id, [task.operation.id for task in run])
    intents = {intent.id: intent for intent in dataset.intents(connection, project.id)}
    outcomes, entries = list[Outcome](), list[Entry]()
    for task in run:
        operation = task.operation
        outcomes.append(Outcome(operation.key, "saved"))
        if operation.key in saved:
            continue
        try:
            record = dataset.present(records, operation.id)
            # The key is recorded even without a change: a repetition has no effect later.
            entries.append(Entry(task.action, _planned(project, record, operation, intents)))
        except MACHINE_FAULTS:
            raise
        except StudioError as error:
            outcomes[-1] = _not_saved(operation, error)
    if entries:
        events.record_together(connection, project.id, entries)
    return outcomes


def _planned(
    project: ProjectRecord,
    record: UtteranceRecord,
    operation: Operation,
    intents: Mapping[str, IntentRecord],
) -> list[Change]:
    """Return the changes of a decision about an utterance, or refuse it."""
    intent_changes, labels = _labels(project, record, operation, intents)
    if not _agrees(record, operation, labels):
        raise Conflict(
            f"Somebody else {_deed(project, record, intents)} meanwhile.",
            "Nothing was overwritten. Look at it again on the Data page.",
        )
    return intent_changes + _changes(record, operation, labels)


def _agrees(record: UtteranceRecord, operation: Operation, labels: tuple[str, ...] | None) -> bool:
    """Whether the label is the one that the person saw, or the one now decided."""
    if operation.kind == "flag" or record.labels == _in_order(operation.seen):
        return True
    return operation.kind != "skip" and record.labels == labels


def _in_order(labels: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return None if labels is None else tuple(sorted(set(labels)))


def _undo(
    connection: Transaction, project: ProjectRecord, action: Action, target: BatchRecord | None
) -> None:
    """Undo one decision, unless the same rows were changed since.

    Raises:
        Conflict: It was changed since, or had changed nothing.
        NotFound: No such decision was saved.
    """
    if target is None or target.verb in ("undo", "redo"):
        raise NotFound(
            "That decision was not saved, so there is nothing to take back.",
            "Look at the text on the Data page.",
        )
    changes = events.changes_of(connection, target.id)
    if not changes:
        raise Conflict(
            "That decision changed nothing, for somebody had decided the same before.",
            "What they decided stays. Change it on the Data page.",
        )
    if target.undone_by is not None:
        events.record_together(connection, project.id, [Entry(action, ())])
        return
    back = edits.backwards(connection, project.id, target, changes)
    if not back:
        raise _overtaken(connection, project, changes)
    try:
        events.record_together(connection, project.id, [Entry(action, back, undoes=target)])
    except Conflict as error:
        raise _overtaken(connection, project, changes) from error


def _overtaken(
    connection: Transaction, project: ProjectRecord, changes: Sequence[Change]
) -> Conflict:
    return Conflict(
        f"Somebody {_since(connection, project, changes)} since.",
        "Nothing was taken back. Look at it again on the Data page.",
    )


def _since(connection: Transaction, project: ProjectRecord, changes: Sequence[Change]) -> str:
    ids = [change.subject_id for change in changes if change.subject == "utterance"]
    records = utterances.by_ids(connection, project.id, ids)
    if not records:
        return "has changed or deleted it"
    intents = {intent.id: intent for intent in dataset.intents(connection, project.id)}
    return _deed(project, next(iter(records.values())), intents)


def _deed(
    project: ProjectRecord, record: UtteranceRecord, intents: Mapping[str, IntentRecord]
) -> str:
    """Describe an utterance's current label as another person's action."""
    text = f"“{record.text[:80]}”"
    if record.labels is None:
        return f"has taken the label of {text} away"
    names = [intents[key].name if key in intents else key for key in record.labels]
    label = label_words(sorted(names), project.task)
    return f"has labelled {text} as {label}"


def _labels(
    project: ProjectRecord,
    record: UtteranceRecord,
    operation: Operation,
    intents: Mapping[str, IntentRecord],
) -> tuple[list[Change], tuple[str, ...] | None]:
    """Return the intents to create or restore, and the label as sorted intent ids."""
    if operation.kind == "out-of-scope":
        return [], ()
    if operation.kind != "label":
        return [], None
    changes, named = list[Change](), list[str]()
    if operation.create:
        changes, named = named_intents(operation.create, list(intents.values()))
    by_id = set(operation.intents) - set(named)
    _refuse_gone(intents, by_id - set(record.labels or ()))
    label = by_id | set(named)
    _refuse_number(project, label)
    return changes, tuple(sorted(label))


def _refuse_gone(intents: Mapping[str, IntentRecord], label: set[str]) -> None:
    """Refuse intents that were archived or deleted after the page was loaded."""
    for key in sorted(label):
        if key not in intents:
            raise NotFound(
                f"There is no intent {key[:80]} any more.", "Reload the page and label it again."
            )
        if intents[key].archived:
            raise Conflict(
                f"The intent '{intents[key].name}' was archived meanwhile.",
                "Reload the page and label it again.",
            )


def _refuse_number(project: ProjectRecord, chosen: set[str]) -> None:
    if not chosen:
        nothing = label_words((), project.task)
        raise InvalidInput("A label needs an intent.", f"Choose one, or press O for {nothing}.")
    if project.task == "single-label" and len(chosen) > 1:
        raise InvalidInput(
            f"'{project.name}' takes one intent for each text, and {len(chosen)} were chosen.",
            "Choose one, or use a project that allows several intents.",
        )


def _flagged(record: UtteranceRecord, note: str) -> list[Change]:
    """Return the changes that flag a text; one without a label is skipped, too.

    Otherwise it would come back to the card of whoever could not tell its intent.
    """
    changes = [] if record.flagged == note else [edits.edit(record, "flagged", note)]
    if record.labels is None and not record.skipped:
        changes.append(edits.edit(record, "skipped", value=True))
    return changes


def _changes(
    record: UtteranceRecord, operation: Operation, labels: tuple[str, ...] | None
) -> list[Change]:
    match operation.kind:
        case "skip":
            return [] if record.skipped else [edits.edit(record, "skipped", value=True)]
        case "flag":
            note = operation.note or record.flagged or _FLAGGED
            edits.check_note(note)
            return _flagged(record, note)
        case "unlabel":
            return [] if record.labels is None else [edits.label(record, None)]
        case _:
            return edits.decide(record, labels or ())
