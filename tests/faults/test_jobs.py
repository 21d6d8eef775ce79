"""Processes are killed at any moment; what was promised holds all the same."""

import multiprocessing
import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest

from app.home import Places
from app.jobs.context import JobContext, Publish, Workplace
from app.jobs.local import LocalExecutor
from app.jobs.lock import is_free, take_lock
from app.jobs.process_names import JOB
from app.jobs.supervisor import ALREADY_RUNNING, Orders, Supervisor
from app.jobs.worker import do_job, work
from app.settings import Settings
from core.errors import DatabaseBusy
from storage import database as opening
from storage import jobs, models, projects
from storage.artifacts import ArtifactStore
from storage.database import Database, open_database
from storage.jobs import Fenced, JobOutcome, Progress
from storage.records import JobRecord
from tests.builders.forked_command import start_fork
from tests.builders.toy_job_kinds import open_workplace
from tests.faults.processes import holding, serving
from tests.faults.table import Fault
from tests.waiting import wait_until

FAULTS = (
    Fault(
        18,
        "A child ignores SIGTERM",
        "SIG_IGN in a job that was cancelled",
        "It is killed when its time to end is over, and the job ends as cancelled",
    ),
    Fault(
        1.3,
        "Supervisor and children are killed while they work",
        "20 rounds of SIGKILL of the one, the other, both",
        "Each job is done once, fenced attempts write nothing, orphans leave",
    ),
)


class Home:
    """A home with a supervisor that can be killed."""

    def __init__(self, path: Path) -> None:
        self.places = Places(path)
        path.mkdir()
        self.database: Database = open_database(self.places.database)
        with self.database.write() as connection:
            self.project_id = projects.create(connection, "p").id
        self.supervisor: ForkServerProcess | None = None

    def start(self, *, until_idle: bool = True) -> ForkServerProcess:
        arguments = ["--home", str(self.places.home), "--grace", "0.3"]
        arguments += ["--workplace", "tests.builders.toy_job_kinds:open_workplace"]
        arguments += ["--until-idle"] * until_idle
        output, program = self.places.home.with_suffix(".output"), "app.jobs.supervisor"
        self.supervisor = start_fork(arguments, dict(os.environ), output, program)
        return self.supervisor

    def enqueue(self, kind: str, **payload: int) -> JobRecord:
        with self.database.write() as connection:
            return jobs.enqueue(connection, kind, payload, self.project_id)

    def job(self, job_id: str) -> JobRecord:
        with self.database.read() as connection:
            return jobs.get(connection, job_id)

    def wait(self, job_id: str, ready, seconds: float = 180.0) -> JobRecord:
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            row = self.job(job_id)
            if ready(row):
                return row
            time.sleep(0.02)
        raise AssertionError(self.job(job_id))

    def children(self) -> list[int]:
        """Workers of this home, whoever their parent is."""
        return serving(self.places.home, JOB)

    def kill_child(self) -> None:
        for pid in self.children():
            os.kill(pid, signal.SIGKILL)

    def kill_supervisor(self) -> None:
        if self.supervisor is not None:
            self.supervisor.kill()
            self.supervisor.join()

    def close(self) -> None:
        self.kill_supervisor()
        self.kill_child()
        self.database.close()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path / "home")
    yield made
    made.close()


@pytest.mark.slow
def test_twenty_rounds_of_killing_leave_each_job_done_once(home: Home) -> None:
    """The child, the supervisor, and both are killed in turn, each in mid-work."""
    generator = random.Random(0)
    ended: list[JobRecord] = []
    home.start(until_idle=False)
    for turn in range(20):
        job = home.enqueue("steps", steps=6)
        home.wait(job.id, lambda row: row.progress > 0 or row.ended)
        time.sleep(generator.random() * 0.15)
        if turn % 3 in (0, 2):
            home.kill_child()
        if turn % 3 in (1, 2):
            home.kill_supervisor()
            home.start(until_idle=False)
        ended.append(home.wait(job.id, lambda row: row.ended))
    home.kill_supervisor()
    assert [job.state for job in ended] == ["succeeded"] * 20
    assert max(job.attempt for job in ended) > 1
    with home.database.read() as connection:
        made = models.list_all(connection, home.project_id)
        damage = ArtifactStore(home.places.artifacts).damaged(connection)
    assert [model.number for model in made] == list(range(1, 21))
    assert sorted(job.result["number"] for job in ended) == list(range(1, 21))
    assert damage == {}
    assert opening.damage(home.places.database) == ()
    with home.database.write() as connection:
        ArtifactStore(home.places.artifacts).sweep(connection, grace_seconds=0)
    assert not list(home.places.artifacts.rglob(".part-*"))
    wait_until(lambda: not home.children(), "the workers have ended")


@pytest.mark.parametrize(
    ("kind", "hint"),
    [
        ("train", "Close other programs, or train with Quick or a smaller batch size."),
        # A map and a grouping were told to train with Quick.
        ("steps", "Close other programs, then try again."),
    ],
)
def test_a_child_that_dies_every_time_fails_in_words(home: Home, kind: str, hint: str) -> None:
    job = home.enqueue(kind, steps=200)
    home.start()
    for attempt in (1, 2, 3):
        home.wait(job.id, lambda row, n=attempt: row.attempt == n and row.stage.startswith("step"))
        home.kill_child()
    ended = home.wait(job.id, lambda row: row.ended)
    assert ended.state == "failed"
    assert ended.message == "It was broken off 3 times, perhaps for lack of memory."
    assert ended.hint == hint


def test_a_cancel_is_heeded_and_a_waiting_job_never_begins(home: Home) -> None:
    first, second = home.enqueue("steps", steps=200), home.enqueue("steps", steps=1)
    home.start()
    home.wait(first.id, lambda row: row.progress > 0)
    with home.database.write() as connection:
        jobs.request_cancel(connection, second.id)
        jobs.request_cancel(connection, first.id)
    assert home.wait(first.id, lambda row: row.ended).state == "cancelled"
    ended = home.job(second.id)
    assert (ended.state, ended.attempt) == ("cancelled", 0)
    assert not home.places.checkpoints(second.id).exists()


def test_a_cancelled_job_goes_on_from_where_it_was_until_another_begins(home: Home) -> None:
    first, second = home.enqueue("steps", steps=60), home.enqueue("steps", steps=60)
    kept = home.places.checkpoints(first.id) / "done"
    home.start()
    for job in (first, second):
        home.wait(job.id, lambda row: row.progress > 0.1)
        assert kept.exists() is (job is first)  # the next one begins, and this one is past
        with home.database.write() as connection:
            jobs.request_cancel(connection, job.id)
        assert home.wait(job.id, lambda row: row.ended).state == "cancelled"
    done = int((home.places.checkpoints(second.id) / "done").read_text())
    assert done > 2
    with home.database.write() as connection:
        jobs.resume(connection, second.id)
    home.kill_supervisor()
    home.start()
    began = home.wait(second.id, lambda row: row.attempt == 2 and row.stage.startswith("step"))
    assert int(began.stage.split()[1]) >= done
    ended = home.wait(second.id, lambda row: row.ended)
    assert (ended.state, ended.attempt) == ("succeeded", 2)
    home.wait(second.id, lambda _: not home.places.checkpoints(second.id).exists())


def test_a_stubborn_child_is_killed_when_its_graces_are_over(home: Home) -> None:
    job = home.enqueue("stubborn")
    home.start()
    home.wait(job.id, lambda row: row.state == "running")
    time.sleep(1.0)
    with home.database.write() as connection:
        jobs.request_cancel(connection, job.id)
    # By itself it would go on for an hour.
    assert home.wait(job.id, lambda row: row.ended).state == "cancelled"


def test_an_orphan_leaves_when_its_supervisor_is_killed(home: Home) -> None:
    job = home.enqueue("stubborn")
    home.start()
    home.wait(job.id, lambda _: bool(home.children()))
    time.sleep(1.0)
    home.kill_supervisor()
    wait_until(lambda: is_free(home.places.device_lock("cpu")), "the device is free", 180)
    assert home.children() == []


def test_a_second_supervisor_is_refused(home: Home) -> None:
    held = take_lock(home.places.supervisor_lock)
    assert held is not None
    second = home.start()
    second.join(180)
    assert second.exitcode == ALREADY_RUNNING
    os.close(held)


def test_asking_often_starts_one_supervisor(home: Home) -> None:
    """Every poll of a page started one more, until the first had loaded its modules."""
    executor = LocalExecutor(Settings(home=home.places.home))
    running = []
    for _ in range(5):
        executor.ensure_running()
        running.append(len(holding(home.places.supervisor_lock)))
    # With no job left it ends, and its lock with it.
    wait_until(lambda: is_free(home.places.supervisor_lock), "the supervisor ends")
    # On a busy machine the first may have ended before the last request.
    assert (running[0], max(running)) == (1, 1)


def test_a_stale_attempt_is_fenced_off(home: Home) -> None:
    job = home.enqueue("steps", steps=1)
    with home.database.write() as connection:
        stale = jobs.claim(connection, job.id)
        jobs.put_back(connection, job.id, stale.attempt)
        fresh = jobs.claim(connection, job.id)
    assert (stale.attempt, fresh.attempt) == (1, 2)
    for write in (
        lambda c: jobs.report(c, job.id, 1, Progress(0.5, "late")),
        lambda c: jobs.finish(c, job.id, 1, JobOutcome("succeeded")),
    ):
        with pytest.raises(Fenced), home.database.write() as connection:
            write(connection)
    home.database.close()
    workplace = open_workplace(Settings(home=home.places.home))
    workplace.database.close()
    process = multiprocessing.get_context("fork").Process(target=do_job, args=(workplace, stale))
    process.start()
    process.join()
    assert process.exitcode == 3
    assert home.job(job.id).state == "running"


def impatient(database: Database) -> None:
    """Let the writers of a database wait 200 ms for those of other programs."""
    with database.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA busy_timeout=200")


def test_a_job_goes_on_while_another_program_writes(home: Home) -> None:
    """A report that found the database busy ended the job as failed, and its checkpoints went."""
    job = home.enqueue("steps", steps=1)
    with home.database.write() as connection:
        claimed = jobs.claim(connection, job.id)
    context = JobContext(home.places, home.database, claimed)
    context.draw("loss", 1, 0.5)
    impatient(home.database)
    other = open_database(home.places.database)
    with other.write():
        context.report(0.5, "half", at_once=True)
        context.keep_curve()
    other.close()
    assert (home.job(job.id).state, home.job(job.id).stage) == ("running", claimed.stage)
    context.report(0.75, "later", at_once=True)
    row = home.job(job.id)
    assert (row.progress, row.stage, row.curve) == (0.75, "later", {"loss": [[1, 0.5]]})


def test_what_a_job_made_is_stored_when_another_program_has_written(home: Home) -> None:
    """The work of hours was thrown away for a database that was busy at its end."""
    job = home.enqueue("steps", steps=1)
    with home.database.write() as connection:
        claimed = jobs.claim(connection, job.id)
    impatient(home.database)
    other, holds = open_database(home.places.database), threading.Event()

    def write() -> None:
        with other.write():
            holds.set()
            time.sleep(0.3)

    writer = threading.Thread(target=write)

    def begin(_: JobContext) -> Publish:
        writer.start()
        assert holds.wait(60)
        return lambda _: {"made": 1}

    assert work(Workplace(home.places, home.database, {"steps": begin}), claimed) == 0
    writer.join()
    other.close()
    ended = home.job(job.id)
    assert (ended.state, ended.result) == ("succeeded", {"made": 1})


def test_a_supervisor_looks_again_after_the_database_was_busy(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ended, and each job that ran lost one of its attempts."""
    looks = list[str]()

    def tick(_: Supervisor) -> bool:
        looks.append("look")
        if len(looks) == 1:
            raise DatabaseBusy("Another program is writing.")
        return False

    monkeypatch.setattr(Supervisor, "tick", tick)
    Supervisor(Orders(Settings(home=home.places.home)), home.database, lock=0).run()
    assert len(looks) > 1


def test_a_long_log_keeps_its_end_and_failures_keep_their_words(home: Home) -> None:
    made = {kind: home.enqueue(kind) for kind in ("noisy", "wrong", "broken")}
    home.start()
    ended = {kind: home.wait(job.id, lambda row: row.ended) for kind, job in made.items()}
    assert ended["noisy"].state == "succeeded"
    noisy = home.wait(made["noisy"].id, lambda row: bool(row.log_tail))
    assert noisy.log_tail.endswith("the end\n")
    assert len(noisy.log_tail) <= 8_000
    assert (ended["wrong"].message, ended["wrong"].hint) == (
        "There are no labels.",
        "Label something.",
    )
    assert "incident" in ended["broken"].message
    broken = home.wait(made["broken"].id, lambda row: bool(row.log_tail))
    assert "ZeroDivisionError" in broken.log_tail


def test_no_line_is_lost_when_a_long_log_is_begun_anew(home: Home) -> None:
    """The supervisor cut logs short, and what was printed while it did so was gone."""
    job = home.enqueue("counting")
    home.start()
    ended = home.wait(job.id, lambda row: row.ended and bool(row.log_tail))
    assert ended.state == "succeeded", ended.log_tail[-500:]
    log = home.places.log(job.id)
    [older] = log.parent.glob(f"{log.name}.*")
    numbers = [int(line) for line in (older.read_text() + log.read_text()).split("\n")[1:-1]]
    assert numbers == list(range(1, ended.result["last"] + 1))
    assert 499 <= len(log.read_text().splitlines()) < len(numbers)
    assert ended.log_tail.endswith(f"{numbers[-2]}\n{numbers[-1]}\n")
    assert len(ended.log_tail) == 8_000
