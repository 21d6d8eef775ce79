"""Threads that work in the background leave the processor to others."""

import os
import sys
import threading

import pytest

from app.services.background import in_background, rest_after, step_back
from tests.waiting import wait_until


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


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no priority of their own")
def test_work_that_users_wait_for_does_not_step_back() -> None:
    seen = dict[str, int]()

    def note(name: str) -> None:
        seen[name] = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    in_background("behind", lambda: note("behind"))
    in_background("beside", lambda: note("beside"), steps_back=False)
    wait_until(lambda: len(seen) == 2, "both threads have worked")
    assert seen["behind"] >= 10
    assert seen["beside"] == os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


def test_work_rests_four_times_as_long_as_it_took_and_two_seconds_at_least() -> None:
    assert [rest_after(took) for took in (0.0, 0.5, 7.0)] == [2.0, 2.0, 28.0]
