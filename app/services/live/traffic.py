"""Counts requests being served, so that background work can wait for gaps between them."""

import os
import sys
import threading
import time
from dataclasses import dataclass, field

_GAP_SECONDS = 0.4
"""Without a request for so long, nobody is in the middle of something: keys follow faster."""

_POLL_SECONDS = 0.05


@dataclass(slots=True)
class Traffic:
    """The requests of one server, and room for heavy work between them."""

    inside: int = 0
    last: float = field(default_factory=time.monotonic)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def enter(self) -> None:
        """Note that a request has come."""
        with self.guard:
            self.inside += 1

    def leave(self) -> None:
        """Note that a request has been answered."""
        with self.guard:
            self.inside -= 1
            self.last = time.monotonic()

    def give_way(self, at_most: float = 1.0) -> None:
        """Wait for a gap between requests, up to so many seconds.

        Two cores are soon one: a matrix product on the second halves the speed of the first where
        both share it, and the next key waits for the browser and the server on that.
        """
        until = time.monotonic() + at_most
        while self._is_busy() and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)

    def _is_busy(self) -> bool:
        return self.inside > 0 or time.monotonic() - self.last < _GAP_SECONDS


def step_back() -> None:
    """Let other threads have the processor first, where threads have priorities of their own."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)
