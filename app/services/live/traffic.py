"""Counts requests being served, so that background work can wait for gaps; counts answers."""

import asyncio
import os
import threading
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field

_GAP_SECONDS = 0.4
"""Without a request for this long, no user is typing: keys follow faster than that."""

_POLL_SECONDS = 0.05

_LONGEST_WAIT = 5.0
"""Seconds for which a request waits for its turn."""

_serving: ContextVar[bool] = ContextVar("serving", default=False)
"""Whether this thread serves a request; the server's threads get the context of their request."""


def _heavy_at_once() -> int:
    return max(1, (os.cpu_count() or 1) // 2)


@dataclass(slots=True)
class Traffic:
    """The number of requests in progress, and pauses for heavy work.

    Attributes:
        answered: Number of texts answered since the start.
        outside: Number of these that got no intent.
        turns: Held by a request that computes for seconds; as many at once as half of the cores.
            Three at once made each label wait.
        prints: Held by a request that prints a PDF: each starts a browser of its own.
    """

    inside: int = 0
    answered: int = 0
    outside: int = 0
    last: float = field(default_factory=time.monotonic)
    guard: threading.Lock = field(default_factory=threading.Lock)
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_heavy_at_once()))
    prints: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))

    def enter(self) -> None:
        """Count a request that has arrived, which is served in this context from now on."""
        _serving.set(True)
        with self.guard:
            self.inside += 1

    def leave(self) -> None:
        """Count a request that has been answered."""
        _serving.set(False)
        with self.guard:
            self.inside -= 1
            self.last = time.monotonic()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Let no more such blocks run at once than there are turns.

        Who has waited for some seconds goes ahead: a review of 100,000 texts delays no answer more
        than it would without turns.
        """
        is_held = False
        with suppress(TimeoutError):
            async with asyncio.timeout(_LONGEST_WAIT):
                is_held = await self.turns.acquire()
        try:
            yield
        finally:
            if is_held:
                self.turns.release()

    def count_answers(self, n_intents: Iterable[int]) -> None:
        """Count answered texts, each by the number of intents in its answer."""
        counts = list(n_intents)
        with self.guard:
            self.answered += len(counts)
            self.outside += counts.count(0)

    def give_way(self, at_most: float = 1.0) -> None:
        """Wait for a gap between requests, at most `at_most` seconds.

        On a machine with two shared cores, a matrix product on one halves the speed of the other,
        which delays the browser and the server after each key.

        Work inside a request waits a moment while others are served, for its own user waits, too.
        """
        if _serving.get():
            if self.inside > 1:
                time.sleep(min(at_most, _POLL_SECONDS))
            return
        until = time.monotonic() + at_most
        while self._is_busy() and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)

    def _is_busy(self) -> bool:
        return self.inside > 0 or time.monotonic() - self.last < _GAP_SECONDS
