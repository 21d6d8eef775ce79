"""The folders that a project was synced with: what both had last, and what is undecided."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from storage.people import preferences
from storage.records import UNMARKED
from storage.tables import erasure, preference

_SIDES = ("base", "project", "folder")
_ANYBODY = ""
"""A base is the project's, whoever synced."""


@dataclass(frozen=True, slots=True)
class OpenConflict:
    """An utterance that project and folder changed differently, which nobody has decided.

    Attributes:
        base, project, folder: Its rows; None is removed, or in `base` not there yet.
        author: Who wrote the folder's.
        at: When, as `now` writes it.
    """

    base: dict[str, Any] | None
    project: dict[str, Any] | None
    folder: dict[str, Any] | None
    author: str
    at: str


@dataclass(frozen=True, slots=True)
class SyncBase:
    """What project and folder had last in common.

    Utterances and intents are those of the log at a revision, with the changes of that sync.

    Attributes:
        revision: That the sync saw.
        keys: Of its own actions.
        conflicts: Undecided utterances, by id.
        intents: Base rows of intents that both sides changed differently, by id.
        pins, settings: Base rows by key.
        bundle: The project's live version then.
    """

    revision: int
    keys: tuple[str, ...] = ()
    conflicts: Mapping[str, OpenConflict] = field(default_factory=dict)
    intents: Mapping[str, Any] = field(default_factory=dict)
    pins: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    bundle: Mapping[str, Any] | None = None


def finding_of(key: str, conflict: OpenConflict) -> str:
    """Return the id of the finding that asks about a conflict; other answers give another id."""
    answers = json.dumps([conflict.project, conflict.folder], sort_keys=True).encode()
    return f"people:{key}:{hashlib.sha256(answers).hexdigest()[:16]}"


def keep_base(connection: Connection, project_id: int, folder: str, base: SyncBase) -> None:
    """Store the base of a folder, in place of an earlier one."""
    preferences.keep(connection, project_id, _ANYBODY, "sync", {folder: asdict(base)})


def base_of(connection: Connection, project_id: int, folder: str) -> SyncBase | None:
    """Return the base of a folder; None if the project was never synced with it."""
    value = preferences.kept(connection, project_id, _ANYBODY, "sync").get(folder)
    return None if value is None else _base(value)


def folders_of(connection: Connection, project_id: int) -> list[str]:
    """Return the folders that a project was synced with."""
    return list(preferences.kept(connection, project_id, _ANYBODY, "sync"))


def open_conflicts(connection: Connection, project_id: int) -> dict[str, OpenConflict]:
    """Return the conflicts with all folders, by utterance; of one utterance, one of them."""
    query = sa.select(preference.c.value).where(
        preference.c.project_id == project_id, preference.c.kind == "sync"
    )
    bases = map(_base, connection.execute(query).scalars())
    return {key: one for base in bases for key, one in base.conflicts.items()}


def tombstones(connection: Connection, project_id: int) -> frozenset[str]:
    """Return what stands in the log in place of erased texts."""
    query = sa.select(erasure.c.tombstones).where(erasure.c.project_id == project_id)
    return frozenset(one for many in connection.execute(query).scalars() for one in many)


def _conflict(value: dict[str, Any]) -> OpenConflict:
    """Read a conflict; one of an earlier release lacks what rows did not have then."""
    sides = {side: value[side] and UNMARKED | value[side] for side in _SIDES}
    return OpenConflict(**{**value, **sides})


def _base(value: dict[str, Any]) -> SyncBase:
    conflicts = {key: _conflict(one) for key, one in value["conflicts"].items()}
    return SyncBase(**{**value, "keys": tuple(value["keys"]), "conflicts": conflicts})
