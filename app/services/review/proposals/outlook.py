"""What proposals would change, whether that is still as it was, and the change in words."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from app.services.review.findings import quoted
from app.services.what_if.repairs import Repair, RepairKind
from core.text import label_words
from storage.database import Transaction
from storage.log.scrubbing import ERASED
from storage.people.proposals import ProposalRecord
from storage.queries import dataset, utterances
from storage.records import IntentRecord, ProjectRecord, UtteranceRecord

OF_TEXTS: tuple[RepairKind, ...] = ("relabel", "delete", "move")
"""Kinds of changes of one text that is there."""
WHOLE_LABELS: tuple[RepairKind, ...] = ("relabel", "add")
"""Kinds that propose all intents of a text, in place of all that it has."""


@dataclass(frozen=True, slots=True, eq=False)
class Outlook:
    """The texts and intents that some proposals name, at one moment.

    Attributes:
        records: Utterances by id.
        said: Utterances that have a text to be added already, by the text.
        intents: All intents by id, archived ones, too.
    """

    project: ProjectRecord
    records: Mapping[str, UtteranceRecord]
    said: Mapping[str, list[UtteranceRecord]]
    intents: Mapping[str, IntentRecord]

    def seen(self, repair: Repair) -> dict[str, Any]:
        """Return what a repair would change, as JSON: rows of utterances and intents by id."""
        if repair.kind in OF_TEXTS:
            records = [self.records[key] for key in repair.ids if key in self.records]
        else:
            records = self.said.get(repair.value, []) if repair.kind == "add" else []
        found = self.intents.get(repair.intent)
        return {
            "utterances": {one.id: _row(one) for one in records},
            "intents": {} if found is None else {found.id: [found.name, found.description]},
        }

    def stands(self, proposal: ProposalRecord) -> bool:
        """Whether a proposal could be done, and what it would change is as it was."""
        repair = repair_of(proposal)
        named = [*repair.intents, repair.intent, repair.value if repair.kind == "merge" else ""]
        known = [self.intents.get(key) for key in named if key]
        is_possible = all(one is not None and not one.archived for one in known)
        return is_possible and repair.value != ERASED and self.seen(repair) == proposal.seen

    def label(self, intents: Iterable[str]) -> str:
        """Return a label in words, by intent ids."""
        return label_words(sorted(map(self.name, intents)), self.project.task)

    def name(self, key: str) -> str:
        """Return the name of an intent as sentences write it."""
        found = self.intents.get(key)
        return "an intent that is gone" if found is None else quoted(found.name)

    def words(self, repair: Repair, text: str = "it") -> str:
        """Say what a repair does, to a text or to intents."""
        source, target = self.name(repair.intent), self.name(repair.value)
        joined = " " if text == "it" else " as "
        words: dict[RepairKind, str] = {
            "relabel": f"Label {text}{joined}{self.label(repair.intents)}",
            "add": f"Add {text} to {self.label(repair.intents)}",
            "move": f"Move {text} to {_SPLITS.get(repair.value, repair.value)}",
            "delete": f"Delete {'this text' if text == 'it' else text}",
            "merge": f"Merge {source} into {target}",
            "rename": f"Rename {source} to {quoted(repair.value)}",
            "describe": f"Describe {source} as {quoted(repair.value)}",
            "split": f"Split {source}",
        }
        return words[repair.kind]

    def named(self, repair: Repair) -> str:
        """Return the text that a repair is about, quoted; "it" for intents."""
        if repair.kind == "add":
            return f"“{repair.value}”"
        found = self.records.get(repair.ids[0]) if repair.ids else None
        return "it" if found is None else f"“{found.text}”"


_SPLITS = {
    "train": "the examples",
    "test": "the test texts",
    "pool": "the texts that are neither yet",
}


def outlook_on(
    connection: Transaction, project: ProjectRecord, repairs: Iterable[Repair]
) -> Outlook:
    """Read what some repairs would change."""
    every = list(repairs)
    ids = sorted({key for repair in every for key in repair.ids})
    added = {repair.value for repair in every if repair.kind == "add"}
    return Outlook(
        project,
        utterances.by_ids(connection, project.id, ids),
        {text: utterances.by_text(connection, project.id, text) for text in added},
        {one.id: one for one in dataset.intents(connection, project.id)},
    )


def repair_of(proposal: ProposalRecord) -> Repair:
    """Read the change of a stored proposal."""
    value = dict(proposal.repair)
    for name in ("ids", "intents"):
        value[name] = tuple(value.get(name, ()))
    if value["kind"] in WHOLE_LABELS:
        value["intent"] = ""
    return Repair(**value)


def as_json(repair: Repair) -> dict[str, Any]:
    """Write a change without its empty fields."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(repair).items()
        if value
    }


def _row(record: UtteranceRecord) -> list[Any]:
    labels = None if record.labels is None else list(record.labels)
    return [record.text, record.split, labels]
