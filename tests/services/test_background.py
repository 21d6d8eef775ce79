"""Threads that work in the background leave the processor to others."""

import os
import sys
import threading

import pytest

from app.services.background import step_back


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no priority of their own")
def test_a_thread_steps_back_and_never_forward() -> None:
    """A studio started by `nice -n 15` may not raise a thread to 10, and the thread ended."""
    seen = list[int]()

    def work() -> None:
        for before in (0, 15):
            thread = threading.get_native_id()
            os.setpriority(
                os.PRIO_PROCESS, thread, max(before, os.getpriority(os.PRIO_PROCESS, thread))
            )
            step_back()
            seen.append(os.getpriority(os.PRIO_PROCESS, thread))

    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    assert seen[0] >= 10
    assert seen[1] >= 15
