"""Both sides of a sync as they were read: the project, the folder, and what both had last."""

from dataclasses import dataclass
from pathlib import Path

from app.services.studio import Studio
from app.services.sync.plan import BaseText
from app.services.sync.project_text import intent_rows, text_of, utterance_rows
from core.errors import InvalidInput
from core.sync.folder import DEFAULTS, ProjectText, read_folder
from storage import projects
from storage.database import Transaction
from storage.log import events, settled_findings, versions
from storage.log.replay import State, replay
from storage.people import synced
from storage.people.synced import SyncBase
from storage.records import ProjectRecord

SETTINGS = {name: {"value": value} for name, value in DEFAULTS.items()}


@dataclass(frozen=True, slots=True)
class SyncSides:
    """Both sides as they were read, the project at revision `seen`."""

    project: ProjectRecord
    seen: int
    base: SyncBase | None
    was: BaseText
    mine: ProjectText
    theirs: ProjectText
    is_new: bool


def read_sides(studio: Studio, project_id: int, folder: Path) -> SyncSides:
    """Read both sides.

    Raises:
        InvalidInput: The folder cannot be used, or holds a project of the other task.
        NotFound: There is no such project.
    """
    with studio.database.read() as connection:
        project = projects.get(connection, project_id)
        seen = events.head(connection, project.id)
        mine = text_of(connection, project)
        base = synced.base_of(connection, project.id, str(folder))
        was = BaseText(ProjectText(project.task, SETTINGS))
        if base is not None:
            was = _base_text(connection, project, base)
    theirs = read_folder(folder, known=base is not None)
    if theirs is not None and theirs.task != project.task:
        raise InvalidInput(
            f"The folder holds a {theirs.task} project, and '{project.name}' is {project.task}.",
            "Sync it into a project of its own.",
        )
    there = theirs or ProjectText(project.task, SETTINGS)
    return SyncSides(project, seen, base, was, mine, there, theirs is None)


def _base_text(connection: Transaction, project: ProjectRecord, base: SyncBase) -> BaseText:
    state = _state(connection, project.id, base)
    stones = synced.tombstones(connection, project.id)
    utterances = utterance_rows(state.utterance_records())
    intents = intent_rows(state.intent_records())
    for key, row in base.intents.items():
        intents.pop(key, None)
        if row is not None:
            intents[key] = row
    text = ProjectText(
        task=project.task,
        settings=base.settings,
        bundle=base.bundle,
        intents=intents,
        utterances=utterances,
        pins=base.pins,
    )
    erased = frozenset(key for key, row in utterances.items() if row["text"] in stones)
    settled = settled_findings.settled(connection, project.id)
    return BaseText(text, base.conflicts, settled, erased)


def _state(connection: Transaction, project_id: int, base: SyncBase) -> State:
    """Rebuild the utterances and intents that a base had, from the log."""
    state = versions.state_at(connection, project_id, base.revision)
    found = events.find_batches(connection, project_id, base.keys)
    own = (events.changes_of(connection, found[key].id) for key in base.keys if key in found)
    return replay((change for changes in own for change in changes), state)
