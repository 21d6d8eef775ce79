"""Threads that work in the background."""

import os
import sys
import threading

RETRY_SECONDS = 15.0
"""After a failure, such as a database that was busy, nothing is tried again for so long."""

_NICENESS = 10


def step_back() -> None:
    """Lower this thread's priority, where threads have their own (Linux); it is never raised.

    A studio that was started with a lower one may not raise it, and the thread ended.
    """
    if sys.platform == "linux":
        thread = threading.get_native_id()
        if os.getpriority(os.PRIO_PROCESS, thread) < _NICENESS:
            os.setpriority(os.PRIO_PROCESS, thread, _NICENESS)
