"""Encoders loaded once, shared by their adapters and by all versions that answer with them."""

from collections.abc import Callable
from threading import Lock
from weakref import WeakValueDictionary

from core.encoders.base import Encoder


class SharedBases:
    """The plain encoders in use; one instance for a process."""

    def __init__(self) -> None:
        self._known: WeakValueDictionary[tuple[str, str], Encoder] = WeakValueDictionary()
        self._lock = Lock()

    def get(self, fingerprint: str, device: str, load: Callable[[], Encoder]) -> Encoder:
        """Return the encoder of a fingerprint; load it unless one is in use."""
        with self._lock:
            found = self._known.get((fingerprint, device))
            return self._add(load(), device) if found is None else found

    def join(self, encoder: Encoder, device: str) -> Encoder:
        """Return the encoder in use with this fingerprint, or register this one."""
        with self._lock:
            found = self._known.get((encoder.fingerprint, device))
            return self._add(encoder, device) if found is None else found

    def _add(self, encoder: Encoder, device: str) -> Encoder:
        self._known[encoder.fingerprint, device] = encoder
        return encoder
