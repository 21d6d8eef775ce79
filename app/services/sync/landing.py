"""Write what a sync found: the project in one transaction, and the folder before it ends.

A large project that does not exist yet is filled before anybody sees it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from app.services.scratch import scratch_folder
from app.services.studio import Studio
from app.services.sync.plan import SyncPlan
from app.services.sync.project_text import pin_rows
from app.services.sync.sides import SyncSides
from core.errors import Conflict
from core.sync.folder import folder_content, write_folder
from storage import pinned_texts, projects
from storage.database import Transaction
from storage.log import events
from storage.log.events import Action
from storage.log.staging import StagedChanges, join_staged
from storage.people import acts, synced
from storage.people.acts import Act
from storage.people.synced import OpenConflict, SyncBase
from storage.records import Change, ProjectRecord

Batches: TypeAlias = Sequence[tuple[Action, list[Change]]]
_MANY = 500
"""New texts that are computed into a file of their own before the transaction begins."""
_STAGE = 5_000
"""Changes of a new project that one transaction writes: a tenth of a second for others to wait."""


def land(
    studio: Studio,
    folder: Path,
    sides: SyncSides,
    plan: SyncPlan,
    conflicts: dict[str, OpenConflict],
    batches: Batches,
) -> bool:
    """Write both sides; False, with nothing written, if the merge must be computed anew.

    The folder is written before the transaction ends. If the process is killed in between, the
    folder holds what both sides had, and the project and the base are as before: the next sync
    finds the folder's changes again, and its own as the same on both sides.
    """
    project_id = sides.project.id
    base = _next_base(sides, plan, conflicts, tuple(action.key for action, _ in batches))
    keeps = not _is_same(sides, plan, base)
    before = None if sides.is_new else sides.theirs
    content = folder_content(before, plan.folder)
    with _writing(studio, sides, batches) as (connection, staged):
        if _is_outdated(connection, sides, plan, conflicts):
            return False
        for action, changes in batches:
            if staged is not None and changes is _largest(batches):
                join_staged(connection, project_id, action, staged)
            else:
                events.record(connection, project_id, action, changes)
        _store_rest(connection, studio, sides, plan)
        if not batches and (plan.changes_folder or plan.changes_project):
            acts.note(connection, project_id, Act("sync", studio.settings.actor, folder.name))
        if keeps:
            synced.keep_base(connection, project_id, str(folder), base)
        write_folder(folder, before, content)
    if staged is not None:
        studio.database.empty_log()
    return True


def land_in_stages(
    studio: Studio,
    folder: Path,
    name: str,
    found: tuple[SyncSides, SyncPlan, dict[str, OpenConflict]],
    batches: Batches,
) -> None:
    """Fill a project that nobody sees, some thousand changes at a time, and then give it its name.

    Others write between two stages. If the process is killed, there is no project of that name; the
    next sync takes what was filled in as what the project has, and brings the rest.

    Raises:
        Conflict: The name was taken meanwhile, or the project restored or filled by somebody else.
    """
    sides, plan, conflicts = found
    head = sides.seen
    for action, changes in batches:
        for at in range(0, len(changes), _STAGE):
            head = _fill(studio, sides.project.id, head, action, changes[at : at + _STAGE])
    base = _next_base(sides, plan, conflicts, tuple(action.key for action, _ in batches))
    content = folder_content(sides.theirs, plan.folder)
    with studio.database.write() as connection:
        record = _unseen_still(connection, sides.project.id, head)
        _store_rest(connection, studio, sides, plan)
        synced.keep_base(connection, record.id, str(folder), base)
        projects.show(connection, record, name)
        acts.note(connection, record.id, Act("create project", studio.settings.actor, name))
        write_folder(folder, sides.theirs, content)


def _fill(
    studio: Studio, project_id: int, head: int, action: Action, changes: Sequence[Change]
) -> int:
    """Write changes of an action in one transaction; return the project's revision then."""
    with scratch_folder(studio.places) as scratch:
        staged = StagedChanges(scratch / "changes.db", head, set())
        staged.fill(changes)
        with studio.database.write_beside(staged.file) as connection:
            _unseen_still(connection, project_id, head)
            join_staged(connection, project_id, action, staged)
    studio.database.empty_log()
    return head + len(changes)


def _unseen_still(connection: Transaction, project_id: int, head: int) -> ProjectRecord:
    record = projects.get(connection, project_id)
    if record.deleted_name is None or events.head(connection, project_id) != head:
        raise Conflict(
            "Somebody else restored or filled the project while the folder was read.",
            "Sync again, with a project that does not exist yet.",
        )
    return record


def _largest(batches: Batches) -> list[Change]:
    return max((changes for _, changes in batches), key=len, default=[])


@contextmanager
def _writing(
    studio: Studio, sides: SyncSides, batches: Batches
) -> Iterator[tuple[Transaction, StagedChanges | None]]:
    """Open the transaction; thousands of new texts wait in a file, so that it stays short."""
    large = _largest(batches)
    if len(large) < _MANY or any(one.field != "row" or one.before is not None for one in large):
        with studio.database.write() as connection:
            yield connection, None
        return
    with scratch_folder(studio.places) as scratch:
        staged = StagedChanges(scratch / "changes.db", sides.seen, set())
        staged.fill(large)
        with studio.database.write_beside(staged.file) as connection:
            yield connection, staged


def _is_same(sides: SyncSides, plan: SyncPlan, base: SyncBase) -> bool:
    """Whether a base says what the stored one says, so that nothing is written."""
    if sides.base is None or plan.changes_project or plan.changes_folder:
        return False
    was, mine = sides.was.text, sides.mine
    return replace(base, revision=sides.base.revision, keys=sides.base.keys) == sides.base and all(
        before.get(key) == now.get(key)
        for before, now, open_ in (
            (was.utterances, mine.utterances, base.conflicts),
            (was.intents, mine.intents, base.intents),
        )
        for key in before.keys() | now.keys()
        if key not in open_
    )


def _is_outdated(
    connection: Transaction, sides: SyncSides, plan: SyncPlan, conflicts: dict[str, OpenConflict]
) -> bool:
    """Whether others changed what the merge changes, or any intent, since it was computed."""
    project = projects.get_open(connection, sides.project.id)
    if (project.fence, project.auto_promote) != (sides.project.fence, sides.project.auto_promote):
        return True
    pins = pin_rows(connection, project.id, sides.mine.intents)
    if any(pins.get(key) != sides.mine.pins.get(key) for key in plan.pins.to_project):
        return True
    touched = events.touched_since(connection, project.id, sides.seen)
    mine = {*plan.utterances.to_project, *plan.utterances.to_folder, *conflicts}
    return any(kind == "intent" or key in mine for kind, key in touched)


def _store_rest(connection: Transaction, studio: Studio, sides: SyncSides, plan: SyncPlan) -> None:
    """Store pins and settings, which are not in the log."""
    project_id = sides.project.id
    for text, row in plan.pins.to_project.items():
        if row is None:
            pinned_texts.remove(connection, project_id, text)
        else:
            pinned_texts.add(connection, project_id, text, row["intents"], studio.settings.actor)
    for name, row in plan.settings.to_project.items():
        value = None if row is None else row["value"]
        if name == "fence":
            projects.change_fence(connection, project_id, value)
        else:
            projects.change_gate(connection, project_id, auto_promote=bool(value))


def _next_base(
    sides: SyncSides, plan: SyncPlan, conflicts: dict[str, OpenConflict], keys: tuple[str, ...]
) -> SyncBase:
    """Return what both have now; of rows in conflict, what they had."""
    was = sides.was.text
    pins = {key: row for key, row in plan.folder.pins.items() if key not in plan.pins.conflicts}
    pins |= {key: was.pins[key] for key in plan.pins.conflicts if key in was.pins}
    settings = dict(plan.folder.settings)
    settings |= {key: was.settings[key] for key in plan.settings.conflicts if key in was.settings}
    return SyncBase(
        revision=sides.seen,
        keys=keys,
        conflicts=conflicts,
        intents={key: was.intents.get(key) for key in plan.intents.conflicts},
        pins=pins,
        settings=settings,
        bundle=sides.mine.bundle,
    )
