"""Encoders that are loaded once for all who use them."""

from collections.abc import Callable
from threading import Lock
from weakref import WeakValueDictionary

from core.encoders.base import Encoder


class SharedBases:
    """Bases in use in this process, so that adapters meet on one; made once for a process."""

    def __init__(self) -> None:
        self._known: WeakValueDictionary[tuple[str, str], Encoder] = WeakValueDictionary()
        self._lock = Lock()

    def get(self, fingerprint: str, device: str, load: Callable[[], Encoder]) -> Encoder:
        """Return the encoder of a fingerprint; it is loaded if no other encoder uses it yet."""
        with self._lock:
            found = self._known.get((fingerprint, device))
            return self._add(load(), device) if found is None else found

    def join(self, encoder: Encoder, device: str) -> Encoder:
        """Return the encoder of the same fingerprint that is in use, or this one from now on."""
        with self._lock:
            found = self._known.get((encoder.fingerprint, device))
            return self._add(encoder, device) if found is None else found

    def _add(self, encoder: Encoder, device: str) -> Encoder:
        self._known[encoder.fingerprint, device] = encoder
        return encoder
