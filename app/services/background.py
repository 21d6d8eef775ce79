"""Threads that work in the background."""

import os
import sys
import threading
from collections.abc import Callable

RETRY_SECONDS = 15.0
"""After a failure, such as a database that was busy, nothing is tried again for so long."""

REST_SHARE = 4
"""After work of one second, none for four: labelling needs the processor, too."""

_NICENESS = 10


def in_background(name: str, work: Callable[[], None], *, steps_back: bool = True) -> None:
    """Begin work in a thread; RuntimeError where none is left, so flags are set after this call.

    A lock that the caller holds until then keeps the work from taking its flag back too early.
    """

    def run() -> None:
        if steps_back:
            step_back()
        work()

    threading.Thread(target=run, name=name, daemon=True).start()


def rest_after(took: float) -> float:
    """Return for how many seconds work that took so long rests: two at least."""
    return max(2.0, REST_SHARE * took)


def step_back() -> None:
    """Lower this thread's priority, where threads have their own (Linux); it is never raised.

    A studio that was started with a lower one may not raise it, and the thread ended.
    """
    if sys.platform == "linux":
        thread = threading.get_native_id()
        if os.getpriority(os.PRIO_PROCESS, thread) < _NICENESS:
            os.setpriority(os.PRIO_PROCESS, thread, _NICENESS)
