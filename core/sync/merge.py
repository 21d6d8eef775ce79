"""The three-way merge of a project and a folder with the state that both had last."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Row: TypeAlias = Mapping[str, Any]
"""Attributes of an utterance, an intent, a pin or a setting, as JSON values."""
Rows: TypeAlias = Mapping[str, Row]
Parts: TypeAlias = Sequence[tuple[str, ...]]
"""Fields that are merged together: a value's place means nothing without its text."""


@dataclass(frozen=True, slots=True)
class Merge:
    """What a merge changes on either side; None removes a row.

    Attributes:
        conflicts: Keys of rows that both sides changed differently; neither side changes there.
    """

    to_project: dict[str, Row | None]
    to_folder: dict[str, Row | None]
    conflicts: tuple[str, ...]


def merge(base: Rows, project: Rows, folder: Rows, parts: Parts) -> Merge:
    """Merge rows by key, and the rows that both sides changed by `parts`, which name all fields.

    What one side changed is taken. What both changed to the same stays. If both changed a part
    differently, or one removed what the other changed, the whole row is a conflict.
    """
    to_project: dict[str, Row | None] = {}
    to_folder: dict[str, Row | None] = {}
    conflicts: list[str] = []
    for key in sorted({*project, *folder}):
        was, mine, theirs = base.get(key), project.get(key), folder.get(key)
        if mine == theirs:
            continue
        if mine == was:
            to_project[key] = theirs
        elif theirs == was:
            to_folder[key] = mine
        elif (both := _by_parts(was, mine, theirs, parts)) is None:
            conflicts.append(key)
        else:
            if both != mine:
                to_project[key] = both
            if both != theirs:
                to_folder[key] = both
    return Merge(to_project, to_folder, tuple(conflicts))


def merged(rows: Rows, changes: Mapping[str, Row | None]) -> dict[str, Row]:
    """Return rows with changes made; None removes a row."""
    kept = {key: row for key, row in rows.items() if key not in changes}
    return kept | {key: row for key, row in changes.items() if row is not None}


def _by_parts(was: Row | None, mine: Row | None, theirs: Row | None, parts: Parts) -> Row | None:
    """Merge a row that both sides changed; None if they contradict each other."""
    if was is None or mine is None or theirs is None:
        return None
    both: dict[str, Any] = {}
    for part in parts:
        old, ours, others = (tuple(row[name] for name in part) for row in (was, mine, theirs))
        if ours != old and others not in (old, ours):
            return None
        both |= zip(part, others if ours == old else ours, strict=True)
    return both
