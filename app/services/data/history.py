"""Undo and redo the actions of a project, and list them."""

from collections.abc import Sequence

from app.services.studio import Studio
from storage import projects
from storage.log import events, settled_findings
from storage.records import BatchRecord


def undo_last(studio: Studio, project: str) -> BatchRecord | None:
    """Undo the newest action of a project; None when there is none."""
    with studio.database.write() as connection:
        project_id = projects.find(connection, project).id
        return events.undo(connection, project_id, studio.settings.actor)


def undo_action(studio: Studio, project: str, key: str) -> BatchRecord | None:
    """Undo exactly the action of a key, or list a settled finding again; once.

    Raises:
        Conflict: What it changed has been changed again.
        NotFound: Nothing was done under that key.
    """
    with studio.database.write() as connection:
        project_id = projects.find(connection, project).id
        settled_findings.undo_settling(connection, project_id, key, studio.settings.actor)
        return events.find_batch(connection, project_id, key)


def redo_last(studio: Studio, project: str) -> BatchRecord | None:
    """Redo the newest undo, unless an action was recorded since."""
    with studio.database.write() as connection:
        project_id = projects.find(connection, project).id
        return events.redo(connection, project_id, studio.settings.actor)


def list_actions(studio: Studio, project: str, limit: int = 50) -> Sequence[BatchRecord]:
    """Return the newest actions of a project."""
    with studio.database.read() as connection:
        project_id = projects.find(connection, project).id
        return events.history(connection, project_id, limit)
