"""Jobs as pages show them, and what a training would take."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from app.services.studio import Studio
from core.recipes import ConvfitRecipe, InstantRecipe, chosen_epochs, read_recipe
from storage import browse, jobs, projects
from storage.database import Transaction
from storage.records import JobRecord

_START_SECONDS = 8.0
"""Loading torch and the encoder, encoding, judging."""
_ROW_SECONDS = 0.0085
"""One utterance once through tuning and its share of calibration, on two cores."""
_ENCODE_SECONDS = 0.003


@dataclass(frozen=True, slots=True)
class JobView:
    """A job as its row tells it, with the project's name."""

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
    result: dict[str, object]
    recipe: str
    created_at: str
    finished_at: str | None
    cancel_requested: bool


@dataclass(frozen=True, slots=True)
class Estimate:
    """What pressing Train would do, in words, and about how long it would take."""

    seconds: float
    sentence: str


def job_view(studio: Studio, job_id: str) -> JobView:
    """Return one job.

    Raises:
        NotFound: There is none of that id.
    """
    with studio.database.read() as connection:
        return _view(connection, jobs.get(connection, job_id))


def project_jobs(studio: Studio, project: str, limit: int = 20) -> list[JobView]:
    """The newest jobs of a project, newest first; one that waits gets a supervisor."""
    with studio.database.read() as connection:
        found = projects.find(connection, project)
        records = jobs.list_all(connection, 200)
        views = [_view(connection, r) for r in records if r.project_id == found.id][:limit]
        waiting = any(not record.ended for record in records)
    if waiting:
        studio.executor.ensure_running()
    return views


def _view(connection: Transaction, job: JobRecord) -> JobView:
    project = "" if job.project_id is None else projects.get(connection, job.project_id).name
    return JobView(
        id=job.id,
        kind=job.kind,
        project=project,
        state=job.state,
        progress=job.progress,
        stage=job.stage,
        eta_seconds=job.eta_seconds,
        message=job.message,
        hint=job.hint,
        log=job.log_tail,
        curve=job.curve or {},
        curve_words=curve_words(tuple(job.curve or ())),
        result=job.result or {},
        recipe=str(job.payload.get("recipe", {}).get("kind", "")),
        created_at=job.created_at,
        finished_at=job.finished_at,
        cancel_requested=job.cancel_requested,
    )


def curve_words(names: Sequence[str]) -> str:
    """Say what the accuracy of a training's curves is that of, or why there is none."""
    if not names:
        return ""
    if "accuracy while tuning" in names:
        words = ["While tuning: right answers on the test split, by which nothing is chosen."]
    else:
        words = [
            "While tuning: no accuracy, since every label is tuned on and there is no test split."
        ]
    if any(name.startswith("accuracy while calibrating") for name in names):
        words.append("While calibrating: that on labels held out of a tuning of the others.")
    return " ".join(words)


def estimate(studio: Studio, project: str, recipe: str, settings: dict[str, object]) -> Estimate:
    """Say what a training would do and how long it takes, from earlier ones where there are any.

    Raises:
        InvalidInput: A setting does not fit the recipe.
    """
    chosen = read_recipe(recipe, settings)
    with studio.database.read() as connection:
        found = projects.find(connection, project)
        counts = browse.counts(connection, found.id)
        earlier = jobs.list_all(connection, 50)
    rows = counts.by_split.get("train", 0)
    expected = _seconds(chosen, rows)
    factor = _factor(earlier, found.id, rows)
    seconds = expected * factor
    intents = len(counts.by_intent)
    return Estimate(seconds, _sentence(chosen, rows, intents, seconds))


def _seconds(recipe: InstantRecipe | ConvfitRecipe, rows: int) -> float:
    if isinstance(recipe, InstantRecipe):
        return _START_SECONDS + _ENCODE_SECONDS * rows
    return _START_SECONDS + _ROW_SECONDS * rows * chosen_epochs(rows, recipe)


def _factor(earlier: list[JobRecord], project_id: int, rows: int) -> float:
    """How much slower or faster this machine was than expected, when last asked."""
    for job in earlier:
        done = job.state == "succeeded" and job.kind == "train" and job.attempt == 1
        if not (done and job.project_id == project_id and job.started_at and job.finished_at):
            continue
        settings = dict(job.payload["recipe"])
        recipe = read_recipe(settings.pop("kind"), settings)
        began, ended = map(datetime.fromisoformat, (job.started_at, job.finished_at))
        took = (ended - began).total_seconds()
        return min(max(took / _seconds(recipe, rows), 0.2), 5.0)
    return 1.0


def _sentence(
    recipe: InstantRecipe | ConvfitRecipe, rows: int, intents: int, seconds: float
) -> str:
    what = f"{rows:,} labelled utterances of {intents} intents"
    if isinstance(recipe, InstantRecipe):
        doing = f"Keeps the encoder as it is and lets {what} vote"
    else:
        doing = f"Tunes the encoder on {what}, then lets them vote"
    return f"{doing}; about {in_words(seconds)}. Your labels stay as they are."


def in_words(seconds: float) -> str:
    """Say a time as a person would."""
    if seconds < 55:
        return f"{max(5, round(seconds / 5) * 5)} seconds"
    minutes = seconds / 60
    if minutes < 1.5:
        return "a minute"
    if minutes < 90:
        return f"{round(minutes)} minutes"
    return f"{minutes / 60:.1f} hours"
