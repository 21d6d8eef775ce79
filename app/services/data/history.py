"""Undo and redo the actions of a project, and list them."""

from collections.abc import Sequence
from typing import Literal

from app.services.data.large_acts import LARGE, reverse_staged
from app.services.studio import Studio
from core.errors import Conflict
from storage import projects
from storage.log import events, settled_findings
from storage.log.events import Action
from storage.records import BatchRecord


def undo_last(studio: Studio, project: str, newest: int | None = None) -> BatchRecord | None:
    """Undo the newest action of a project; None when there is none.

    Args:
        studio: The open studio.
        project: Its name.
        newest: Number of the action that the person takes for the newest; None is any.

    Raises:
        Conflict: What it changed has been changed again, or somebody acted after it.
    """
    with studio.database.read() as connection:
        project_id = projects.find(connection, project).id
        target = events.undoable(connection, project_id)
    _check_newest(target, newest)
    if _reverse_large(studio, project_id, target, "undo"):
        return target
    with studio.database.write() as connection:
        _check_newest(events.undoable(connection, project_id), newest)
        return events.undo(connection, project_id, studio.settings.actor)


def _check_newest(target: BatchRecord | None, newest: int | None) -> None:
    if newest is not None and target is not None and target.id != newest:
        raise Conflict(
            "Something else was done meanwhile, so nothing is changed.",
            "Look at what was done last, and press it again if you mean that.",
        )


def undo_action(studio: Studio, project: str, key: str) -> BatchRecord | None:
    """Undo exactly the action of a key, or list a settled finding again; once.

    Raises:
        Conflict: What it changed has been changed again, or it is no action that can be taken back.
        NotFound: Nothing was done under that key.
    """
    with studio.database.read() as connection:
        project_id = projects.find(connection, project).id
        target = events.undoable(connection, project_id, of=key)
    _reverse_large(studio, project_id, target, "undo")
    with studio.database.write() as connection:  # an action that was taken back stays as it is
        settled_findings.undo_settling(connection, project_id, key, studio.settings.actor)
        return events.find_batch(connection, project_id, key)


def redo_last(studio: Studio, project: str, newest: int | None = None) -> BatchRecord | None:
    """Redo the newest undo, unless an action was recorded since.

    Args:
        studio: The open studio.
        project: Its name.
        newest: Number of the undo that the person takes for the newest; None is any.

    Raises:
        Conflict: What it changed has been changed again, or somebody took something back after it.
    """
    with studio.database.read() as connection:
        project_id = projects.find(connection, project).id
        target = events.redoable(connection, project_id)
    _check_newest(target, newest)
    if _reverse_large(studio, project_id, target, "redo"):
        return target
    with studio.database.write() as connection:
        _check_newest(events.redoable(connection, project_id), newest)
        return events.redo(connection, project_id, studio.settings.actor)


def _reverse_large(
    studio: Studio, project_id: int, target: BatchRecord | None, verb: Literal["undo", "redo"]
) -> bool:
    """Take back an action of thousands of changes; False if that is to be done at once."""
    if target is None:
        return False
    with studio.database.read() as connection:
        is_large = events.size_of(connection, target.id) >= LARGE
    action = Action(verb, studio.settings.actor)
    return is_large and reverse_staged(studio, project_id, target, action)


def list_actions(studio: Studio, project: str, limit: int = 50) -> Sequence[BatchRecord]:
    """Return the newest actions of a project."""
    with studio.database.read() as connection:
        project_id = projects.find(connection, project).id
        return events.history(connection, project_id, limit)
