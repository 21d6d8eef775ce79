"""One process for each home that starts queued jobs, watches their children, and cleans up.

python -m app.jobs.supervisor --home DIR [--until-idle] [--workplace MODULE:NAME] [--lock NUMBER]

--lock is an inherited file descriptor that already holds the lock of the home's supervisor. The
other settings come from the environment, which its jobs inherit.
"""

import argparse
import logging
import multiprocessing
import os
import shutil
import sys
import time
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing.process import BaseProcess
from pathlib import Path

from app.home import Places
from app.jobs.context import Workplace
from app.jobs.lock import is_free, lacks_processes, take_lock
from app.jobs.logs import end_of
from app.jobs.process_names import SUPERVISOR, name_process
from app.jobs.worker import do_job
from app.log_lines import note, set_up_logs
from app.settings import Settings
from core.errors import DatabaseBusy
from storage import jobs
from storage.database import Database, Transaction, open_database
from storage.jobs import Fenced, JobOutcome
from storage.records import JobRecord

_LOG = logging.getLogger("app.jobs")
ALREADY_RUNNING = 17
_POLL_SECONDS = 0.05
_WATCH_SECONDS = 0.25
_IDLE_SECONDS = 0.5
_FOR_TRAINING = "Close other programs, or train with Quick or a smaller batch size."
_FOR_OTHERS = "Close other programs, then try again."
"""What to do about a job whose process ended again and again, perhaps for lack of memory."""


@dataclass(frozen=True, slots=True)
class Orders:
    """How a supervisor works; `until_idle` makes it exit when no job is left.

    Attributes:
        workplace: `module:function` that opens a `Workplace` from settings.
        grace_seconds: Seconds from a cancel to SIGTERM, and again from SIGTERM to SIGKILL.
    """

    settings: Settings
    until_idle: bool = True
    workplace: str = "app.bootstrap:open_workplace"
    grace_seconds: float = 5.0

    @property
    def places(self) -> Places:
        """The paths of the home."""
        return Places.of(self.settings)

    def open_workplace(self) -> Workplace:
        """Load the libraries of jobs, and open what a job works with."""
        module, function = self.workplace.split(":")
        workplace: Workplace = getattr(import_module(module), function)(self.settings)
        return workplace


@dataclass(slots=True)
class _Child:
    job: JobRecord
    process: BaseProcess
    asked_at: float | None = None


@dataclass(slots=True)
class Supervisor:
    """Starts and watches the jobs of one home.

    Attributes:
        lock: Descriptor that holds the lock of the home's supervisor.
        workplace: What the jobs work with; opened for the first of them.
    """

    orders: Orders
    database: Database
    lock: int
    workplace: Workplace | None = None
    children: dict[str, _Child] = field(default_factory=dict)

    def run(self) -> None:
        """Serve for ever, or with `until_idle` until no job is left."""
        idle_since = time.monotonic()
        while True:
            if self._look():
                idle_since = time.monotonic()
            elif self.orders.until_idle and time.monotonic() - idle_since > _IDLE_SECONDS:
                return
            self._pause()

    def _look(self) -> bool:
        """Check every job once; what a busy database did not take is left to the next look."""
        try:
            return self.tick()
        except DatabaseBusy as error:
            _LOG.warning("The jobs were not looked at: %s", error)
            time.sleep(_WATCH_SECONDS)
            return True

    def _pause(self) -> None:
        """Rest between two looks; less often while a job runs, whose end is noticed at once."""
        child = next(iter(self.children.values()), None)
        if child is None:
            time.sleep(_POLL_SECONDS)
            return
        child.process.join(_WATCH_SECONDS)

    def tick(self) -> bool:
        """Check every job once; return whether any is left."""
        with self.database.read() as connection:
            live = jobs.live(connection)
        by_id = {job.id: job for job in live}
        for child in list(self.children.values()):
            self._watch(child, by_id.get(child.job.id))
        for job in live:
            if job.id not in self.children:
                self._take_up(job)
        return bool(live or self.children)

    def _take_up(self, job: JobRecord) -> None:
        """Start a queued job, or settle a running one whose process has ended."""
        lock = self.orders.places.device_lock(job.device)
        if job.state == "running":
            if is_free(lock):
                self._settle(job)
            return
        descriptor = take_lock(lock)
        if descriptor is None:
            return
        try:
            with self.database.write() as connection:
                claimed = jobs.claim(connection, job.id)
            if claimed.state == "running":
                _note("job started", claimed)
                self._forget_cancelled(claimed)
                self.children[job.id] = _Child(claimed, self._fork(claimed))
        except OSError as error:
            if not lacks_processes(error):
                raise
            with self.database.write() as connection:
                jobs.put_back(connection, job.id, claimed.attempt, began=False)
            time.sleep(_WATCH_SECONDS)
        finally:
            os.close(descriptor)  # the child's copy holds the lock from here on

    def _forget_cancelled(self, job: JobRecord) -> None:
        """Delete the checkpoints of the project's other cancelled jobs of this kind."""
        with self.database.read() as connection:
            others = jobs.list_all(connection, project_id=job.project_id)
        for other in others:
            if other.state == "cancelled" and other.id != job.id and other.kind == job.kind:
                shutil.rmtree(self.orders.places.checkpoints(other.id), ignore_errors=True)

    def _fork(self, job: JobRecord) -> BaseProcess:
        """Start a job in a copy of this process: the libraries are loaded for the first one only.

        Nothing is computed here, because a copy has none of the threads that a library started.
        """
        if self.workplace is None:
            self.workplace = self.orders.open_workplace()
        # A connection of SQLite must not be used, nor be closed, in a copy of its process.
        self.workplace.database.close()
        self.database.close()
        context = multiprocessing.get_context("fork")
        process = context.Process(target=_in_fork, args=(self.lock, self.workplace, job))
        process.start()
        return process

    def _watch(self, child: _Child, row: JobRecord | None) -> None:
        if not child.process.is_alive():
            with self.database.read() as connection:
                self._settle(jobs.get(connection, child.job.id))
            del self.children[child.job.id]
            child.process.close()
            return
        if row is not None and row.cancel_requested:
            self._press(child)

    def _press(self, child: _Child) -> None:
        """Send SIGTERM after one grace period, and SIGKILL after two."""
        child.asked_at = child.asked_at or time.monotonic()
        waited = time.monotonic() - child.asked_at
        if waited > 2 * self.orders.grace_seconds:
            child.process.kill()
        elif waited > self.orders.grace_seconds:
            child.process.terminate()

    def _settle(self, job: JobRecord) -> None:
        """Store the log of a job whose process has ended; end or requeue an unfinished job."""
        tail = end_of(self.orders.places.log(job.id))
        with self.database.write() as connection:
            jobs.keep_log(connection, job.id, tail)
            if job.state == "running":
                self._settle_unfinished(connection, job)
        with self.database.read() as connection:
            row = jobs.get(connection, job.id)
        _note("job ended" if row.ended else "job interrupted", row)
        ended, resumable = row.ended, row.state == "cancelled"
        if ended and not resumable:
            shutil.rmtree(self.orders.places.checkpoints(job.id), ignore_errors=True)

    def _settle_unfinished(self, connection: Transaction, job: JobRecord) -> None:
        try:
            if job.cancel_requested:
                jobs.finish(connection, job.id, job.attempt, JobOutcome("cancelled", "Cancelled."))
            elif job.attempt < job.max_attempts:
                jobs.put_back(connection, job.id, job.attempt)
            else:
                message = f"It was broken off {job.attempt} times, perhaps for lack of memory."
                hint = _FOR_TRAINING if job.kind == "train" else _FOR_OTHERS
                jobs.finish(connection, job.id, job.attempt, JobOutcome("failed", message, hint))
        except Fenced:
            return  # another supervisor settled it first


def _note(event: str, job: JobRecord) -> None:
    facts = {"job": job.id, "kind": job.kind, "state": job.state, "attempt": job.attempt}
    note(_LOG, event, facts)


def _in_fork(lock: int, workplace: Workplace, job: JobRecord) -> None:
    os.close(lock)  # a job that outlives its supervisor does not keep the next one out
    do_job(workplace, job)


def supervise(orders: Orders, lock: int) -> None:
    """Serve a home whose supervisor's lock this process holds, by an open descriptor."""
    name_process(SUPERVISOR)
    set_up_logs(orders.settings.log)
    database = open_database(orders.places.database)
    supervisor = Supervisor(orders, database, lock)
    try:
        supervisor.run()
    finally:
        database.close()


def main() -> int:
    """Run as a program."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--workplace", default=Orders.__dataclass_fields__["workplace"].default)
    parser.add_argument("--until-idle", action="store_true")
    parser.add_argument("--grace", type=float, default=5.0)
    parser.add_argument("--lock", type=int)
    options = parser.parse_args()
    settings = Settings(home=options.home)
    orders = Orders(settings, options.until_idle, options.workplace, options.grace)
    lock = options.lock or take_lock(orders.places.supervisor_lock)
    if lock is None:
        return ALREADY_RUNNING
    supervise(orders, lock)
    return 0


if __name__ == "__main__":
    sys.exit(main())
