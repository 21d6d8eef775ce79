"""Waiting for what another thread or process does."""

import time
from collections.abc import Callable

_LONGEST_REST = 0.1


def wait_until(condition: Callable[[], object], what: str, seconds: float = 60.0) -> None:
    """Return once the condition holds; fail in words when the time is up.

    It asks less and less often: work in the background gives way to requests.
    """
    limit, rest = time.monotonic() + seconds, 0.01
    while not condition():
        assert time.monotonic() < limit, f"{seconds:g} s have passed, and not yet: {what}"
        time.sleep(rest)
        rest = min(_LONGEST_REST, 1.5 * rest)
