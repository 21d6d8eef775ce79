"""Routes for projects, their status, and their intents."""

from fastapi import APIRouter

from app.api.http import schemas
from app.api.http.bodies import (
    IntentBody,
    IntentChangeBody,
    MergeBody,
    NewProject,
    ProjectChange,
    UndoBody,
)
from app.api.http.server_state import Live, OpenStudio
from app.services.data import intents
from app.services.data.history import list_actions, redo_last, undo_action, undo_last
from app.services.data.projects import (
    change_gate,
    create_project,
    create_sample,
)
from app.services.status import ProjectCard, StatusView, load_cards, load_status
from storage.records import BatchRecord

router = APIRouter(tags=["projects"])


@router.get("/health")
def health() -> schemas.Health:
    """Report that the server is up."""
    return schemas.Health()


@router.get("/projects")
def projects(live_studio: Live) -> list[ProjectCard]:
    """List all projects with their counts, and how often each is right now."""
    return load_cards(live_studio)


@router.post("/projects", status_code=201)
def new_project(studio: OpenStudio, body: NewProject) -> schemas.Named:
    """Create a project, empty or with the sample data."""
    if body.sample:
        create_sample(studio, body.name)
    else:
        create_project(studio, body.name, body.task)
    return schemas.Named(body.name)


@router.patch("/projects/{project}", status_code=204)
def change_project(studio: OpenStudio, project: str, body: ProjectChange) -> None:
    """Set whether a version that passes the gate is promoted without a person."""
    change_gate(studio, project, auto_promote=body.auto_promote)


@router.get("/projects/{project}/status")
def project_status(live_studio: Live, project: str) -> StatusView:
    """Return what every page shows: champion, running job, labels that wait for training."""
    return load_status(live_studio, project)


@router.get("/projects/{project}/overview")
def overview(studio: OpenStudio, project: str) -> schemas.Overview:
    """Return counts of utterances, and all intents."""
    return schemas.Overview(*intents.load_overview(studio, project))


@router.post("/projects/{project}/intents", status_code=201)
def add_intent(studio: OpenStudio, project: str, body: IntentBody) -> schemas.IntentKey:
    """Create an intent."""
    return schemas.IntentKey(intents.add_intent(studio, project, body.name, body.description))


@router.patch("/projects/{project}/intents/{intent_id}")
def change_intent(
    studio: OpenStudio, project: str, intent_id: str, body: IntentChangeBody
) -> schemas.IntentKey:
    """Rename, describe, colour, archive or restore an intent."""
    values = body.model_dump(exclude_none=True)
    intents.change_intent(studio, project, intent_id, values)
    return schemas.IntentKey(intent_id)


@router.post("/projects/{project}/merge")
def merge(studio: OpenStudio, project: str, body: MergeBody) -> schemas.Named:
    """Move all utterances of one intent to another."""
    intents.merge_intents(studio, project, body.source, body.target)
    return schemas.Named(body.target)


@router.post("/projects/{project}/undo")
def undo(studio: OpenStudio, project: str, body: UndoBody | None = None) -> schemas.Undone:
    """Undo the action of a key; without a body, the newest one."""
    if body is None:
        return schemas.Undone(undo_last(studio, project))
    return schemas.Undone(undo_action(studio, project, body.key))


@router.post("/projects/{project}/redo")
def redo(studio: OpenStudio, project: str) -> schemas.Redone:
    """Redo the newest undo."""
    return schemas.Redone(redo_last(studio, project))


@router.get("/projects/{project}/history")
def history(studio: OpenStudio, project: str) -> list[BatchRecord]:
    """List the newest actions."""
    return list(list_actions(studio, project))
