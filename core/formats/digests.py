"""Digests of texts, and a set for millions of digests at eight bytes each."""

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Digests = NDArray[np.uint64]
_RECENT = 65_536


def digest(text: str) -> int:
    """Return a 64-bit digest of a text."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


class Seen:
    """A set of digests: recent ones in a hash set, all others in sorted arrays."""

    def __init__(self, known: Iterable[Digests] = ()) -> None:
        self._known = np.unique(np.concatenate([np.empty(0, np.uint64), *known]))
        self._mine = np.empty(0, np.uint64)
        self._recent: set[int] = set()

    def add(self, new: int) -> bool:
        """Add a 64-bit digest; return whether it is new."""
        if new in self._recent or _holds(self._known, new) or _holds(self._mine, new):
            return False
        self._recent.add(new)
        if len(self._recent) == _RECENT:
            self._mine = self.added()
            self._recent = set()
        return True

    def added(self) -> Digests:
        """Return the added digests that were not known at the start, rising; (n,) uint64."""
        recent = np.fromiter(self._recent, np.uint64, len(self._recent))
        # A stable sort is fast on parts that are sorted already.
        return np.sort(np.concatenate([self._mine, np.sort(recent)]), kind="stable")


def _holds(rising: Digests, value: int) -> bool:
    key = np.uint64(value)
    place = int(np.searchsorted(rising, key))
    return place < len(rising) and bool(rising[place] == key)
