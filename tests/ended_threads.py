"""Threads of the studio that still compute when a process of tests ends."""

import threading
import time

OURS = (
    "accuracy",
    "answer-traffic",
    "join-labels",
    "look-at-pool",
    "look-for-damage",
    "prepare-what-if",
)
"""Names of daemon threads that compute by torch, NumPy or ONNX Runtime, or read the database."""


def await_threads(seconds: float = 60.0) -> list[str]:
    """Wait for the studio's threads, all together so long at most; return those still at work.

    Python ends a daemon thread wherever it asks for the interpreter again. Within torch the process
    then aborts: "terminate called without an active exception".
    """
    until = time.monotonic() + seconds
    ours = [thread for thread in threading.enumerate() if thread.name in OURS]
    for thread in ours:
        thread.join(max(0.0, until - time.monotonic()))
    return [thread.name for thread in ours if thread.is_alive()]
