"""Create projects, list them, rename them; delete them so that they can come back."""

import csv
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from app.services.data.importing import ImportReport, ImportRequest, import_file
from app.services.studio import Studio
from core.errors import Conflict
from core.metrics.in_words import measured_on
from core.types import Split, Task
from storage import jobs, models, projects
from storage.database import Transaction
from storage.log import edits, events
from storage.log.events import Action
from storage.people import acts
from storage.people.acts import Act
from storage.queries import dataset
from storage.records import ProjectRecord


@dataclass(frozen=True, slots=True)
class ProjectView:
    """A project in a list; in a multi-label project, accuracy is the share of exact matches.

    `answered_right` is the champion's share of right answers at its training where a refused text
    is answered wrongly; None for several intents a text, and for versions from before it was kept.
    `measured_on` says on which texts all three were measured; "" without a champion.
    `empty_intents` are those of the `intents` that no text is labelled with.
    """

    name: str
    task: Task
    intents: int
    empty_intents: int
    labelled: int
    utterances: int
    champion: str | None
    accuracy: float | None
    answered_right: float | None
    micro_f1: float | None
    measured_on: str


@dataclass(frozen=True, slots=True)
class DeletedProject:
    """A project that was deleted and can be restored; `name` is its name before."""

    id: int
    name: str


def create_project(studio: Studio, name: str, task: Task = "single-label") -> ProjectRecord:
    """Create an empty project.

    Raises:
        Conflict: The name is taken.
        InvalidInput: The name is invalid.
    """
    with studio.database.write() as connection:
        record = projects.create(connection, name, task)
        acts.note(connection, record.id, Act("create project", studio.settings.actor, record.name))
        return record


def change_gate(studio: Studio, name: str, *, auto_promote: bool) -> None:
    """Set whether a version that passes the project's gate is promoted without a person."""
    with studio.database.write() as connection:
        project_id = projects.find(connection, name).id
        projects.change_gate(connection, project_id, auto_promote=auto_promote)
        about = "on" if auto_promote else "off"
        acts.note(connection, project_id, Act("promote by itself", studio.settings.actor, about))


def rename_project(studio: Studio, name: str, new: str) -> ProjectRecord:
    """Rename a project, and return it.

    Raises:
        Conflict: The name is taken, or a job is under way.
        InvalidInput: The name is invalid.
        NotFound: There is no such project.
    """
    with studio.database.write() as connection:
        record = projects.find(connection, name)
        require_rest(connection, record)
        projects.rename(connection, record, new)
        about = f"{record.name} to {new}"
        acts.note(connection, record.id, Act("rename project", studio.settings.actor, about))
        return projects.get(connection, record.id)


def delete_project(studio: Studio, name: str) -> DeletedProject:
    """Move a project aside; `restore_project` brings it back whole.

    Raises:
        Conflict: A job is under way.
        NotFound: There is no such project.
    """
    with studio.database.write() as connection:
        record = projects.find(connection, name)
        require_rest(connection, record)
        projects.delete(connection, record)
        acts.note(connection, record.id, Act("delete project", studio.settings.actor, record.name))
    return DeletedProject(record.id, record.name)


def restore_project(studio: Studio, project_id: int) -> ProjectRecord:
    """Bring a deleted project back; if its name was taken since, with a number behind it.

    Raises:
        NotFound: There is no such project.
    """
    with studio.database.write() as connection:
        record = projects.restore(connection, project_id)
        acts.note(connection, record.id, Act("restore project", studio.settings.actor, record.name))
        return record


def list_deleted(studio: Studio) -> list[DeletedProject]:
    """Return the deleted projects, the newest project first."""
    with studio.database.read() as connection:
        records = projects.list_deleted(connection)
    return [DeletedProject(record.id, record.deleted_name or record.name) for record in records]


def project_names(studio: Studio) -> list[str]:
    """Return the names of all projects, which costs less than their counts."""
    with studio.database.read() as connection:
        return [record.name for record in projects.list_all(connection)]


def create_sample(studio: Studio, name: str) -> list[ImportReport]:
    """Create a project from the bundled sample."""
    with as_file(files("assets") / "sample") as folder:
        record = create_project(studio, name)
        _describe_intents(studio, record, folder / "intents.csv")
        parts: dict[Split, str] = {"train": "labelled.csv", "test": "test.csv", "pool": "pool.csv"}
        return [
            import_file(studio, ImportRequest(name, folder / file, split=split))
            for split, file in parts.items()
        ]


def create_sample_once(studio: Studio, name: str) -> bool:
    """Create the sample project if the studio has no project; return whether it did."""
    with studio.database.read() as connection:
        if projects.list_all(connection):
            return False
    create_sample(studio, name)
    return True


def list_projects(studio: Studio) -> list[ProjectView]:
    """Return all projects by name, with their counts."""
    with studio.database.read() as connection:
        return [_view(connection, record) for record in projects.list_all(connection)]


def view_project(studio: Studio, name: str) -> ProjectView:
    """Return a project with its counts.

    Raises:
        NotFound: There is no such project.
    """
    with studio.database.read() as connection:
        return _view(connection, projects.find(connection, name))


def _describe_intents(studio: Studio, record: ProjectRecord, path: Path) -> None:
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    changes = [
        edits.create_intent(row["name"], row["description"], row["color"], place)
        for place, row in enumerate(rows)
    ]
    action = Action("create intents", studio.settings.actor, "sample")
    with studio.database.write() as connection:
        events.record(connection, record.id, action, changes)


def require_rest(connection: Transaction, record: ProjectRecord) -> None:
    """Raise `Conflict` while a job of the project, or one that starts from it, is under way."""
    if jobs.live_with(connection, record):
        raise Conflict(
            f"A training, a map or groups of '{record.name}' are under way.",
            "Wait for the end. The Train page can cancel a training.",
        )


def _view(connection: Transaction, record: ProjectRecord) -> ProjectView:
    total, labelled = dataset.count(connection, record.id)
    champion = models.champion(connection, record.id)
    intents = {one.id for one in dataset.intents(connection, record.id) if not one.archived}
    return ProjectView(
        name=record.name,
        task=record.task,
        intents=len(intents),
        empty_intents=len(intents - dataset.intents_with_labels(connection, record.id)),
        labelled=labelled,
        utterances=total,
        champion=None if champion is None else f"{record.name}@{champion.number}",
        accuracy=None if champion is None else champion.metrics.get("accuracy"),
        answered_right=None if champion is None else champion.metrics.get("answered_right"),
        micro_f1=None if champion is None else champion.metrics.get("micro_f1"),
        measured_on="" if champion is None else measured_on(champion.metrics),
    )
