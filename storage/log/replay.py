"""Rebuild a project's data at any revision from its events alone."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from core.errors import InvalidInput
from core.text import normalise
from storage.records import (
    Change,
    IntentRecord,
    UtteranceRecord,
    intent_record,
    stored_slots,
    utterance_record,
)

SCHEME = "rows-2"
"""JSON [id, NFC text, [intent names] or null, split, [[start, end, name] for each slot], id of the
utterance whose template it fills or ""] sorted by id, UTF-8, no spaces, LF."""
_OLD_SCHEME = "rows-1"
"""The first four fields, used by versions from before slots existed."""


@dataclass(slots=True)
class State:
    """A project's data while events are applied to it."""

    intents: dict[str, dict[str, Any]] = field(default_factory=dict)
    utterances: dict[str, dict[str, Any]] = field(default_factory=dict)

    def part(self, ids: Iterable[str]) -> "State":
        """Copy all intents and the utterances of some ids; unknown ids are skipped."""
        known = (key for key in ids if key in self.utterances)
        return State(
            {key: dict(row) for key, row in self.intents.items()},
            {key: dict(self.utterances[key]) for key in known},
        )

    def intent_records(self) -> list[IntentRecord]:
        """Return intents by position and name."""
        records = [intent_record(key, row) for key, row in self.intents.items()]
        return sorted(records, key=lambda record: (record.position, record.name))

    def utterance_records(self) -> list[UtteranceRecord]:
        """Return utterances by id."""
        return [utterance_record(key, self.utterances[key]) for key in sorted(self.utterances)]


def replay(changes: Iterable[Change], start: State | None = None) -> State:
    """Apply changes, in order, to `start` in place; None starts from an empty project."""
    state = State() if start is None else start
    for change in changes:
        rows = state.intents if change.subject == "intent" else state.utterances
        if change.field != "row":
            rows[change.subject_id][change.field] = change.after
        elif change.after is None:
            del rows[change.subject_id]
        else:
            rows[change.subject_id] = dict(change.after)
    return state


def canonical_lines(
    utterances: Iterable[UtteranceRecord], names: dict[str, str], scheme: str = SCHEME
) -> Iterator[bytes]:
    """Write utterances, sorted by id, in a canonical form; `names` maps intent ids to names.

    Raises:
        InvalidInput: The scheme is unknown.
    """
    if scheme not in (SCHEME, _OLD_SCHEME):
        raise InvalidInput(f"There is no canonical form '{scheme}'.", "Update Intent Studio.")
    for record in utterances:
        labels = None if record.labels is None else sorted(names[key] for key in record.labels)
        row: list[object] = [record.id, normalise(record.text), labels, record.split]
        if scheme == SCHEME:
            row += [stored_slots(record.slots), record.synthetic]
        yield json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def canonical_hash(
    utterances: Iterable[UtteranceRecord], names: dict[str, str], scheme: str = SCHEME
) -> str:
    """Return the SHA-256 of a canonical form."""
    digest = hashlib.sha256()
    for line in canonical_lines(utterances, names, scheme):
        digest.update(line)
    return digest.hexdigest()
