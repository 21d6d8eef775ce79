"""List, show, cancel and resume jobs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from app.jobs.logs import end_of
from app.services.studio import Studio
from app.services.training.bases import BUNDLED, settled_base
from app.services.training.estimate import late_words
from app.services.training.unlabelled import gain_words
from core.errors import Conflict, NotFound
from core.metrics.in_words import measured_on, untested_of
from core.recipes.read import RECIPES, title_of
from core.text import counted
from storage import conversation_logs, jobs, projects
from storage.database import Transaction
from storage.people import acts
from storage.people.acts import Act
from storage.records import JobRecord

JobStateName = Literal["queued", "running", "succeeded", "failed", "cancelled"]
JobKind = Literal["train", "discover", "layout"]


@dataclass(frozen=True, slots=True)
class JobView:
    """A job's row with the project's name; a cancelled job with a checkpoint is `resumable`.

    `title` is the recipe's name on pages; `pool_words` say what unlabelled texts brought,
    `measured_on` on which texts the version's figures stand, `untested` how many intents these
    leave out, and `late` how much longer a training takes than was told at its start, or "".
    `warning` says that texts which its base has learned set the limit for out of scope, or "".
    """

    id: str
    kind: str
    project: str
    state: str
    progress: float
    stage: str
    eta_seconds: float | None
    message: str
    hint: str
    log: str
    curve: dict[str, object]
    curve_words: str
    pool_words: str
    warning: str
    measured_on: str
    untested: str
    late: str
    result: dict[str, object]
    recipe: str
    title: str
    created_at: str
    finished_at: str | None
    cancel_requested: bool
    resumable: bool


def list_jobs(studio: Studio) -> list[JobRecord]:
    """Return the newest jobs, newest first; start a supervisor if a job waits."""
    with studio.database.read() as connection:
        records = jobs.list_all(connection)
    if any(not job.ended for job in records):
        studio.executor.ensure_running()
    return records


def cancel_job(studio: Studio, job_id: str) -> JobRecord:
    """Ask a job to stop; the beginning of its id is enough.

    Raises:
        NotFound: There is no such job.
        Conflict: Several ids begin so.
    """
    with studio.database.write() as connection:
        before = jobs.find(connection, job_id)
        job = jobs.request_cancel(connection, before.id)
        if not before.ended and not before.cancel_requested:
            _note(studio, connection, "cancel training", job)
    if not job.ended:
        studio.executor.ensure_running()
    return job


def resume_job(studio: Studio, job_id: str) -> JobRecord:
    """Continue a cancelled job from its last checkpoint; the beginning of its id is enough.

    Raises:
        NotFound: There is no such job, or its project was deleted.
        Conflict: It was not cancelled, another training of its project has begun since, the version
            or log from which it started is gone, or several ids begin so.
    """
    with studio.database.write() as connection:
        job = jobs.find(connection, job_id)
        if job.project_id is not None:
            projects.get_open(connection, job.project_id)
        if job.state == "cancelled" and not _has_checkpoint(studio, job):
            raise Conflict(f"Job {job.id} kept nothing to go on from.", "Start another training.")
        _require_start(connection, job)
        job = jobs.resume(connection, job.id)
        _note(studio, connection, "resume training", job)
    studio.executor.ensure_running()
    return job


def _require_start(connection: Transaction, job: JobRecord) -> None:
    """Raise Conflict if a training could not be opened again; failed, it would lose all it kept."""
    recipe = RECIPES.get(str(job.payload.get("recipe", {}).get("kind", "")))
    try:
        if recipe is not None and recipe.needs_base:
            settled_base(connection, str(job.payload.get("base", BUNDLED)))
        for log in job.payload.get("logs", ()):
            conversation_logs.find(connection, job.project_id or 0, log)
    except NotFound as error:
        raise Conflict(
            f"Job {job.id} cannot go on. {error.message}", "Start another training."
        ) from error


def _note(studio: Studio, connection: Transaction, verb: str, job: JobRecord) -> None:
    """Keep what a person did to a training; layouts of maps are no acts."""
    if job.kind == "train" and job.project_id is not None:
        about = str(job.payload.get("recipe", {}).get("kind", ""))
        acts.note(connection, job.project_id, Act(verb, studio.settings.actor, about))


def read_log(studio: Studio, job_id: str) -> tuple[JobRecord, str]:
    """Return a job, and the last 8,000 characters that its process printed.

    Raises:
        NotFound: There is no such job.
        Conflict: Several ids begin so.
    """
    with studio.database.read() as connection:
        job = jobs.find(connection, job_id)
    return job, job.log_tail or end_of(studio.places.log(job.id))


def _has_checkpoint(studio: Studio, job: JobRecord) -> bool:
    return any(studio.places.checkpoints(job.id).glob("step-*"))


def job_view(studio: Studio, job_id: str) -> JobView:
    """Return one job; raises NotFound for an unknown id."""
    with studio.database.read() as connection:
        return _view(studio, connection, jobs.get(connection, job_id))


def project_jobs(
    studio: Studio,
    project: str | None,
    limit: int = 20,
    state: JobStateName | None = None,
    kind: JobKind | None = None,
) -> list[JobView]:
    """Return the newest jobs, newest first; without a project, state or kind of all.

    Starts a supervisor if a job waits.
    """
    with studio.database.read() as connection:
        number = None if project is None else projects.find(connection, project).id
        records = jobs.list_all(connection, limit, number, state, kind)
        views = [_view(studio, connection, record) for record in records]
    if any(not record.ended for record in records):
        studio.executor.ensure_running()
    return views


def _view(studio: Studio, connection: Transaction, job: JobRecord) -> JobView:
    project = "" if job.project_id is None else projects.get(connection, job.project_id).name
    metrics = (job.result or {}).get("metrics", {})
    return JobView(
        id=job.id,
        kind=job.kind,
        project=project,
        state=job.state,
        progress=job.progress,
        stage=job.stage,
        eta_seconds=None if job.ended else job.eta_seconds,
        message=job.message,
        hint=job.hint,
        log=job.log_tail,
        curve=job.curve or {},
        curve_words=curve_words(job.curve or {}),
        pool_words=gain_words(metrics),
        warning=_warning(metrics),
        result=job.result or {},
        measured_on=measured_on(metrics),
        untested=untested_of(metrics),
        late=late_words(job, datetime.now(UTC)),
        recipe=str(job.payload.get("recipe", {}).get("kind", "")),
        title=title_of(job.payload.get("recipe", {})),
        created_at=job.created_at,
        finished_at=job.finished_at,
        cancel_requested=job.cancel_requested,
        resumable=job.state == "cancelled" and _has_checkpoint(studio, job),
    )


def _warning(metrics: Mapping[str, Any]) -> str:
    """Say how many texts that set a version's limit its base has learned; "" where none has."""
    n = metrics.get("base_learned", 0)
    if not n:
        return ""
    limit = "its limits" if metrics.get("task") == "multi-label" else "its limit for out of scope"
    are = "is" if n == 1 else "are"
    return (
        f"Of the texts that set {limit}, {n:,} {are} known to the version that this training "
        "started from. It may refuse texts that fit an intent, and only test texts can tell how "
        "good it is. Start from an encoder that has learned no labels, and this does not happen."
    )


def curve_words(curve: Mapping[str, Sequence[Sequence[float]]]) -> str:
    """Name the texts on which the curves' accuracy is measured, or say why there is none."""
    names = tuple(curve)
    if not names:
        return ""
    if "loss while ranking" in names:
        return "How hard it is to tell the reply that follows from those of other conversations."
    if "loss while contrasting" in names:
        return (
            "How hard it is to tell texts and their templates from others, and to find the text "
            "that belongs to each template. No label is used."
        )
    if "accuracy while tuning" in names:
        texts = _texts(curve["accuracy while tuning"])
        words = [
            f"While learning: right answers among {texts} for testing, by which nothing is "
            "chosen. The result counts all test texts, answered by the finished model."
        ]
    else:
        words = [
            "While learning: no share of right answers, since every label is learned from and "
            "there are no test texts."
        ]
    held_out = [name for name in names if name.startswith("accuracy while calibrating")]
    if held_out:
        texts = _texts(curve[held_out[0]])
        words.append(
            f"While checking: right answers among {texts} that were held out of the learning."
        )
    return " ".join(words)


def _texts(points: Sequence[Sequence[float]]) -> str:
    """Return the number of texts behind a curve's points; curves of older studios lack it."""
    n = next((int(point[2]) for point in points if len(point) > 2), 0)
    return f"a sample of {counted(n, 'text')}" if n else "a sample of texts"
