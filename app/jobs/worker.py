"""The child process that does one job.

python -m app.jobs.worker --home DIR --job ID --attempt N --kinds MODULE:NAME
"""

import argparse
import os
import sys
import threading
import time
import traceback
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from app.jobs.places import Places
from core.errors import StudioError
from storage import jobs
from storage.database import Database, Transaction, open_database
from storage.jobs import Fenced, Outcome, Progress
from storage.records import JobRecord

_REPORT_SECONDS = 0.5
Publish = Callable[[Transaction], dict[str, Any]]
"""Writes a job's result in the transaction that ends the job, so that it exists exactly once."""


class Stopped(Exception):
    """The job was asked to stop and did."""


@dataclass(slots=True)
class JobContext:
    """What a kind of job is given to work with."""

    places: Places
    database: Database
    job: JobRecord
    began: float = field(default_factory=time.monotonic)
    told: float = 0.0
    first_share: float | None = None

    def report(self, share: float, stage: str) -> None:
        """Tell how far the job is; cheap to call often.

        Raises:
            Stopped: The job was asked to stop.
            Fenced: Another attempt has taken over.
        """
        moment = time.monotonic()
        if moment - self.told < _REPORT_SECONDS:
            return
        if self.first_share is None:
            self.first_share, self.began = share, moment
        self.told = moment
        progress = Progress(min(max(share, 0.0), 1.0), stage, self._eta(share, moment))
        with self.database.write() as connection:
            if jobs.report(connection, self.job.id, self.job.attempt, progress):
                raise Stopped

    def _eta(self, share: float, moment: float) -> float | None:
        """Seconds left, at the speed since this attempt began (a resumed one starts ahead)."""
        done = share - (self.first_share or 0.0)
        return (moment - self.began) * (1.0 - share) / done if done > 0.01 else None


Kinds = dict[str, Callable[[JobContext], Publish]]


def main() -> int:
    """Run as a program; the exit code is 0 when the job's end was written."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--job", required=True)
    parser.add_argument("--attempt", type=int, required=True)
    parser.add_argument("--kinds", required=True)
    parser.add_argument("--database")
    options = parser.parse_args()
    threading.Thread(target=_leave_when_unwatched, daemon=True).start()
    places = Places(options.home)
    database = open_database(options.database or places.database)
    with database.read() as connection:
        job = jobs.get(connection, options.job)
    if job.attempt != options.attempt or job.state != "running":
        return 3
    return work(JobContext(places, database, job), _load_kinds(options.kinds))


def work(context: JobContext, kinds: Kinds) -> int:
    """Do the job and write its end, in words whatever happens."""
    job = context.job
    try:
        publish = kinds[job.kind](context)
        with context.database.write() as connection:
            result = publish(connection)
            outcome = Outcome("succeeded", result=result)
            jobs.finish(connection, job.id, job.attempt, outcome)
    except Fenced:
        return 3
    except Stopped:
        return _end(context, Outcome("cancelled", "Cancelled."))
    except StudioError as error:
        return _end(context, Outcome("failed", error.message, error.hint))
    except MemoryError:
        hint = "Close other programs, or tune in smaller batches."
        return _end(context, Outcome("failed", "There was not enough memory.", hint))
    except Exception:  # noqa: BLE001 - the edge: a person gets an incident number, the log the rest
        incident = uuid.uuid4().hex[:8]
        sys.stderr.write(f"incident {incident}\n")
        traceback.print_exc()
        message = f"Something broke (incident {incident})."
        return _end(context, Outcome("failed", message, "The job's log tells more."))
    return 0


def _end(context: JobContext, outcome: Outcome) -> int:
    try:
        with context.database.write() as connection:
            jobs.finish(connection, context.job.id, context.job.attempt, outcome)
    except Fenced:
        return 3
    return 0


def _load_kinds(name: str) -> Kinds:
    module, function = name.split(":")
    kinds: Kinds = getattr(import_module(module), function)()
    return kinds


def _leave_when_unwatched() -> None:
    """End this process when its supervisor does, however that one ends."""
    while os.read(0, 1):
        pass
    os._exit(4)


if __name__ == "__main__":
    sys.exit(main())
