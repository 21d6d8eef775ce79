"""A process that the server forks at its start, and that supervises jobs whenever it is asked.

Until then it holds no lock and looks at nothing: a command may start a supervisor of its own.
The libraries of jobs stay loaded from the first job to the last.
"""

import os
import sys
import traceback

from app.jobs.lock import take_lock
from app.jobs.logs import redirect_output
from app.jobs.supervisor import Orders, supervise

_MANY_REQUESTS = 4096


def start_standby(orders: Orders) -> int:
    """Fork the process; return the descriptor to which each request is a byte.

    It outlives this process while jobs are left. Call it before any thread is started.
    """
    requests, asking = os.pipe()
    os.set_blocking(asking, False)
    sys.stdout.flush()
    between = os.fork()
    if between:
        os.close(requests)
        os.waitpid(between, 0)
        return asking
    # This process ends at once, so that init adopts the next one and no zombie remains. A session
    # of its own shields it from the terminal's Ctrl-C.
    try:
        os.setsid()
        if os.fork() == 0:
            os.close(asking)
            _stand_by(orders, requests)
    except BaseException:  # noqa: BLE001 - nothing of the server's own may run on in its copy
        traceback.print_exc()
    finally:
        os._exit(0)


def _stand_by(orders: Orders, requests: int) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    while os.read(requests, _MANY_REQUESTS):  # no byte: the server has ended
        lock = take_lock(orders.places.supervisor_lock)
        if lock is not None:
            redirect_output(orders.places.log("supervisor"))
            supervise(orders, lock)
            os.close(lock)
