"""What the process of one job does: a fork of its supervisor, which has the libraries loaded."""

import multiprocessing
import os
import sys
import threading
import traceback
import uuid

from app.jobs.context import JobContext, Stopped, Workplace
from app.jobs.logs import redirect_output, rotate_own_log
from app.jobs.process_names import JOB, name_process
from core.errors import RunFailed, StudioError
from core.files import disk_error
from storage import jobs
from storage.jobs import Fenced, JobOutcome
from storage.people.acts import VIA
from storage.records import JobRecord

_NO_MEMORY = ("allocate memory", "out of memory")
_NO_DEVICE = ("cuda", "hip error", "mps backend")
"""Parts of what torch says of a machine that cannot do what is asked, in small letters."""


def do_job(workplace: Workplace, claimed: JobRecord) -> None:
    """Do the job in this process; exit with 0 when its outcome was written, else with 3."""
    name_process(JOB)
    VIA.set("job")
    log = workplace.places.log(claimed.id)
    redirect_output(log)
    threading.Thread(target=_leave_when_unwatched, daemon=True).start()
    threading.Thread(target=rotate_own_log, args=(log,), daemon=True).start()
    with workplace.database.read() as connection:
        job = jobs.get(connection, claimed.id)
    if job.attempt != claimed.attempt or job.state != "running":
        sys.exit(3)
    sys.exit(work(workplace, job))


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
    except Exception as error:  # noqa: BLE001 - the user gets an incident number, the log the rest
        known = disk_error(error) or _machine_error(error)
        if known is not None:
            return _end(context, JobOutcome("failed", known.message, known.hint))
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


def _machine_error(error: Exception) -> RunFailed | None:
    """Return what to tell of a lack of memory or of a graphics processor that failed."""
    words = str(error).casefold()
    if isinstance(error, MemoryError) or any(sign in words for sign in _NO_MEMORY):
        hint = "Close other programs, or tune in smaller batches."
        return RunFailed("There was not enough memory.", hint)
    if isinstance(error, RuntimeError) and any(sign in words for sign in _NO_DEVICE):
        reason = str(error).partition("\n")[0][:200]
        return RunFailed(
            f"The graphics processor failed: {reason}.",
            "Train again, or set STUDIO_DEVICE to cpu and open the studio anew.",
        )
    return None


def _leave_when_unwatched() -> None:
    """End this process when its supervisor ends for any reason."""
    supervisor = multiprocessing.parent_process()
    if supervisor is not None:
        supervisor.join()
        os._exit(4)
