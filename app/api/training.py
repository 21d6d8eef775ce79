"""Routes that start, follow and cancel jobs."""

from functools import partial
from typing import Annotated

from fastapi import Query

from app.api.http import schemas
from app.api.http.bodies import TrainBody
from app.api.http.repeats import Once
from app.api.http.routers import rest_router
from app.api.http.server_state import OpenStudio
from app.services.training import choices, recipe_forms, runs
from app.services.training import estimate as estimates
from app.services.training.jobs import (
    JobKind,
    JobStateName,
    JobView,
    cancel_job,
    job_view,
    project_jobs,
    resume_job,
)
from app.services.training.recipes import RecipeView, list_recipes

router = rest_router("training")


@router.post("/projects/{project}/train", status_code=202)
def train(studio: OpenStudio, once: Once, project: str, body: TrainBody) -> schemas.Started:
    """Queue a training."""
    request = runs.TrainingRequest(project, body.recipe, body.settings, body.base, body.gate)
    start = partial(runs.start_training, studio, request)
    return once.answer_as(body, start, lambda job: schemas.Started(job.id))


@router.get("/recipes")
def all_recipes() -> list[RecipeView]:
    """List every recipe and its purpose."""
    return list_recipes()


@router.get("/projects/{project}/recipes")
def recipes(studio: OpenStudio, project: str) -> list[recipe_forms.RecipeForm]:
    """List the settings of each recipe, with this project's defaults."""
    return recipe_forms.recipe_forms(studio, project)


@router.get("/projects/{project}/training-choices")
def training_choices(studio: OpenStudio, project: str) -> choices.TrainingChoices:
    """List what a project can train, by what it has: Quick and Best first."""
    return choices.training_choices(studio, project)


@router.post("/projects/{project}/estimate")
def estimate(studio: OpenStudio, project: str, body: TrainBody) -> estimates.Estimate:
    """Describe what a training would do, and estimate its duration."""
    return estimates.estimate(studio, project, body.recipe, body.settings)


@router.get("/projects/{project}/jobs")
def jobs(studio: OpenStudio, project: str, kind: JobKind | None = None) -> list[JobView]:
    """List the newest jobs of a project, of one kind or of any."""
    return project_jobs(studio, project, kind=kind)


@router.get("/jobs")
def all_jobs(
    studio: OpenStudio,
    project: str | None = None,
    state: JobStateName | None = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
) -> list[JobView]:
    """List the newest jobs of all projects or of one, in one state or in any."""
    return project_jobs(studio, project, limit, state)


@router.get("/jobs/{job_id}")
def job(studio: OpenStudio, job_id: str) -> JobView:
    """Return one job."""
    return job_view(studio, job_id)


@router.post("/jobs/{job_id}/resume")
def resume(studio: OpenStudio, job_id: str) -> schemas.JobState:
    """Continue a cancelled job from its last checkpoint."""
    return schemas.JobState(resume_job(studio, job_id).state)


@router.post("/jobs/{job_id}/cancel")
def cancel(studio: OpenStudio, job_id: str) -> schemas.JobState:
    """Ask a job to stop."""
    return schemas.JobState(cancel_job(studio, job_id).state)
