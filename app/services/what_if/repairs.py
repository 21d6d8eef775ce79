"""Repairs of the data behind a prediction; each is one action in the log, and undone as one."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.services.studio import Studio
from core.errors import Conflict, InvalidInput, NotFound
from core.formats.rows import LONGEST_TEXT
from core.text import is_blank, is_storable, normalise, plain_name
from storage import projects
from storage.database import Transaction
from storage.log import edits, events, settled_findings
from storage.log.events import Action
from storage.queries import dataset, utterances
from storage.records import Change, IntentRecord, ProjectRecord, UtteranceRecord

RepairKind = Literal["relabel", "delete", "move", "add", "merge", "split", "rename", "describe"]


@dataclass(frozen=True, slots=True)
class SplitPart:
    """Texts of an intent that get a new intent with a name."""

    name: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Repair:
    """A change of labels, texts or intents that a finding offers; intents are ids.

    Attributes:
        intent: The intent that is merged away, split, renamed or described. Where a text may have
            several intents: for `relabel` the one that `intents` replace, so that a text keeps its
            others; for `add`, if not empty, it keeps all that it has. Empty: they replace all.
        value: The split of `move`, the text of `add` (relabelled where it is in the project), the
            target's id of `merge`, the description of `describe`, else a new name.
        parts: For `split`, several new intents at once, instead of `ids` and `value`.
    """

    kind: RepairKind
    ids: tuple[str, ...] = ()
    intents: tuple[str, ...] = ()
    intent: str = ""
    value: str = ""
    parts: tuple[SplitPart, ...] = ()


def changes_of(connection: Transaction, project: ProjectRecord, repair: Repair) -> list[Change]:
    """Return what a repair changes; nothing is saved.

    Raises:
        Conflict: A name is taken, or an intent is archived.
        InvalidInput: A value does not fit.
        NotFound: An utterance or an intent was deleted.
    """
    if repair.kind in ("relabel", "add") and repair.intent:
        dataset.intent_by_id(connection, project.id, repair.intent)  # also where it is not needed
    if repair.kind in ("relabel", "delete", "move"):
        return _of_utterances(connection, project, repair)
    if repair.kind == "add":
        return _addition(connection, project, repair)
    return _of_intent(connection, project.id, repair)


def apply_repair(
    studio: Studio,
    project: str,
    repair: Repair,
    key: str,
    finding: str = "",
    *,
    seen: int | None = None,
) -> None:
    """Save a repair and settle its finding; a repeated key has no second effect.

    `seen` is the revision at which a person saw the texts and the intents.

    Raises:
        Conflict: A text or an intent was changed since it was seen, a name is taken, or an intent
            is archived.
        InvalidInput: A value does not fit.
        NotFound: The project, an utterance or an intent does not exist.
    """
    with studio.database.write() as connection:
        record = projects.find(connection, project)
        if events.find_batch(connection, record.id, key) is not None:
            return
        _refuse_changed(connection, record.id, repair, seen)
        origin = settled_findings.origin_of(_settled_by(finding, repair)) if finding else "page"
        changes = changes_of(connection, record, repair)
        action = Action(_verb(repair, changes), studio.settings.actor, origin, key)
        events.record(connection, record.id, action, changes)


def _verb(repair: Repair, changes: Sequence[Change]) -> str:
    """Name the act as a history shows it: the first label of a text is no other label."""
    if repair.kind != "relabel" or any(c.before is not None for c in changes if _labels_it(c)):
        return repair.kind
    return "label" if repair.intents else "out-of-scope"


def _labels_it(change: Change) -> bool:
    return change.subject == "utterance" and change.field == "labels"


def _refuse_changed(
    connection: Transaction, project_id: int, repair: Repair, seen: int | None
) -> None:
    """Raise `Conflict` where another act has changed a text or an intent since a person saw it."""
    if seen is None:
        return
    touched = events.touched_since(connection, project_id, seen)
    ids = _texts_of(connection, project_id, repair)
    # The value is an intent where two are merged; no other value is as an intent's id.
    intents = () if repair.kind in ("relabel", "add") else (repair.intent, repair.value)
    told = (("A text", "utterance", ids), ("An intent", "intent", intents))
    for what, subject, keys in told:
        if any((subject, key) in touched for key in keys):
            raise Conflict(
                f"{what} was changed meanwhile.", "Nothing was overwritten. Look at it once more."
            )


def _texts_of(connection: Transaction, project_id: int, repair: Repair) -> Sequence[str]:
    """Return the ids of the texts that a repair changes, of a merge all that it relabels."""
    if repair.kind == "add":
        copies = utterances.by_text(connection, project_id, normalise(repair.value))
        return [record.id for record in copies]
    if repair.kind == "merge":
        return dataset.ids_labelled_with(connection, project_id, repair.intent)
    return [*repair.ids, *(key for part in repair.parts for key in part.ids)]


def keep_finding(studio: Studio, project: str, finding: str, key: str) -> None:
    """Settle a finding without a change of the data; it is then no longer listed."""
    with studio.database.write() as connection:
        record = projects.find(connection, project)
        settled_findings.keep_finding(connection, record.id, finding, key, studio.settings.actor)


def label_finding_id(key: str, labels: Sequence[str]) -> str:
    """Return the id of the finding that doubts a label; a new label gives a new finding."""
    return f"label:{key}:{','.join(sorted(labels))}"


def _settled_by(finding: str, repair: Repair) -> str:
    """Return the finding to settle: of a relabelled text, the one about its new label."""
    if finding.startswith("label:") and repair.kind == "relabel" and len(repair.ids) == 1:
        return label_finding_id(repair.ids[0], repair.intents)
    return finding


def _of_utterances(connection: Transaction, project: ProjectRecord, repair: Repair) -> list[Change]:
    if repair.kind == "relabel" and repair.intent and project.task == "multi-label":
        return _replaced(connection, project, repair)
    records = _records(connection, project.id, repair.ids)
    if repair.kind == "relabel":
        labels = _labels(connection, project, repair.intents)
        return [c for record in records for c in edits.decide(record, labels)]
    if repair.kind == "delete":
        return [edits.delete_utterance(record) for record in records]
    if repair.value not in ("train", "test", "pool"):
        raise InvalidInput(f"There is no split '{repair.value[:40]}'.", "Use train, test or pool.")
    moved = [record for record in records if record.split != repair.value]
    return [edits.edit(record, "split", repair.value) for record in moved]


def _replaced(connection: Transaction, project: ProjectRecord, repair: Repair) -> list[Change]:
    """Return the changes that put intents in the place of one; a text keeps its other intents."""
    source = dataset.intent_by_id(connection, project.id, repair.intent)
    labels = _labels(connection, project, repair.intents)
    return [
        change
        for record in _carriers(connection, project.id, source, repair.ids)
        for change in edits.decide(record, _with(record, labels, without=source.id))
    ]


def _with(record: UtteranceRecord, labels: Sequence[str], without: str = "") -> Sequence[str]:
    """Return the labels of a text and some more, without one of its own."""
    return [*(key for key in record.labels or () if key != without), *labels]


def _carriers(
    connection: Transaction, project_id: int, source: IntentRecord, ids: Sequence[str]
) -> list[UtteranceRecord]:
    """Return texts that have an intent; one that has it no more raises `Conflict`."""
    records = _records(connection, project_id, ids)
    if any(source.id not in (record.labels or ()) for record in records):
        raise Conflict(
            f"A text is not labelled '{source.name}' any more.", "Reload, and choose again."
        )
    return records


def _records(connection: Transaction, project_id: int, ids: Sequence[str]) -> list[UtteranceRecord]:
    if not ids:
        raise InvalidInput("No text was named.", "Choose one.")
    records = utterances.by_ids(connection, project_id, ids)
    if len(records) < len(set(ids)):
        raise NotFound("A text was deleted meanwhile.", "Reload the list.")
    return [records[key] for key in dict.fromkeys(ids)]


def _labels(
    connection: Transaction, project: ProjectRecord, intents: Sequence[str]
) -> tuple[str, ...]:
    if project.task == "single-label" and len(set(intents)) > 1:
        raise InvalidInput("A text has one intent in this project.", "Choose one.")
    for key in intents:
        _open_intent(connection, project.id, key)
    return tuple(intents)


def _open_intent(connection: Transaction, project_id: int, key: str) -> IntentRecord:
    intent = dataset.intent_by_id(connection, project_id, key)
    if intent.archived:
        raise Conflict(f"The intent '{intent.name}' is archived.", "Choose another.")
    return intent


def _addition(connection: Transaction, project: ProjectRecord, repair: Repair) -> list[Change]:
    """Return the changes that make a text an example; one that is in the project is relabelled.

    Its copies in the test set stay as they are.
    """
    text = normalise(repair.value)
    if is_blank(text) or len(text) > LONGEST_TEXT or not is_storable(text):
        raise InvalidInput(
            f"'{text[:40]}' cannot be a text.", f"Write 1 to {LONGEST_TEXT:,} characters."
        )
    labels = _labels(connection, project, repair.intents)
    known = utterances.by_text(connection, project.id, text)
    if not known:
        return [edits.create_utterance(uuid.uuid4().hex, text, "train", "typed", labels)]
    examples = [record for record in known if record.split != "test"]
    if not examples:
        raise Conflict(
            "This is a test text, so it cannot be an example, too.",
            "Make it an example first, or change its test label.",
        )
    joins = repair.intent and project.task == "multi-label"
    return [
        change
        for record in examples
        for change in edits.decide(record, _with(record, labels) if joins else labels)
    ]


def _of_intent(connection: Transaction, project_id: int, repair: Repair) -> list[Change]:
    source = dataset.intent_by_id(connection, project_id, repair.intent)
    if repair.kind == "merge":
        target = _open_intent(connection, project_id, repair.value)
        return edits.merge_intents(connection, project_id, source.name, target.name)
    if repair.kind == "describe":
        words = repair.value.strip()
        edits.check_description(words)
        return [edits.edit(source, "description", words)] if words != source.description else []
    if repair.kind == "split":
        parts = repair.parts or (SplitPart(repair.value, repair.ids),)
        return _split_off(connection, project_id, source, parts)
    name = plain_name(repair.value)
    edits.check_intent_name(name)
    return [edits.rename_intent(connection, project_id, source.name, name)]


def _split_off(
    connection: Transaction, project_id: int, source: IntentRecord, parts: Sequence[SplitPart]
) -> list[Change]:
    ids = [key for part in parts for key in part.ids]
    names = [plain_name(part.name) for part in parts]
    others = dataset.intents(connection, project_id)
    taken = {other.name for other in others}
    if len(ids) > len(set(ids)) or len(names) > len(set(names)):
        raise InvalidInput("A text or a name is in two groups.", "Keep it in one.")
    _carriers(connection, project_id, source, ids)
    changes: list[Change] = []
    for name, part in zip(names, parts, strict=True):
        edits.check_intent_name(name)
        if name in taken:
            raise Conflict(f"There is an intent '{name}' already.", "Choose another name.")
        edits.check_look(name, others)
        if not part.ids:
            raise InvalidInput(f"No text goes to '{name}'.", "Choose one.")
        changes += edits.split_intent(connection, project_id, source.name, name, part.ids)
    return changes
