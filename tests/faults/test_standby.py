"""The server's own process for jobs: forked at its start, asleep until it is asked."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.jobs import local
from app.jobs.local import LocalExecutor
from app.jobs.lock import is_free
from app.jobs.process_names import JOB, SUPERVISOR
from app.jobs.standby import start_standby
from app.jobs.supervisor import Orders
from app.settings import Settings
from storage import jobs, projects
from storage.database import Database, open_database
from storage.records import JobRecord
from tests.faults.processes import serving
from tests.waiting import wait_until

TOYS = "tests.builders.toy_job_kinds:open_workplace"


class StandbyHome:
    """A home whose server has a process for jobs."""

    def __init__(self, path: Path) -> None:
        settings = Settings(home=path, log="json")
        self.orders = Orders(settings, workplace=TOYS)
        self.executor = LocalExecutor(settings, start_standby(self.orders))
        self.database: Database = open_database(self.orders.places.database)
        with self.database.write() as connection:
            self.project_id = projects.create(connection, "p").id

    def enqueue(self, kind: str, **payload: int) -> str:
        with self.database.write() as connection:
            job = jobs.enqueue(connection, kind, payload, self.project_id)
        self.executor.ensure_running()
        return job.id

    def job(self, job_id: str) -> JobRecord:
        with self.database.read() as connection:
            return jobs.get(connection, job_id)

    def pids(self, name: str) -> list[int]:
        return serving(self.orders.places.home, name)

    def end_server(self) -> None:
        """Do what its end does, however it ends."""
        if self.executor.standby is not None:
            os.close(self.executor.standby)
            self.executor = LocalExecutor(self.orders.settings)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandbyHome]:
    (tmp_path / "home").mkdir()
    # As outside of pytest: what is printed goes where descriptor 2 leads.
    monkeypatch.setattr(sys, "stderr", os.fdopen(2, "w", 1, closefd=False))
    home = StandbyHome(tmp_path / "home")
    yield home
    home.end_server()
    for name in (SUPERVISOR, JOB):
        for pid in home.pids(name):
            os.kill(pid, signal.SIGKILL)
    home.database.close()


def no_interpreter(*_: object, **__: object) -> None:
    raise AssertionError("a new interpreter was started")


def test_jobs_one_after_the_other_need_no_new_interpreter(
    home: StandbyHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each training began with 2.5 s of imports, in a process of its own."""
    monkeypatch.setattr(local.subprocess, "run", no_interpreter)
    pids = []
    for _ in range(2):
        job_id = home.enqueue("steps", steps=2)
        wait_until(lambda job_id=job_id: home.job(job_id).ended, "the job has ended")
        pids += home.pids(SUPERVISOR)
        assert home.job(job_id).state == "succeeded"
        # Asleep it holds no lock: a command may start a supervisor of its own.
        wait_until(lambda: is_free(home.orders.places.supervisor_lock), "the supervisor sleeps")
    assert len(pids) == 2
    assert len(set(pids)) == 1


def test_a_job_goes_on_when_the_server_has_ended(home: StandbyHome) -> None:
    job_id = home.enqueue("steps", steps=30)
    wait_until(lambda: home.job(job_id).progress > 0, "the job has begun")
    [standby] = home.pids(SUPERVISOR)
    home.end_server()
    wait_until(lambda: home.job(job_id).ended, "the job has ended")
    assert (home.job(job_id).state, home.job(job_id).attempt) == ("succeeded", 1)
    wait_until(lambda: not Path(f"/proc/{standby}").exists(), "the process for jobs ends")


def test_when_somebody_ended_it_another_supervisor_is_started(home: StandbyHome) -> None:
    job_id = home.enqueue("stubborn")
    wait_until(lambda: home.pids(JOB), "the job has a process")
    for pid in home.pids(SUPERVISOR):
        os.kill(pid, signal.SIGKILL)
    # The job's process sees that nobody watches it any more.
    wait_until(lambda: not home.pids(JOB) and not home.pids(SUPERVISOR), "both have ended")
    # A killed process loses its name before its locks, and perhaps these before its pipe: what is
    # written into that is lost. Who follows a job asks again and again.
    wait_until(lambda: is_free(home.orders.places.supervisor_lock), "the supervisor sleeps")
    assert home.job(job_id).state == "running"
    with home.database.write() as connection:
        jobs.request_cancel(connection, job_id)

    def has_ended() -> bool:
        home.executor.ensure_running()
        return home.job(job_id).ended

    wait_until(has_ended, "the job has ended")
    assert home.job(job_id).state == "cancelled"


def test_the_supervisor_logs_beginning_and_end_of_each_job(home: StandbyHome) -> None:
    job_id = home.enqueue("steps", steps=1)
    wait_until(lambda: home.job(job_id).ended, "the job has ended")
    wait_until(lambda: is_free(home.orders.places.supervisor_lock), "the supervisor sleeps")
    log = home.orders.places.log("supervisor").read_text(encoding="utf-8")
    told = [json.loads(line) for line in log.splitlines()]
    assert [(line["event"], line["job"], line["state"]) for line in told] == [
        ("job started", job_id, "running"),
        ("job ended", job_id, "succeeded"),
    ]
