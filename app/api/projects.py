"""Routes about projects, their state, and their intents."""

from fastapi import APIRouter

from app.api import answers
from app.api.bench import Bench
from app.api.bodies import IntentBody, IntentChange, MergeBody, NewProject, ProjectChange
from app.services import browsing, status
from app.services.projects import change_gate, create_project, create_sample, list_projects
from app.services.views import ProjectView
from storage.records import BatchRecord

router = APIRouter(tags=["projects"])


@router.get("/health")
def health() -> answers.Health:
    """Say that the server is up."""
    return answers.Health()


@router.get("/projects")
def projects(bench: Bench) -> list[ProjectView]:
    """All projects, with what they hold."""
    return list_projects(bench.studio)


@router.post("/projects", status_code=201)
def new_project(bench: Bench, body: NewProject) -> answers.Named:
    """Create a project, empty or from the sample."""
    if body.sample:
        create_sample(bench.studio, body.name)
    else:
        create_project(bench.studio, body.name, body.task)
    return answers.Named(body.name)


@router.patch("/projects/{project}", status_code=204)
def change_project(bench: Bench, project: str, body: ProjectChange) -> None:
    """Say whether a version that passes the gate answers by itself."""
    change_gate(bench.studio, project, auto_promote=body.auto_promote)


@router.get("/projects/{project}/status")
def project_status(bench: Bench, project: str) -> status.StatusView:
    """What every page shows: champion, running job, labels that wait for training."""
    return status.look(bench, project)


@router.get("/projects/{project}/overview")
def overview(bench: Bench, project: str) -> answers.Overview:
    """Counts of utterances, and all intents."""
    return answers.Overview(*browsing.overview(bench.studio, project))


@router.post("/projects/{project}/intents", status_code=201)
def add_intent(bench: Bench, project: str, body: IntentBody) -> answers.IntentKey:
    """Create an intent."""
    return answers.IntentKey(
        browsing.add_intent(bench.studio, project, body.name, body.description)
    )


@router.patch("/projects/{project}/intents/{intent_id}")
def change_intent(
    bench: Bench, project: str, intent_id: str, body: IntentChange
) -> answers.IntentKey:
    """Rename, describe, colour, archive or restore an intent."""
    values = body.model_dump(exclude_none=True)
    browsing.change_intent(bench.studio, project, intent_id, values)
    return answers.IntentKey(intent_id)


@router.post("/projects/{project}/merge")
def merge(bench: Bench, project: str, body: MergeBody) -> answers.Named:
    """Give all utterances of one intent to another."""
    browsing.merge(bench.studio, project, body.source, body.target)
    return answers.Named(body.target)


@router.post("/projects/{project}/undo")
def undo(bench: Bench, project: str) -> answers.Undone:
    """Take back the newest action."""
    return answers.Undone(browsing.undo(bench.studio, project))


@router.post("/projects/{project}/redo")
def redo(bench: Bench, project: str) -> answers.Redone:
    """Take back the newest undo."""
    return answers.Redone(browsing.redo(bench.studio, project))


@router.get("/projects/{project}/history")
def history(bench: Bench, project: str) -> list[BatchRecord]:
    """The newest actions."""
    return list(browsing.history(bench.studio, project))
