"""Routes for projects, their status, and their intents."""

from typing import Annotated

from fastapi import Path

from app.api.http import schemas
from app.api.http.bodies import (
    IntentBody,
    MergeBody,
    NewProject,
    ProjectChange,
)
from app.api.http.labelling_bodies import RedoBody, SeenIntentChangeBody, TakeBackBody
from app.api.http.routers import rest_router
from app.api.http.server_state import Live, OpenStudio
from app.services.data import intents
from app.services.data.history import list_actions, redo_last, undo_action, undo_last
from app.services.data.projects import (
    DeletedProject,
    change_gate,
    create_project,
    create_sample,
    delete_project,
    list_deleted,
    project_names,
    rename_project,
    restore_project,
)
from app.services.home.cards import ProjectCard, load_cards, next_of
from app.services.home.next_step import NextStep
from app.services.soundness import DatabaseView
from app.services.status import StatusView, load_status
from storage.records import BatchRecord

router = rest_router("projects")


@router.get("/health")
def health() -> schemas.Health:
    """Report that the server is up."""
    return schemas.Health()


@router.get("/health/live")
def live() -> schemas.Health:
    """Report that the process answers; whoever restarts a server asks this."""
    return schemas.Health()


@router.get("/health/ready")
def ready(live_studio: Live) -> schemas.Health:
    """Report that requests can be answered: the database is there, can be read, and is sound.

    Otherwise 500 or 503 with the reason, as every route says it. Whoever routes requests asks this.
    """
    live_studio.soundness.require()
    list_deleted(live_studio.studio)
    return schemas.Health()


@router.get("/database")
def database(live_studio: Live) -> DatabaseView:
    """Say whether the database is sound, else what can still be read and the newest backup."""
    return live_studio.soundness.view


@router.get("/projects")
def projects(live_studio: Live) -> list[ProjectCard]:
    """List all projects with their counts, how often each is right now, and what to do next."""
    return load_cards(live_studio)


@router.get("/project-names")
def names(studio: OpenStudio) -> list[str]:
    """List the names of all projects, and nothing that takes time."""
    return project_names(studio)


@router.get("/deleted-projects")
def deleted_projects(studio: OpenStudio) -> list[DeletedProject]:
    """List the deleted projects, which can be restored."""
    return list_deleted(studio)


@router.post("/deleted-projects/{key}/restore")
def restore(studio: OpenStudio, key: Annotated[int, Path(ge=1, le=2**62)]) -> schemas.Named:
    """Bring a deleted project back; if its name was taken since, with a number behind it."""
    return schemas.Named(restore_project(studio, key).name)


@router.post("/projects", status_code=201)
def new_project(studio: OpenStudio, body: NewProject) -> schemas.Named:
    """Create a project, empty or with the sample data."""
    if body.sample:
        create_sample(studio, body.name)
    else:
        create_project(studio, body.name, body.task)
    return schemas.Named(body.name)


@router.patch("/projects/{project}", status_code=204)
def change_project(live_studio: Live, project: str, body: ProjectChange) -> None:
    """Rename a project; set whether a version that passes the gate is promoted by itself."""
    if body.auto_promote is not None:
        change_gate(live_studio.studio, project, auto_promote=body.auto_promote)
    if body.name is not None:
        renamed = rename_project(live_studio.studio, project, body.name)
        live_studio.models.forget(renamed.id)  # it knows itself by its former name


@router.delete("/projects/{project}")
def remove_project(live_studio: Live, project: str) -> DeletedProject:
    """Move a project aside; its key restores it."""
    deleted = delete_project(live_studio.studio, project)
    live_studio.models.forget(deleted.id)
    return deleted


@router.get("/projects/{project}/next")
def next_step(live_studio: Live, project: str) -> NextStep:
    """Say what helps the project most now, why, and on which page it is done."""
    return next_of(live_studio, project)


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
    studio: OpenStudio, project: str, intent_id: str, body: SeenIntentChangeBody
) -> schemas.IntentKey:
    """Rename, describe, colour, archive or restore an intent."""
    values = body.model_dump(exclude_none=True, exclude={"seen"})
    intents.change_intent(studio, project, intent_id, values, body.read_seen())
    return schemas.IntentKey(intent_id)


@router.post("/projects/{project}/merge")
def merge(studio: OpenStudio, project: str, body: MergeBody) -> schemas.Named:
    """Move all utterances of one intent to another."""
    intents.merge_intents(studio, project, body.source, body.target)
    return schemas.Named(body.target)


@router.post("/projects/{project}/undo")
def undo(studio: OpenStudio, project: str, body: TakeBackBody | None = None) -> schemas.Undone:
    """Undo the action of a key, or the newest: only that of `newest` where it is given."""
    if body is not None and body.key is not None:
        return schemas.Undone(undo_action(studio, project, body.key))
    return schemas.Undone(undo_last(studio, project, None if body is None else body.newest))


@router.post("/projects/{project}/redo")
def redo(studio: OpenStudio, project: str, body: RedoBody | None = None) -> schemas.Redone:
    """Redo the newest undo: only that of `newest` where it is given."""
    return schemas.Redone(redo_last(studio, project, None if body is None else body.newest))


@router.get("/projects/{project}/history")
def history(studio: OpenStudio, project: str) -> list[BatchRecord]:
    """List the newest actions."""
    return list(list_actions(studio, project))
