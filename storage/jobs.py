"""Jobs: the row is the protocol. `attempt` is the fencing token of the process that may write."""

import uuid
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from core.errors import Conflict, NotFound, TooManyJobs
from storage.records import JobRecord, ProjectRecord, now, record_of
from storage.tables import alias, job, model_version

_LOG_LIMIT = 8_000
_ATTEMPTS = 3
_LIVE = ("queued", "running")
MOST_QUEUED = 50
"""Jobs that may wait at once; a program in a loop would fill the disk."""


class Fenced(Exception):
    """Another attempt has taken the job over, or it has ended; the process must stop."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a job: a share in [0, 1], a stage in words, seconds left if known."""

    share: float
    stage: str
    eta_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """How a job ended: `succeeded`, `failed` or `cancelled`, in words."""

    state: str
    message: str = ""
    hint: str = ""
    result: dict[str, Any] | None = None


def enqueue(
    connection: Connection,
    kind: str,
    payload: dict[str, Any],
    project_id: int | None = None,
    device: str = "cpu",
) -> JobRecord:
    """Queue a job; it starts when its device is free.

    Raises:
        TooManyJobs: Fifty jobs wait already.
    """
    queued = sa.select(sa.func.count()).select_from(job).where(job.c.state == "queued")
    if connection.execute(queued).scalar_one() >= MOST_QUEUED:
        raise TooManyJobs(
            f"{MOST_QUEUED} jobs wait already.", "Wait for some to end, or cancel those not needed."
        )
    last = connection.execute(sa.select(sa.func.max(job.c.sequence))).scalar_one()
    values = {
        "id": uuid.uuid4().hex[:12],
        "sequence": int(last or 0) + 1,
        "kind": kind,
        "project_id": project_id,
        "payload": payload,
        "device": device,
        "state": "queued",
        "attempt": 0,
        "max_attempts": _ATTEMPTS,
        "cancel_requested": 0,
        "beat": 0,
        "progress": 0.0,
        "stage": "waiting",
        "message": "",
        "hint": "",
        "log_tail": "",
        "created_at": now(),
    }
    connection.execute(sa.insert(job).values(values))
    return get(connection, str(values["id"]))


def get(connection: Connection, job_id: str) -> JobRecord:
    """Return a job, or raise `NotFound`."""
    row = connection.execute(sa.select(job).where(job.c.id == job_id)).first()
    if row is None:
        raise NotFound(
            f"There is no job '{job_id}'.",
            "The Train page lists them.",
        )
    return _record(row)


def list_all(
    connection: Connection,
    limit: int = 50,
    project_id: int | None = None,
    state: str | None = None,
    kind: str | None = None,
) -> list[JobRecord]:
    """Return the newest jobs, newest first; without a project, state or kind of all."""
    query = sa.select(job).order_by(job.c.sequence.desc()).limit(limit)
    if project_id is not None:
        query = query.where(job.c.project_id == project_id)
    if state is not None:
        query = query.where(job.c.state == state)
    if kind is not None:
        query = query.where(job.c.kind == kind)
    return [_record(row) for row in connection.execute(query)]


def live(connection: Connection) -> list[JobRecord]:
    """Return the jobs that have not ended, oldest first."""
    query = sa.select(job).where(job.c.state.in_(_LIVE)).order_by(job.c.sequence)
    return [_record(row) for row in connection.execute(query)]


def live_of(connection: Connection, project_id: int, *kinds: str) -> list[JobRecord]:
    """Return a project's jobs, of these kinds or of all, that have not ended; oldest first."""
    mine = (one for one in live(connection) if one.project_id == project_id)
    return [one for one in mine if not kinds or one.kind in kinds]


def live_with(connection: Connection, record: ProjectRecord) -> list[JobRecord]:
    """Return the jobs that have not ended of a project, or that start from a version of it."""
    start = f"{record.name}@"
    return [
        one
        for one in live(connection)
        if one.project_id == record.id or str(one.payload.get("base", "")).startswith(start)
    ]


def find(connection: Connection, given: str) -> JobRecord:
    """Return the job whose id begins so.

    Raises:
        NotFound: No job's id begins so.
        Conflict: Several do.
    """
    begins = job.c.id.startswith(given, autoescape=True)
    rows = connection.execute(sa.select(job).where(begins).limit(2)).all() if given else []
    if not rows:
        raise NotFound(f"There is no job '{given[:40]}'.", "The Train page lists them.")
    if len(rows) > 1:
        raise Conflict(f"Several jobs begin with '{given[:40]}'.", "Write more of the id.")
    return _record(rows[0])


def cancelled(connection: Connection) -> list[JobRecord]:
    """Return the cancelled jobs, oldest first; they can be resumed."""
    query = sa.select(job).where(job.c.state == "cancelled").order_by(job.c.sequence)
    return [_record(row) for row in connection.execute(query)]


def count_ended(connection: Connection) -> int:
    """Count the jobs that succeeded, failed or were cancelled."""
    query = sa.select(sa.func.count()).select_from(job).where(job.c.state.not_in(_LIVE))
    return int(connection.execute(query).scalar_one())


def count_by_state(connection: Connection) -> dict[str, int]:
    """Count the jobs in each state, also in those that no job has."""
    query = sa.select(job.c.state, sa.func.count()).group_by(job.c.state)
    by_state = dict.fromkeys((*_LIVE, "succeeded", "failed", "cancelled"), 0)
    by_state.update((row[0], int(row[1])) for row in connection.execute(query))
    return by_state


def claim(connection: Connection, job_id: str) -> JobRecord:
    """Start the next attempt of a job; processes of earlier attempts can no longer write."""
    change = sa.update(job).where(job.c.id == job_id, job.c.state.in_(_LIVE))
    connection.execute(
        change.values(
            state="running",
            attempt=job.c.attempt + 1,
            stage="starting",
            started_at=now(),
            eta_seconds=None,
        )
    )
    return get(connection, job_id)


def report(connection: Connection, job_id: str, attempt: int, progress: Progress) -> bool:
    """Record the progress of a job; return whether it has been asked to stop.

    Raises:
        Fenced: The attempt is no longer the job's.
    """
    change = _own(job_id, attempt).values(
        beat=job.c.beat + 1,
        progress=progress.share,
        stage=progress.stage,
        eta_seconds=progress.eta_seconds,
    )
    cancelled = connection.execute(change.returning(job.c.cancel_requested)).scalar_one_or_none()
    if cancelled is None:
        raise Fenced
    return bool(cancelled)


def keep_curve(connection: Connection, job_id: str, attempt: int, curve: dict[str, Any]) -> None:
    """Store a curve to draw while a job runs, such as its loss by step."""
    connection.execute(_own(job_id, attempt).values(curve=curve))


def finish(connection: Connection, job_id: str, attempt: int, outcome: JobOutcome) -> None:
    """End a job, once; one that did not succeed keeps the seconds that it had left.

    Raises:
        Fenced: The job has a newer attempt or has ended.
    """
    values: dict[str, Any] = {
        "state": outcome.state,
        "message": outcome.message,
        "hint": outcome.hint,
        "result": outcome.result,
        "finished_at": now(),
    }
    if outcome.state == "succeeded":
        values |= {"progress": 1.0, "stage": "done", "eta_seconds": None}
    done = connection.execute(_own(job_id, attempt).values(values).returning(job.c.id))
    if done.scalar_one_or_none() is None:
        raise Fenced


def put_back(connection: Connection, job_id: str, attempt: int, *, began: bool = True) -> None:
    """Queue a job again after its process died; an attempt that never `began` is given back."""
    change = _own(job_id, attempt).values(state="queued", stage="waiting to resume")
    if not began:  # the number of the attempt stays: it is a fence
        change = change.values(max_attempts=job.c.max_attempts + 1, stage="waiting for a process")
    connection.execute(change)


def request_cancel(connection: Connection, job_id: str) -> JobRecord:
    """Ask a running job to stop; a queued one is cancelled at once."""
    record = get(connection, job_id)
    change = sa.update(job).where(job.c.id == job_id)
    if record.state == "queued":
        connection.execute(
            change.values(
                state="cancelled", message="Cancelled before it began.", finished_at=now()
            )
        )
    elif record.state == "running":
        connection.execute(change.values(cancel_requested=1))
    return get(connection, job_id)


def resume(connection: Connection, job_id: str) -> JobRecord:
    """Queue a cancelled job again; it continues from its last checkpoint, if one exists.

    Raises:
        Conflict: It was not cancelled.
        NotFound: There is no such job.
    """
    record = get(connection, job_id)
    if record.state != "cancelled":
        raise Conflict(
            f"Job {job_id} was not cancelled: it is {record.state}.", "Start another training."
        )
    change = sa.update(job).where(job.c.id == job_id)
    connection.execute(
        change.values(
            state="queued",
            stage="waiting to resume",
            cancel_requested=0,
            max_attempts=record.attempt + _ATTEMPTS,
            message="",
            finished_at=None,
        )
    )
    return get(connection, job_id)


def drop_traces(connection: Connection, ended_before: str) -> int:
    """Drop curve and log of jobs that ended before a time, unless a version stands that they made.

    Return the number of jobs.
    """
    has_traces = sa.or_(job.c.curve.is_not(None), job.c.log_tail != "")
    old = sa.and_(job.c.state.not_in(_LIVE), job.c.finished_at < ended_before)
    change = sa.update(job).where(old, has_traces, job.c.id.not_in(_made_versions()))
    return connection.execute(change.values(curve=sa.null(), log_tail="")).rowcount


def with_versions(connection: Connection) -> set[str]:
    """Return the ids of the jobs that made a version which still stands."""
    return {row.job_id for row in connection.execute(_made_versions())}


def keep_log(connection: Connection, job_id: str, text: str) -> None:
    """Store the last 8,000 characters of a job's log."""
    tail = text[-_LOG_LIMIT:]
    connection.execute(sa.update(job).where(job.c.id == job_id).values(log_tail=tail))


def _made_versions() -> sa.Select[tuple[str]]:
    buried = sa.select(alias.c.model_version_id).where(alias.c.name == "deleted")
    return sa.select(model_version.c.job_id).where(
        model_version.c.job_id.is_not(None), model_version.c.id.not_in(buried)
    )


def _own(job_id: str, attempt: int) -> sa.Update:
    return sa.update(job).where(
        job.c.id == job_id, job.c.attempt == attempt, job.c.state == "running"
    )


def _record(row: Row[Any]) -> JobRecord:
    return replace(record_of(JobRecord, row), cancel_requested=bool(row.cancel_requested))
