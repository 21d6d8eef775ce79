"""Memory, processes, threads and open files at their limits: told in words, and it goes on."""

import errno
import os
import resource
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from app.jobs import supervisor
from app.jobs.context import JobContext, Publish, Workplace
from app.jobs.local import LocalExecutor
from app.jobs.lock import is_free, take_lock
from app.jobs.worker import work
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.studio import Studio
from core.errors import DatabaseBusy
from storage import jobs
from storage.records import JobRecord
from tests.faults.kills.acts import opened, texts_of
from tests.faults.kills.light_server import LightServer
from tests.faults.shims.write_points import do
from tests.faults.table import Fault
from tests.waiting import wait_until

FAULTS = (
    Fault(
        13,
        "Out of memory in a job",
        "A job asks for 2 TiB by NumPy and by torch",
        "It fails as 'not enough memory'",
        figures="memory",
    ),
    Fault(
        14,
        "The GPU fails, or there is none",
        "A job whose backend reports a CUDA error",
        "It fails in words that name the device",
        figures="device",
    ),
    Fault(
        22,
        "A fork after threads were started",
        "The supervisor's threads are counted at the fork of a job",
        "It has one, so that no lock is held for ever in the copy",
        figures="threads",
    ),
    Fault(
        33,
        "No process can be forked",
        "EAGAIN at the fork of a job, and at the start of a supervisor",
        "The job waits and is begun when there is room; no attempt of it is lost",
        figures="forks",
    ),
    Fault(
        34,
        "Many open sockets",
        "A server with 128 descriptors and 200 idle connections; with 10,000 in `make fire`",
        "It is told in words, nothing acknowledged is lost, and it answers when they are closed",
        figures="sockets",
    ),
)
DESCRIPTORS = 128


def by_numpy(_: JobContext) -> Publish:
    import numpy as np

    np.ones(1 << 41, dtype=np.uint8)
    return lambda _: {}


def by_torch(_: JobContext) -> Publish:
    import torch

    torch.empty(1 << 41, dtype=torch.uint8)
    return lambda _: {}


def by_gpu(_: JobContext) -> Publish:
    message = "CUDA error: no CUDA-capable device is detected"
    raise RuntimeError(message)


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (by_numpy, "There was not enough memory."),
        (by_torch, "There was not enough memory."),
        (by_gpu, "The graphics processor failed"),
    ],
)
def test_a_job_tells_why_the_machine_could_not_do_it(
    studio: Studio, kind: Callable[[JobContext], Publish], told: str
) -> None:
    """They ended as "Something broke (incident ...)"."""
    create_project(studio, "p")
    with studio.database.write() as connection:
        job = jobs.claim(connection, jobs.enqueue(connection, "odd", {}, 1).id)
    workplace = Workplace(studio.places, studio.database, {"odd": kind})
    assert work(workplace, job) == 0
    with studio.database.read() as connection:
        ended = jobs.get(connection, job.id)
    assert ended.state == "failed"
    assert told in ended.message
    assert ended.hint


def no_room(*_: object, **__: object) -> None:
    raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")


def test_a_supervisor_that_cannot_be_started_leaves_the_job_waiting(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Starting a training was answered as a fault of the studio, though it was queued."""
    monkeypatch.setattr(subprocess, "run", no_room)
    LocalExecutor(studio.settings).ensure_running()
    assert is_free(studio.places.supervisor_lock)


def test_a_job_that_cannot_be_forked_loses_no_attempt(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three times, and it had "died 3 times"; the supervisor ended with a traceback each time."""
    create_project(studio, "p")
    with studio.database.write() as connection:
        job_id = jobs.enqueue(connection, "steps", {"steps": 1}, 1).id
    lock = take_lock(studio.places.supervisor_lock)
    assert lock is not None
    orders = supervisor.Orders(
        studio.settings, workplace="tests.builders.toy_job_kinds:open_workplace"
    )
    watching = supervisor.Supervisor(orders, studio.database, lock)
    with monkeypatch.context() as patch:
        patch.setattr(supervisor.Supervisor, "_fork", no_room)
        for _ in range(5):
            assert watching.tick()
        with studio.database.read() as connection:
            waiting = jobs.get(connection, job_id)
        assert waiting.state == "queued"
        assert waiting.max_attempts - waiting.attempt == 3
    wait_until(lambda: not watching.tick(), "no job is left")
    os.close(lock)
    with studio.database.read() as connection:
        assert jobs.get(connection, job_id).state == "succeeded"


@pytest.fixture
def server(tmp_path: Path, labelled_csv: Path) -> Iterator[LightServer]:
    texts = tmp_path / "pool.txt"
    texts.write_text("please label this\n", encoding="utf-8")
    studio = opened(tmp_path / "home")
    create_project(studio, "p")
    for file in (labelled_csv, texts):
        import_file(studio, ImportRequest("p", file))
    studio.database.close()
    server = LightServer(tmp_path / "home")
    yield server
    server.kill()
    server.kill_workers()


def crowd(server: LightServer, count: int) -> tuple[float, float]:
    """Open idle connections and close them; the server saves before and after, in these seconds."""
    port = int(server.address.rpartition(":")[2])
    before = saves_in(server)
    with ExitStack() as sockets:
        for _ in range(count):
            sockets.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
        time.sleep(0.5)
    return before, saves_in(server)


def saves_in(server: LightServer) -> float:
    """Fail unless the server saves a note; return the seconds that it takes."""
    began = time.monotonic()
    row = texts_of(server.home)["please label this"]
    operation = {"key": f"{began}", "kind": "flag", "id": row.id, "note": f"at {began}"}
    [outcome] = server.ask("/projects/p/ops", [operation])
    assert outcome["state"] == "saved"
    return time.monotonic() - began


def test_a_server_without_descriptors_recovers(
    server: LightServer, measured: Callable[[str, str], None]
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, hard))
    try:
        server.start()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    _, after = crowd(server, 200)
    measured(
        "sockets few", f"200 idle connections to 128 descriptors: answers again in {after:.2f} s."
    )


@pytest.mark.fire
def test_ten_thousand_idle_connections(
    server: LightServer, measured: Callable[[str, str], None]
) -> None:
    """A shell gives a process 1,024 descriptors, with which it was a crowd of 500."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    enough = 10_500 if hard == resource.RLIM_INFINITY else min(hard, 10_500)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, enough), hard))
    try:
        most = min(10_000, max(soft, enough) - 500)
        server.start()
        before, after = crowd(server, most)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    measured(
        "sockets many",
        f"{most:,} idle connections: an answer took {before:.2f} s before, {after:.2f} s after.",
    )


def test_too_many_open_files_are_told_as_such(studio: Studio) -> None:
    """It was told as "may not be written to"."""
    create_project(studio, "p")
    studio.database.close()

    def without_descriptors() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        held = []
        try:
            while True:
                held.append(os.open(os.devnull, os.O_RDONLY))
        except OSError:
            pass
        with studio.database.read():
            pass

    ended = do(without_descriptors)
    assert isinstance(ended.error, DatabaseBusy)
    assert "Too many files" in ended.error.message


def test_threads_of_the_supervisor_before_a_fork(studio: Studio) -> None:
    """A lock that another thread holds at a fork is held for ever in the copy."""
    create_project(studio, "p")
    lock = take_lock(studio.places.supervisor_lock)
    assert lock is not None

    def fork_a_job() -> int:
        orders = supervisor.Orders(
            studio.settings, workplace="tests.builders.toy_job_kinds:open_workplace"
        )
        watching = supervisor.Supervisor(orders, studio.database, lock)
        counts: list[int] = []
        real = supervisor.Supervisor._fork

        def counted(own: supervisor.Supervisor, job: JobRecord) -> object:
            counts.append(threading.active_count())
            return real(own, job)

        supervisor.Supervisor._fork = counted
        with studio.database.write() as connection:
            jobs.enqueue(connection, "steps", {"steps": 1}, 1)
        while watching.tick():
            time.sleep(0.02)
        return max(counts)

    assert do(fork_a_job).value == 1
    os.close(lock)
