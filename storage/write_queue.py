"""First come, first served: SQLite's own waiting is unfair and lets a writer starve."""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class Gate:
    """Lets one thread through at a time, in the order of their coming."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._taken = False

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for one's turn and hold it."""
        with self._mutex:
            mine = threading.Event()
            if not self._taken:
                self._taken = True
                mine.set()
            else:
                self._waiting.append(mine)
        mine.wait()
        try:
            yield
        finally:
            with self._mutex:
                if self._waiting:
                    self._waiting.popleft().set()
                else:
                    self._taken = False
