"""Routes about projects, their state, and their intents."""

from typing import Any

from fastapi import APIRouter

from app.api.bench import Bench
from app.api.bodies import IntentBody, IntentChange, MergeBody, NewProject, ProjectChange
from app.services import browsing, status
from app.services.projects import change_gate, create_project, create_sample, list_projects
from app.services.views import ProjectView

router = APIRouter(tags=["projects"])


@router.get("/health")
def health() -> dict[str, str]:
    """Say that the server is up."""
    return {"state": "ok"}


@router.get("/projects")
def projects(bench: Bench) -> list[ProjectView]:
    """All projects, with what they hold."""
    return list_projects(bench.studio)


@router.post("/projects", status_code=201)
def new_project(bench: Bench, body: NewProject) -> dict[str, str]:
    """Create a project, empty or from the sample."""
    if body.sample:
        create_sample(bench.studio, body.name)
    else:
        create_project(bench.studio, body.name, body.task)
    return {"name": body.name}


@router.patch("/projects/{project}", status_code=204)
def change_project(bench: Bench, project: str, body: ProjectChange) -> None:
    """Say whether a version that passes the gate answers by itself."""
    change_gate(bench.studio, project, auto_promote=body.auto_promote)


@router.get("/projects/{project}/status")
def project_status(bench: Bench, project: str) -> status.StatusView:
    """What every page shows: champion, running job, labels that wait for training."""
    return status.look(bench, project)


@router.get("/projects/{project}/overview")
def overview(bench: Bench, project: str) -> dict[str, Any]:
    """Counts of utterances, and all intents."""
    counts, intents = browsing.overview(bench.studio, project)
    return {"counts": counts, "intents": intents}


@router.post("/projects/{project}/intents", status_code=201)
def add_intent(bench: Bench, project: str, body: IntentBody) -> dict[str, str]:
    """Create an intent."""
    return {"id": browsing.add_intent(bench.studio, project, body.name, body.description)}


@router.patch("/projects/{project}/intents/{intent_id}")
def change_intent(bench: Bench, project: str, intent_id: str, body: IntentChange) -> dict[str, str]:
    """Rename, describe, colour, archive or restore an intent."""
    values = body.model_dump(exclude_none=True)
    browsing.change_intent(bench.studio, project, intent_id, values)
    return {"id": intent_id}


@router.post("/projects/{project}/merge")
def merge(bench: Bench, project: str, body: MergeBody) -> dict[str, str]:
    """Give all utterances of one intent to another."""
    browsing.merge(bench.studio, project, body.source, body.target)
    return {"name": body.target}


@router.post("/projects/{project}/undo")
def undo(bench: Bench, project: str) -> dict[str, Any]:
    """Take back the newest action."""
    return {"undone": browsing.undo(bench.studio, project)}


@router.post("/projects/{project}/redo")
def redo(bench: Bench, project: str) -> dict[str, Any]:
    """Take back the newest undo."""
    return {"redone": browsing.redo(bench.studio, project)}


@router.get("/projects/{project}/history")
def history(bench: Bench, project: str) -> list[Any]:
    """The newest actions."""
    return list(browsing.history(bench.studio, project))
