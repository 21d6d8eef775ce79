"""A cache of values that take long to compute and never change under their key."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

from storage.records import ModelVersionRecord, ProjectRecord

T = TypeVar("T")
_LIMIT_BYTES = 512 << 20
_MOMENTS = 2
"""Values kept of a series: one that is newest, and one that a slow request still uses."""

_MEMBERS = 3
"""Versions of a project whose values stay however old: the one in use, and two compared."""

_IDLE_SECONDS = 60.0
"""Seconds without a question after which the values of another version go."""


@dataclass(frozen=True, slots=True)
class Belongs:
    """Part of a key: to which of several things a value belongs, of which most are soon over.

    `among` names the things, such as the versions of a project, and `to` is one of them.
    """

    among: tuple[Hashable, ...]
    to: Hashable


def of_version(version: ModelVersionRecord) -> Belongs:
    """Return the part of a key that says that a value belongs to a model version."""
    return Belongs(("version", version.project_id), version.id)


def of_encoder(project: ProjectRecord, fingerprint: str) -> Belongs:
    """Return the part of a key that says that a value belongs to an encoder, for a project."""
    return Belongs(("encoder", project.id), fingerprint)


@dataclass(slots=True)
class _Entry:
    future: Future[Any] = field(default_factory=Future)
    size: int = 0


@dataclass(slots=True)
class Cache:
    """Holds the most recently used values; each is computed once, even for concurrent requests.

    A value whose key has a part `Belongs` goes early: once three others of its kind were used
    later, and it was not for a minute. `clock` returns seconds.
    """

    limit_bytes: int = _LIMIT_BYTES
    clock: Callable[[], float] = time.monotonic
    _entries: OrderedDict[Hashable, _Entry] = field(default_factory=OrderedDict)
    _used: OrderedDict[Belongs, float] = field(default_factory=OrderedDict)
    """When a value of each was asked for last, in seconds of the clock; the oldest comes first."""
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    def get(self, key: Hashable, make: Callable[[], T], size: Callable[[T], int]) -> T:
        """Return the value of a key, computed by `make` on first use; `size` returns its bytes.

        The key contains everything that the value depends on. An error of `make` reaches every
        waiting thread, and is not cached.
        """
        with self._mutex:
            entry = self._entries.get(key)
            mine = entry is None
            if entry is None:
                entry = self._entries[key] = _Entry()
            self._entries.move_to_end(key)
            self._note_use(key)
        if mine:
            self._fill(key, entry, make, size)
        value: T = entry.future.result()
        return value

    def get_newest(
        self,
        series: tuple[Hashable, ...],
        moment: Hashable,
        make: Callable[[], T],
        size: Callable[[T], int],
    ) -> T:
        """Return a value at a moment, such as a revision, under the key `(*series, moment)`.

        Of a series the two values used last are kept: what was true at older moments is not asked
        for again, and filled all the room.
        """
        value = self.get((*series, moment), make, size)
        with self._mutex:
            same = [
                key
                for key, entry in self._entries.items()
                if isinstance(key, tuple) and key[:-1] == series and entry.future.done()
            ]
            for key in same[:-_MOMENTS]:
                del self._entries[key]
        return value

    def peek(self, key: Hashable) -> Any:
        """Return the value of a key if it was computed, else None; never waits."""
        with self._mutex:
            entry = self._entries.get(key)
            if entry is not None:
                self._note_use(key)
        if entry is None or not entry.future.done() or entry.future.exception() is not None:
            return None
        return entry.future.result()

    def held_bytes(self) -> int:
        """Return the bytes of all values."""
        with self._mutex:
            return sum(entry.size for entry in self._entries.values())

    def forget(self, key: Hashable) -> None:
        """Drop a value, so that the next request computes it again."""
        with self._mutex:
            self._entries.pop(key, None)

    def clear(self) -> None:
        """Drop all values, such as those that hold a text that was erased."""
        with self._mutex:
            self._entries.clear()
            self._used.clear()

    def _fill(
        self, key: Hashable, entry: _Entry, make: Callable[[], T], size: Callable[[T], int]
    ) -> None:
        try:
            value = make()
            entry.size = size(value)
        except BaseException as error:
            with self._mutex:
                if self._entries.get(key) is entry:
                    del self._entries[key]
            entry.future.set_exception(error)
            raise
        entry.future.set_result(value)
        with self._mutex:
            self._note_use(key)
            self._drop_idle(_owner(key))
            held = sum(other.size for other in self._entries.values())
            for old, other in list(self._entries.items()):
                if held <= self.limit_bytes:
                    break
                if other is not entry and other.future.done():
                    held -= other.size
                    del self._entries[old]

    def _note_use(self, key: Hashable) -> None:
        owner = _owner(key)
        if owner is not None:
            self._used[owner] = self.clock()
            self._used.move_to_end(owner)

    def _drop_idle(self, owner: Belongs | None) -> None:
        """Drop what belongs to others than those used last, such as versions trained over."""
        if owner is None:
            return
        alike = [one for one in self._used if one.among == owner.among][:-_MEMBERS]
        now = self.clock()
        gone = {one for one in alike if now - self._used[one] >= _IDLE_SECONDS}
        for one in gone:
            del self._used[one]
        for key in [key for key in self._entries if _owner(key) in gone]:
            if self._entries[key].future.done():
                del self._entries[key]


def _owner(key: Hashable) -> Belongs | None:
    parts = key if isinstance(key, tuple) else ()
    return next((part for part in parts if isinstance(part, Belongs)), None)
