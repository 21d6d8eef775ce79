"""A fair queue of writers; SQLite's own locking is unfair and can starve one."""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class WriteQueue:
    """Lets one thread write at a time, in order of arrival."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._taken = False

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait until this thread may write, and block the others meanwhile."""
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
