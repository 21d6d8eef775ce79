"""Threads that work in the background."""

import os
import sys
import threading


def step_back() -> None:
    """Lower this thread's priority, where threads have their own (Linux)."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)
