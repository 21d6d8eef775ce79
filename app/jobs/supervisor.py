"""One process for each home that starts queued jobs, watches their children, and cleans up.

python -m app.jobs.supervisor --home DIR [--until-idle] [--workplace MODULE:NAME] [--lock NUMBER]

--lock is an inherited file descriptor that already holds the lock of the home's supervisor. The
other settings come from the environment, which its jobs inherit.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from app.home import Places
from app.jobs.lock import is_free, take_lock
from app.jobs.logs import end_of
from app.settings import Settings
from storage import jobs
from storage.database import Database, Transaction, open_database
from storage.jobs import Fenced, JobOutcome
from storage.records import JobRecord

ALREADY_RUNNING = 17
_POLL_SECONDS = 0.05
_WATCH_SECONDS = 0.25
_IDLE_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Orders:
    """How a supervisor works; `until_idle` makes it exit when no job is left.

    Attributes:
        workplace: `module:function` that opens a `Workplace` from settings, in the child process.
        grace_seconds: Seconds from a cancel to SIGTERM, and again from SIGTERM to SIGKILL.
    """

    places: Places
    until_idle: bool = False
    workplace: str = "app.bootstrap:open_workplace"
    grace_seconds: float = 5.0


@dataclass(slots=True)
class _Child:
    job: JobRecord
    process: subprocess.Popen[bytes]
    asked_at: float | None = None


@dataclass(slots=True)
class Supervisor:
    """Starts and watches the jobs of one home."""

    orders: Orders
    database: Database
    children: dict[str, _Child] = field(default_factory=dict)

    def run(self) -> None:
        """Serve for ever, or with `until_idle` until no job is left."""
        idle_since = time.monotonic()
        while True:
            if self.tick():
                idle_since = time.monotonic()
            elif self.orders.until_idle and time.monotonic() - idle_since > _IDLE_SECONDS:
                return
            self._pause()

    def _pause(self) -> None:
        """Rest between two looks; less often while a job runs, whose end is noticed at once."""
        child = next(iter(self.children.values()), None)
        if child is None:
            time.sleep(_POLL_SECONDS)
            return
        with suppress(subprocess.TimeoutExpired):
            child.process.wait(_WATCH_SECONDS)

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
                self._forget_cancelled(claimed)
                self.children[job.id] = _Child(claimed, self._spawn(claimed, descriptor))
        finally:
            os.close(descriptor)  # the child's copy holds the lock from here on

    def _forget_cancelled(self, job: JobRecord) -> None:
        """Delete the checkpoints of the project's other cancelled jobs of this kind."""
        with self.database.read() as connection:
            others = jobs.list_all(connection, project_id=job.project_id)
        for other in others:
            if other.state == "cancelled" and other.id != job.id and other.kind == job.kind:
                shutil.rmtree(self.orders.places.checkpoints(other.id), ignore_errors=True)

    def _spawn(self, job: JobRecord, descriptor: int) -> subprocess.Popen[bytes]:
        log = self.orders.places.log(job.id)
        log.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "app.jobs.worker"]
        command += ["--home", str(self.orders.places.home), "--job", job.id]
        command += ["--attempt", str(job.attempt), "--workplace", self.orders.workplace]
        with log.open("ab") as stream:
            return subprocess.Popen(
                command,
                stdin=subprocess.PIPE,  # closing it tells the child that the supervisor has ended
                stdout=stream,
                stderr=stream,
                pass_fds=(descriptor,),
            )

    def _watch(self, child: _Child, row: JobRecord | None) -> None:
        if child.process.poll() is not None:
            del self.children[child.job.id]
            if child.process.stdin:
                child.process.stdin.close()
            with self.database.read() as connection:
                self._settle(jobs.get(connection, child.job.id))
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
            child.process.send_signal(signal.SIGTERM)

    def _settle(self, job: JobRecord) -> None:
        """Store the log of a job whose process has ended; end or requeue an unfinished job."""
        tail = end_of(self.orders.places.log(job.id))
        with self.database.write() as connection:
            jobs.keep_log(connection, job.id, tail)
            if job.state == "running":
                self._settle_unfinished(connection, job)
        with self.database.read() as connection:
            row = jobs.get(connection, job.id)
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
                message = f"The job's process died {job.attempt} times."
                hint = "It may lack memory: close other programs, or tune in smaller batches."
                jobs.finish(connection, job.id, job.attempt, JobOutcome("failed", message, hint))
        except Fenced:
            return  # another supervisor settled it first


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
    places = Places(settings.folder)
    if options.lock is None and take_lock(places.supervisor_lock) is None:
        return ALREADY_RUNNING
    database = open_database(settings.database_url or places.database)
    orders = Orders(places, options.until_idle, options.workplace, options.grace)
    Supervisor(orders, database).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
