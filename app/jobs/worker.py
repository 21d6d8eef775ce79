"""What the process of one job does: a fork of its supervisor, which has the libraries loaded."""

import multiprocessing
import os
import sys
import threading
import time
import uuid
from collections.abc import Callable

from app.failures import failure_in_words
from app.jobs.context import JobContext, Stopped, Workplace
from app.jobs.logs import redirect_output, rotate_own_log
from app.jobs.process_names import JOB, name_process
from app.log_lines import places_of
from core.errors import DatabaseBusy
from storage import jobs
from storage.database import Transaction
from storage.jobs import Fenced, JobOutcome
from storage.people.acts import VIA
from storage.records import JobRecord

_NICE = 10
"""Added to the process's niceness: on few cores a training takes what pages and answers leave."""

_TRIES = 20
"""Times that an outcome is written while the database is busy; each waits as long as any writer."""
_REST_SECONDS = 0.5


def do_job(workplace: Workplace, claimed: JobRecord) -> None:
    """Do the job in this process; exit with 0 when its outcome was written, else with 3."""
    name_process(JOB)
    VIA.set("job")
    if hasattr(os, "nice"):
        os.nice(_NICE)
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

        def succeed(connection: Transaction) -> None:
            outcome = JobOutcome("succeeded", result=publish(connection))
            jobs.finish(connection, job.id, job.attempt, outcome)

        _write_patiently(context, succeed)
    except Fenced:
        return 3
    except Stopped:
        return _end(context, JobOutcome("cancelled", "Cancelled."))
    except Exception as error:  # noqa: BLE001 - the user gets words or an incident's number
        return _end(context, _failed(error))
    return 0


def _failed(error: Exception) -> JobOutcome:
    """Return the outcome in words; the log gets places in the code, and no text of a project."""
    told = failure_in_words(error)
    if told is not error:
        incident = uuid.uuid4().hex[:8]
        sys.stderr.write("\n    ".join([f"incident {incident}", *places_of(error)]) + "\n")
    if told is not None:
        return JobOutcome("failed", told.message, told.hint)
    message = f"Something broke (incident {incident})."
    hint = (
        "Start it again. If it breaks again, look for this number in the folder logs: it says why."
    )
    return JobOutcome("failed", message, hint)


def _end(context: JobContext, outcome: JobOutcome) -> int:
    try:
        _write_patiently(
            context,
            lambda connection: jobs.finish(
                connection, context.job.id, context.job.attempt, outcome
            ),
        )
    except Fenced:
        return 3
    return 0


def _write_patiently(context: JobContext, act: Callable[[Transaction], object]) -> None:
    """Write in one transaction; a database that is busy is tried again, some times."""
    for left in reversed(range(_TRIES)):
        try:
            with context.database.write() as connection:
                act(connection)
        except DatabaseBusy:
            if not left:
                raise
            time.sleep(_REST_SECONDS)  # where the lock was not waited for, as without file handles
        else:
            return


def _leave_when_unwatched() -> None:
    """End this process when its supervisor ends for any reason."""
    supervisor = multiprocessing.parent_process()
    if supervisor is not None:
        supervisor.join()
        os._exit(4)
