"""Save decisions from the labelling card, each once and in order."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Literal, get_args

from app.services.studio import Studio
from core.errors import Conflict, InvalidInput, NotFound, StudioError
from core.text import label_words, plain_name
from storage import projects
from storage.database import Transaction
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset, utterances
from storage.records import Change, IntentRecord, ProjectRecord, UtteranceRecord

Kind = Literal["label", "out-of-scope", "unlabel", "skip", "flag", "undo"]


@dataclass(frozen=True, slots=True)
class Operation:
    """One decision.

    Attributes:
        key: Made by the page; an operation with the same key is saved once.
        create: Names of intents to label with, created if they do not exist.
        seen: The label that the person saw; if it differs now, that is a conflict.
        of: For `undo`: the key of the decision to undo.
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


def decide(studio: Studio, project: str, operations: Sequence[Operation]) -> list[Outcome]:
    """Save decisions in order, durably, in one transaction.

    A decision that cannot be saved does not affect the others; its outcome gives the reason.

    Raises:
        NotFound: There is no such project.
    """
    with studio.database.write() as connection:
        record = projects.find(connection, project)
        outcomes = list[Outcome]()
        alone = len(operations) == 1  # then the transaction itself is taken back: two waits less
        for operation in operations:
            try:
                with nullcontext() if alone else connection.begin_nested():
                    _apply(connection, record, studio.settings.actor, operation)
                outcomes.append(Outcome(operation.key, "saved"))
            except StudioError as error:
                outcomes.append(_not_saved(operation, error))
                if alone:
                    connection.rollback()
        return outcomes


def _not_saved(operation: Operation, error: StudioError) -> Outcome:
    overtaken = isinstance(error, Conflict | NotFound)
    return Outcome(operation.key, "conflict" if overtaken else "refused", error.message, error.hint)


def _apply(
    connection: Transaction, project: ProjectRecord, actor: str, operation: Operation
) -> None:
    if events.find_batch(connection, project.id, operation.key) is not None:
        return
    action = Action(operation.kind, actor, "page", operation.key)
    if operation.kind == "undo":
        _undo(connection, project, action, operation.of)
        return
    if operation.kind not in get_args(Kind):
        raise InvalidInput(f"'{operation.kind[:40]}' is no decision.", "Reload the page.")
    record = dataset.utterance_by_id(connection, project.id, operation.id)
    intent_changes, labels = _labels(connection, project, record, operation)
    if not _agrees(record, operation, labels):
        raise Conflict(
            f"Somebody else {_deed(connection, project, record)} meanwhile.",
            "Nothing was overwritten. Look at it again on the Data page.",
        )
    # The key is recorded even without a change, so that a repeated request has no effect later.
    changes = intent_changes + _changes(record, operation, labels)
    events.record(connection, project.id, action, changes)


def _agrees(record: UtteranceRecord, operation: Operation, labels: tuple[str, ...] | None) -> bool:
    """Whether the label is the one that the person saw, or the one now decided."""
    if operation.kind == "flag" or record.labels == _in_order(operation.seen):
        return True
    return operation.kind != "skip" and record.labels == labels


def _in_order(labels: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return None if labels is None else tuple(sorted(set(labels)))


def _undo(connection: Transaction, project: ProjectRecord, action: Action, of: str) -> None:
    """Undo one decision, unless the same rows were changed since.

    Raises:
        Conflict: It was changed since, or had changed nothing.
        NotFound: No such decision was saved.
    """
    target = events.find_batch(connection, project.id, of)
    if target is None or target.verb in ("undo", "redo"):
        raise NotFound(
            "That decision was not saved, so there is nothing to take back.",
            "Look at the utterance on the Data page.",
        )
    changes = events.changes_of(connection, target.id)
    if not changes:
        raise Conflict(
            "That decision changed nothing, for somebody had decided the same before.",
            "What they decided stays. Change it on the Data page.",
        )
    if target.undone_by is not None:
        events.record(connection, project.id, action, [])
        return
    try:
        events.undo(connection, project.id, action.actor, of=of, key=action.key)
    except Conflict as error:
        raise Conflict(
            f"Somebody {_since(connection, project, changes)} since.",
            "Nothing was taken back. Look at it again on the Data page.",
        ) from error


def _since(connection: Transaction, project: ProjectRecord, changes: Sequence[Change]) -> str:
    ids = [change.subject_id for change in changes if change.subject == "utterance"]
    records = utterances.by_ids(connection, project.id, ids)
    if not records:
        return "has changed or deleted it"
    return _deed(connection, project, next(iter(records.values())))


def _deed(connection: Transaction, project: ProjectRecord, record: UtteranceRecord) -> str:
    """Describe an utterance's current label as another person's action."""
    text = f"“{record.text[:80]}”"
    if record.labels is None:
        return f"has taken the label of {text} away"
    names = {intent.id: intent.name for intent in dataset.intents(connection, project.id)}
    label = label_words(sorted(names.get(key, key) for key in record.labels), project.task)
    return f"has labelled {text} as {label}"


def _labels(
    connection: Transaction, project: ProjectRecord, record: UtteranceRecord, operation: Operation
) -> tuple[list[Change], tuple[str, ...] | None]:
    """Return the intents to create or restore, and the label as sorted intent ids."""
    if operation.kind == "out-of-scope":
        return [], ()
    if operation.kind != "label":
        return [], None
    intents = {intent.id: intent for intent in dataset.intents(connection, project.id)}
    by_name = {plain_name(intent.name): intent for intent in intents.values()}
    names = list(dict.fromkeys(plain_name(name) for name in operation.create))
    existing = [by_name[name] for name in names if name in by_name]
    new_names = [name for name in names if name not in by_name]
    for name in new_names:
        edits.check_look(name, intents.values())
    created = [
        edits.create_intent(name, position=len(intents) + place)
        for place, name in enumerate(new_names)
    ]
    archived = [intent for intent in existing if intent.archived]
    restored = [edits.edit(intent, "archived", value=False) for intent in archived]
    by_id = set(operation.intents) - {intent.id for intent in existing}
    _refuse_gone(intents, by_id - set(record.labels or ()))
    label = by_id | {intent.id for intent in existing} | {change.subject_id for change in created}
    _refuse_number(project, label)
    return created + restored, tuple(sorted(label))


def _refuse_gone(intents: dict[str, IntentRecord], label: set[str]) -> None:
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
            "Choose one, or use a multi-label project.",
        )


def _changes(
    record: UtteranceRecord, operation: Operation, labels: tuple[str, ...] | None
) -> list[Change]:
    match operation.kind:
        case "skip":
            return [] if record.skipped else [edits.edit(record, "skipped", value=True)]
        case "flag":
            note = operation.note or "flagged"
            edits.check_note(note)
            return [] if record.flagged == note else [edits.edit(record, "flagged", note)]
        case "unlabel":
            return [] if record.labels is None else [edits.label(record, None)]
        case _:
            return edits.decide(record, labels or ())
