"""Decisions at the labelling card: each is saved once, in order, or answered in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.services.studio import Studio
from core.errors import Conflict, InvalidInput, NotFound, StudioError
from storage import dataset, events, projects
from storage.database import Transaction
from storage.events import Action
from storage.records import Change, ProjectRecord, UtteranceRecord

Kind = Literal["label", "out-of-scope", "unlabel", "skip", "flag", "undo"]


@dataclass(frozen=True, slots=True)
class Operation:
    """One decision.

    Attributes:
        key: Made by the page; the same key is saved once, however often it is sent.
        kind: What was decided.
        id: The utterance.
        intents: Intent ids of a label.
        create: Names of intents to label with, which are made where they do not exist yet.
        seen: The label that the person saw; another one there now is a conflict.
        of: For `undo`: the key of the decision to take back.
        note: For `flag`: why.
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
    """What became of a decision: `saved`, `conflict` (nothing was overwritten) or `refused`."""

    key: str
    state: Literal["saved", "conflict", "refused"]
    message: str = ""
    hint: str = ""


def decide(studio: Studio, project: str, operations: Sequence[Operation]) -> list[Outcome]:
    """Save decisions in their order, durably, in one transaction.

    One that cannot be saved leaves the others alone and says why.

    Raises:
        NotFound: There is no such project.
    """
    with studio.database.write() as connection:
        found = projects.find(connection, project)
        return [_outcome(connection, found, studio.settings.actor, o) for o in operations]


def _outcome(
    connection: Transaction, project: ProjectRecord, actor: str, operation: Operation
) -> Outcome:
    try:
        with connection.begin_nested():
            _apply(connection, project, actor, operation)
    except (Conflict, NotFound) as error:
        return Outcome(operation.key, "conflict", error.message, error.hint)
    except StudioError as error:
        return Outcome(operation.key, "refused", error.message, error.hint)
    return Outcome(operation.key, "saved")


def _apply(
    connection: Transaction, project: ProjectRecord, actor: str, operation: Operation
) -> None:
    if events.is_known(connection, project.id, operation.key):
        return
    if operation.kind == "undo":
        events.undo(connection, project.id, actor, of=operation.of, key=operation.key)
        return
    record = dataset.utterance_by_id(connection, project.id, operation.id)
    made, labels = _labels(connection, project, operation)
    if _already(record, operation, labels):
        return
    if operation.kind != "flag" and record.labels != operation.seen:
        names = {i.id: i.name for i in dataset.intents(connection, project.id)}
        raise Conflict(
            f"Somebody else has labelled “{record.text[:80]}” as "
            f"{_in_words(record.labels, names)} meanwhile.",
            "Nothing was overwritten. Look at it again on the Data page.",
        )
    action = Action(operation.kind, actor, "page", operation.key)
    changes = made + _changes(record, operation, labels)
    events.record(connection, project.id, action, changes)


def _already(record: UtteranceRecord, operation: Operation, labels: tuple[str, ...] | None) -> bool:
    """Two people who decide the same do not disagree."""
    return operation.kind in ("label", "out-of-scope") and record.labels == labels


def _labels(
    connection: Transaction, project: ProjectRecord, operation: Operation
) -> tuple[list[Change], tuple[str, ...] | None]:
    """Return the intents to make and the label, as sorted intent ids."""
    if operation.kind == "out-of-scope":
        return [], ()
    if operation.kind != "label":
        return [], None
    known = dataset.intents(connection, project.id)
    by_name = {record.name: record.id for record in known}
    made = [
        dataset.create_intent(name, position=len(known) + place)
        for place, name in enumerate(operation.create)
        if name not in by_name
    ]
    chosen = {by_name[name] for name in operation.create if name in by_name}
    chosen |= {change.subject_id for change in made} | set(operation.intents)
    _refuse_wrong(project, {r.id for r in known} | {c.subject_id for c in made}, chosen)
    return made, tuple(sorted(chosen))


def _refuse_wrong(project: ProjectRecord, known: set[str], chosen: set[str]) -> None:
    unknown = sorted(chosen - known)
    if unknown:
        raise NotFound(
            f"There is no intent {unknown[0]} any more.", "Reload the page and label it again."
        )
    if not chosen:
        raise InvalidInput("A label needs an intent.", "Choose one, or press O for out of scope.")
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
            return [dataset.edit(record, "skipped", value=True)]
        case "flag":
            return [dataset.edit(record, "flagged", operation.note or "flagged")]
        case "unlabel":
            return [dataset.label(record, None)]
        case _:
            return dataset.decide(record, labels or ())


def _in_words(labels: tuple[str, ...] | None, names: dict[str, str]) -> str:
    if labels is None:
        return "not labelled"
    return " and ".join(sorted(names.get(key, key) for key in labels)) or "out of scope"
