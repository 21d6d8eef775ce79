"""The child process that does one job.

python -m app.jobs.worker --home DIR --job ID --attempt N --workplace MODULE:NAME
"""

import argparse
import os
import sys
import threading
import traceback
import uuid
from importlib import import_module
from pathlib import Path

from app.jobs.context import JobContext, Stopped, Workplace
from app.jobs.logs import rotate_own_log
from app.settings import Settings
from core.errors import StudioError
from storage import jobs
from storage.jobs import Fenced, JobOutcome
from storage.records import JobRecord


def main() -> int:
    """Run as a program; the exit code is 0 when the job's outcome was written."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--job", required=True)
    parser.add_argument("--attempt", type=int, required=True)
    parser.add_argument("--workplace", required=True)
    options = parser.parse_args()
    module, function = options.workplace.split(":")
    workplace: Workplace = getattr(import_module(module), function)(Settings(home=options.home))
    log = workplace.places.log(options.job)
    threading.Thread(target=_leave_when_unwatched, daemon=True).start()
    threading.Thread(target=rotate_own_log, args=(log,), daemon=True).start()
    with workplace.database.read() as connection:
        job = jobs.get(connection, options.job)
    if job.attempt != options.attempt or job.state != "running":
        return 3
    return work(workplace, job)


def work(workplace: Workplace, job: JobRecord) -> int:
    """Do the job and write its outcome, including any error."""
    context = JobContext(workplace.places, workplace.database, job)
    try:
        publish = workplace.kinds[job.kind](context)
        with context.database.write() as connection:
            result = publish(connection)
            outcome = JobOutcome("succeeded", result=result)
            jobs.finish(connection, job.id, job.attempt, outcome)
    except Fenced:
        return 3
    except Stopped:
        return _end(context, JobOutcome("cancelled", "Cancelled."))
    except StudioError as error:
        return _end(context, JobOutcome("failed", error.message, error.hint))
    except MemoryError:
        hint = "Close other programs, or tune in smaller batches."
        return _end(context, JobOutcome("failed", "There was not enough memory.", hint))
    except Exception:  # noqa: BLE001 - the user gets an incident number, the log the rest
        incident = uuid.uuid4().hex[:8]
        sys.stderr.write(f"incident {incident}\n")
        traceback.print_exc()
        message = f"Something broke (incident {incident})."
        return _end(context, JobOutcome("failed", message, "The job's log tells more."))
    return 0


def _end(context: JobContext, outcome: JobOutcome) -> int:
    try:
        with context.database.write() as connection:
            jobs.finish(connection, context.job.id, context.job.attempt, outcome)
    except Fenced:
        return 3
    return 0


def _leave_when_unwatched() -> None:
    """End this process when its supervisor ends for any reason."""
    while os.read(0, 1):
        pass
    os._exit(4)


if __name__ == "__main__":
    sys.exit(main())
