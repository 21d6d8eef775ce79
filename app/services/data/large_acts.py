"""Acts on thousands of texts: computed beside the database, and joined to it in a short step.

While such an act is computed and written into a file of its own, others save their labels.
"""

from collections.abc import Sequence

from app.services.scratch import scratch_folder
from app.services.studio import Studio
from storage.log import events
from storage.log.apply import given_intents, refuse_stale
from storage.log.events import Action, Reversal
from storage.log.staging import StagedChanges, land_whole
from storage.records import BatchRecord, Change

LARGE = 2_000
"""Changes from which an act is staged; fewer are written at once, in at most 0.3 s."""

TRIES = 5
"""Times that an act is computed anew because others changed what it changes meanwhile."""


def reverse_staged(studio: Studio, project_id: int, target: BatchRecord, action: Action) -> bool:
    """Take back a large action, or a large undo of one; False if others were always quicker.

    Raises:
        Conflict: A text that the action changed was changed since, or others need all of it.
    """
    for _ in range(TRIES):
        with studio.database.read() as connection:
            if events.is_undone(connection, target):
                return True
            seen = events.head(connection, project_id)
            reversal = events.reversal_of(connection, project_id, target, action)
            touched = events.touched_since(connection, project_id, target.last_revision)
            again = [c for c in reversal.changes if (c.subject, c.subject_id) in touched]
            refuse_stale(connection, project_id, again)
        if stage(studio, project_id, reversal, reversal.changes, seen):
            return True
    return False


def stage(
    studio: Studio,
    project_id: int,
    act: Action | Reversal,
    changes: Sequence[Change],
    seen: int,
) -> bool:
    """Do an act whose changes were computed at revision `seen`, all of it or nothing.

    Returns False, with nothing done, if they must be computed anew.
    """
    with scratch_folder(studio.places) as folder:
        staged = StagedChanges(folder / "changes.db", seen, given_intents(changes))
        staged.fill(changes)
        return land_whole(studio.database, project_id, staged, act)
