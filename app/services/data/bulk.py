"""The one rule for bulk acts: texts of the test set and labels of others change only if asked."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from storage.log import edits
from storage.records import Change, UtteranceRecord

Kind = Literal["label", "out-of-scope", "unlabel", "move", "flag", "unflag", "delete", "text"]

_SPARES_TESTS: frozenset[Kind] = frozenset({"label", "out-of-scope", "unlabel", "move", "delete"})
_SPARES_LABELS: frozenset[Kind] = frozenset({"label", "out-of-scope", "delete"})


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of one kind to many utterances.

    Attributes:
        kind: What changes; in a multi-label project `label` keeps the other intents.
        value: Intent id for `label`, and for `unlabel` to remove only that one; split for `move`, a
            note for `flag`, the text for `text`. Without a note, those that are there stay.
        create: Name of the intent for `label` in place of its id. It is created if there is none of
            this name, and brought back if it is archived.
    """

    kind: Kind
    value: str = ""
    create: str = ""


@dataclass(frozen=True, slots=True)
class Allowed:
    """What a bulk act may change beyond unlabelled texts outside the test set.

    Attributes:
        labelled: Texts that have a label; it would be replaced, extended or deleted.
        test: Texts of the test set, labelled or not.
        revision: Texts that changed after this revision of the project are left as they are, for
            the person did not see them so; None: all may change.
    """

    labelled: bool = False
    test: bool = False
    revision: int | None = None


FLAGGED = "flagged"
"""The note of a flag where a person wrote none."""


@dataclass(frozen=True, slots=True)
class BulkAct:
    """How a bulk act was asked for.

    Attributes:
        expected: How many utterances matched when the page showed them.
        key: Repeating an act with the same key changes nothing; empty: each call is an act.
    """

    expected: int
    allowed: Allowed = Allowed()
    key: str = ""


@dataclass(frozen=True, slots=True)
class BulkCounts:
    """Numbers of utterances that a bulk act matches, each in one group.

    Attributes:
        free: Changed without being asked about.
        labelled: Changed only if labelled texts are allowed.
        test: Texts of the test set, changed only if these are allowed.
        test_labelled: How many of `test` have a label that would change.
        same: Already as the act would make them.
        meanwhile: Changed by somebody after the page counted.
    """

    free: int
    labelled: int
    test: int
    test_labelled: int
    same: int
    meanwhile: int


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A bulk act on some utterances, divided by what must be asked first.

    Each group holds the changes of each of its utterances.

    Attributes:
        first: Changes after which the utterances can carry their new intent.
    """

    free: list[list[Change]] = field(default_factory=list)
    labelled: list[list[Change]] = field(default_factory=list)
    test: list[list[Change]] = field(default_factory=list)
    test_labelled: int = 0
    same: int = 0
    meanwhile: int = 0
    first: list[Change] = field(default_factory=list)

    @property
    def counts(self) -> BulkCounts:
        """The size of each group."""
        return BulkCounts(
            free=len(self.free),
            labelled=len(self.labelled),
            test=len(self.test),
            test_labelled=self.test_labelled,
            same=self.same,
            meanwhile=self.meanwhile,
        )

    def left(self, allowed: Allowed) -> BulkCounts:
        """Return the size of each group that stays as it is."""
        test = 0 if allowed.test else len(self.test)
        return replace(
            self.counts,
            free=0,
            labelled=0 if allowed.labelled else len(self.labelled),
            test=test,
            test_labelled=self.test_labelled if test else 0,
        )

    def allowed(self, allowed: Allowed) -> list[list[Change]]:
        """Return the changes of each utterance that may change."""
        labelled = self.labelled if allowed.labelled else []
        return [*self.free, *labelled, *(self.test if allowed.test else [])]

    def changes(self, allowed: Allowed) -> list[Change]:
        """Return all changes of the act in order; none if no utterance may change."""
        changes = [change for part in self.allowed(allowed) for change in part]
        return [*self.first, *changes] if changes else []


def plan(
    records: Sequence[UtteranceRecord], edit: Edit, touched: frozenset[str], *, joins: bool
) -> Plan:
    """Divide utterances by what must be asked first; `touched` ids changed meanwhile.

    With `joins`, as in multi-label projects, an intent is added to those that are there.
    """
    return plan_each([(record, edit) for record in records], touched, joins=joins)


def plan_each(
    asked: Sequence[tuple[UtteranceRecord, Edit]], touched: frozenset[str], *, joins: bool
) -> Plan:
    """Divide utterances as `plan` does, where each has an edit of its own."""
    plan, same, meanwhile, test_labelled = Plan(), 0, 0, 0
    for record, edit in asked:
        changes = changes_of(record, edit, joins=joins)
        if not changes:
            same += 1
        elif record.id in touched:
            meanwhile += 1
        elif record.split == "test" and edit.kind in _SPARES_TESTS:
            plan.test.append(changes)
            test_labelled += record.labels is not None
        elif record.labels is not None and edit.kind in _SPARES_LABELS:
            plan.labelled.append(changes)
        else:
            plan.free.append(changes)
    return Plan(plan.free, plan.labelled, plan.test, test_labelled, same, meanwhile)


def changes_of(record: UtteranceRecord, edit: Edit, *, joins: bool) -> list[Change]:
    """Return the changes of one utterance; none if it is so already."""
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
            return _set(record, "flagged", _note(record, edit))


def _note(record: UtteranceRecord, edit: Edit) -> str:
    return "" if edit.kind == "unflag" else edit.value or record.flagged or FLAGGED


def _set(record: UtteranceRecord, field_name: str, value: str) -> list[Change]:
    if getattr(record, field_name) == value:
        return []
    return [edits.edit(record, field_name, value)]


def _unlabelled(record: UtteranceRecord, intent: str) -> list[Change]:
    """Remove one intent, or all; without any left, the utterance is unlabelled."""
    labels = record.labels
    if labels is None or (intent and intent not in labels):
        return []
    left = tuple(label for label in labels if intent and label != intent)
    return edits.decide(record, left) if left else [edits.label(record, None)]
