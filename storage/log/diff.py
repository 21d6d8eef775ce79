"""Differences between two states of a project's data, row by row and in words."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from core.text import counted
from storage.log.replay import State
from storage.records import read_slots

Value = str | tuple[str, ...] | None
"""A text, a split, a name, or intent names; None is absent or unlabelled."""

_UTTERANCE_WORDS = {
    "added": "added",
    "removed": "removed",
    "labelled": "labelled",
    "relabelled": "relabelled",
    "unlabelled": "no longer labelled",
    "edited": "edited",
    "marked": "with other slots",
    "moved": "moved between training and test set",
    "flagged": "flagged",
    "unflagged": "no longer flagged",
    "skipped": "skipped",
    "unskipped": "no longer skipped",
    "completed": "with other fields of a file",
}
_INTENT_WORDS = {
    "created": "created",
    "removed": "removed",
    "renamed": "renamed to",
    "merged": "merged into",
    "archived": "archived",
    "restored": "restored",
    "described": "described anew",
    "recoloured": "recoloured",
    "reordered": "reordered",
}
_WITH_TARGET = ("renamed", "merged")
_NAMED = 3
_PLAIN_FIELDS = (("description", "described"), ("color", "recoloured"))


@dataclass(frozen=True, slots=True)
class UtteranceChange:
    """One change of an utterance, of a kind in `_UTTERANCE_WORDS`; two changes are two values.

    `before` and `after` are intent names of the older and newer state, texts, values, splits or
    flags.
    """

    kind: str
    id: str
    text: str
    split: str
    before: Value
    after: Value


@dataclass(frozen=True, slots=True)
class IntentChange:
    """One change of an intent, of a kind in `_INTENT_WORDS`.

    `before` and `after` are names, descriptions, colours or positions; `after` of `merged` is the
    name of the target intent.
    """

    kind: str
    id: str
    name: str
    before: Value
    after: Value


@dataclass(frozen=True, slots=True)
class DatasetDiff:
    """All differences between two states, by kind and id; `words` has a phrase for each kind."""

    utterances: tuple[UtteranceChange, ...]
    intents: tuple[IntentChange, ...]
    words: tuple[str, ...]


def diff_states(old: State, new: State) -> DatasetDiff:
    """Compare two states of one project, matching rows by id.

    Renaming an intent relabels nothing, because labels are ids.
    """
    utterances = _in_order(_all_utterance_changes(old, new), _UTTERANCE_WORDS)
    intents = _in_order(_all_intent_changes(old, new), _INTENT_WORDS)
    words = (*_utterance_words(utterances), *_intent_words(intents))
    return DatasetDiff(utterances, intents, words or ("nothing changed",))


_Change = TypeVar("_Change", UtteranceChange, IntentChange)


def _in_order(changes: Iterator[_Change], kinds: dict[str, str]) -> tuple[_Change, ...]:
    place = {kind: at for at, kind in enumerate(kinds)}
    return tuple(sorted(changes, key=lambda change: (place[change.kind], change.id)))


def _all_utterance_changes(old: State, new: State) -> Iterator[UtteranceChange]:
    old_names = {key: row["name"] for key, row in old.intents.items()}
    new_names = {key: row["name"] for key, row in new.intents.items()}
    for key in old.utterances.keys() | new.utterances.keys():
        before, after = old.utterances.get(key), new.utterances.get(key)
        if before == after:
            continue
        row = after or before or {}
        for kind, was, is_now in _utterance_changes(before, after):
            shown = (_shown(was, old_names), _shown(is_now, new_names))
            yield UtteranceChange(kind, key, row["text"], row["split"], *shown)


def _utterance_changes(
    before: dict[str, Any] | None, after: dict[str, Any] | None
) -> Iterator[tuple[str, Any, Any]]:
    """Yield kind, before and after; labels are still lists of ids."""
    if before is None or after is None:
        kind = "added" if before is None else "removed"
        yield kind, before["labels"] if before else None, after["labels"] if after else None
        return
    was, is_now = before["labels"], after["labels"]
    if was != is_now:
        kind = "labelled" if was is None else "unlabelled" if is_now is None else "relabelled"
        yield kind, was, is_now
    yield from _wording_changes(before, after)
    if before["split"] != after["split"] and not _joined(before, after):
        yield "moved", before["split"], after["split"]
    if before["flagged"] != after["flagged"]:
        yield "flagged" if after["flagged"] else "unflagged", before["flagged"], after["flagged"]
    if bool(before["skipped"]) != bool(after["skipped"]):
        yield "skipped" if after["skipped"] else "unskipped", None, None
    if before.get("beside", "") != after.get("beside", ""):
        yield "completed", None, None


def _joined(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether a text changed its split only because its label takes it to the training set."""
    is_new = (before["labels"] is None) != (after["labels"] is None)
    return is_new and "pool" in (before["split"], after["split"])


def _wording_changes(
    before: dict[str, Any], after: dict[str, Any]
) -> Iterator[tuple[str, str, str]]:
    if before["text"] != after["text"]:
        yield "edited", before["text"], after["text"]
    if before.get("slots", []) != after.get("slots", []):
        values = _values(before), _values(after)
        if values[0] != values[1] or before["text"] == after["text"]:  # more than a shift
            yield "marked", *values


def _values(row: dict[str, Any]) -> str:
    """Write marked values: "city: Boston, date: tomorrow"."""
    text, slots = row["text"], read_slots(row.get("slots", []))
    return ", ".join(f"{slot.name}: {text[slot.start : slot.end]}" for slot in slots)


def _shown(value: Any, names: dict[str, str]) -> Value:
    return tuple(sorted(names[key] for key in value)) if isinstance(value, list) else value


def _all_intent_changes(old: State, new: State) -> Iterator[IntentChange]:
    targets = _merge_targets(old, new)
    for key in old.intents.keys() | new.intents.keys():
        before, after = old.intents.get(key), new.intents.get(key)
        if before == after:
            continue
        name = (after or before or {})["name"]
        for kind, was, is_now in _intent_changes(before, after, targets.get(key)):
            yield IntentChange(kind, key, name, was, is_now)


def _intent_changes(
    before: dict[str, Any] | None, after: dict[str, Any] | None, target: str | None
) -> Iterator[tuple[str, Value, Value]]:
    if before is None or after is None:
        kind = "created" if before is None else "removed"
        yield kind, before["name"] if before else None, after["name"] if after else None
        return
    if before["name"] != after["name"]:
        yield "renamed", before["name"], after["name"]
    if bool(before["archived"]) != bool(after["archived"]):
        gone = ("merged" if target else "archived", before["name"], target)
        yield gone if after["archived"] else ("restored", None, after["name"])
    for attribute, kind in _PLAIN_FIELDS:
        if before[attribute] != after[attribute]:
            yield kind, before[attribute], after[attribute]
    if before["position"] != after["position"]:
        yield "reordered", str(before["position"]), str(after["position"])


def _merge_targets(old: State, new: State) -> dict[str, str]:
    """Map each merged intent's id to the name of its target.

    The log has no event for a merge, which relabels and then archives. So an archived intent counts
    as merged if more than half of the utterances that lost it have the same new intent.
    """
    archived = {
        key
        for key, row in new.intents.items()
        if row["archived"] and key in old.intents and not old.intents[key]["archived"]
    }
    went: dict[str, Counter[str]] = defaultdict(Counter)
    left: Counter[str] = Counter()
    for key, row in old.utterances.items() if archived else ():
        now = new.utterances.get(key)
        labels = set(now["labels"] or ()) if now is not None else set()
        for gone in archived.intersection(row["labels"] or ()) - labels:
            left[gone] += 1
            went[gone].update(labels.difference(row["labels"]) or labels)
    best = {
        key: max(counts, key=lambda to: (counts[to], to)) for key, counts in went.items() if counts
    }
    return {
        key: new.intents[to]["name"] for key, to in best.items() if 2 * went[key][to] > left[key]
    }


def _utterance_words(changes: Sequence[UtteranceChange]) -> list[str]:
    counts = Counter(change.kind for change in changes)
    phrases = _UTTERANCE_WORDS.items()
    return [f"{counts[kind]:,} {phrase}" for kind, phrase in phrases if counts[kind]]


def _intent_words(changes: Sequence[IntentChange]) -> list[str]:
    words: list[str] = []
    for kind, phrase in _INTENT_WORDS.items():
        same = [change for change in changes if change.kind == kind]
        if kind in _WITH_TARGET and len(same) <= _NAMED:
            words += [f"intent '{change.before}' {phrase} '{change.after}'" for change in same]
        elif kind in _WITH_TARGET:
            words.append(f"{counted(len(same), 'intent')} {kind}")
        elif same:
            words.append(_named(sorted(change.name for change in same), phrase))
    return words


def _named(names: Sequence[str], phrase: str) -> str:
    """Write "intent 'a' created", or "2 intents created: 'a', 'b'"."""
    if len(names) == 1:
        return f"intent '{names[0]}' {phrase}"
    listed = ", ".join(f"'{name}'" for name in names[:_NAMED])
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return f"{counted(len(names), 'intent')} {phrase}: {listed}{more}"
