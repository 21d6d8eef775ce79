"""Sync a project with a folder of text files, both ways, all or nothing."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from app.services.data.projects import create_project
from app.services.scratch import scratch_folder
from app.services.studio import Studio
from app.services.sync.authors import Author, authors_of
from app.services.sync.plan import BaseText, SyncPlan, plan_sync
from app.services.sync.project_text import (
    intent_changes,
    intent_removals,
    intent_rows,
    text_of,
    utterance_changes,
    utterance_rows,
)
from app.services.sync.report import SyncReport, report_of
from core.errors import Conflict, InvalidInput, NotFound
from core.sync.folder import (
    DEFAULTS,
    INTENTS,
    UTTERANCES,
    ProjectText,
    folder_content,
    read_folder,
    write_folder,
)
from storage import models, projects
from storage.database import Transaction
from storage.log import events, settled_findings, versions
from storage.log.events import Action
from storage.log.replay import State, replay
from storage.log.staging import StagedChanges, join_staged
from storage.people import acts, synced
from storage.people.acts import Act
from storage.people.synced import OpenConflict, SyncBase
from storage.records import Change, ProjectRecord, now

_TRIES = 5
"""Times that a merge is computed anew because others changed meanwhile what it changes."""
_SETTINGS = {name: {"value": value} for name, value in DEFAULTS.items()}


@dataclass(frozen=True, slots=True)
class SyncRequest:
    """What to sync with what.

    `author` is whose act a change of the folder is where git does not tell.
    """

    project: str
    folder: Path
    author: str = "folder"
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class _Sides:
    """Both sides as they were read, the project at revision `seen`."""

    project: ProjectRecord
    seen: int
    base: SyncBase | None
    was: BaseText
    mine: ProjectText
    theirs: ProjectText
    is_new: bool


_Batches: TypeAlias = Sequence[tuple[Action, list[Change]]]
_MANY = 500
"""New texts that are computed into a file of their own before the transaction begins."""


def sync_folder(studio: Studio, request: SyncRequest) -> SyncReport:
    """Merge a project and a folder, and write what is new on either side.

    A project that does not exist is created from a folder that holds one.

    Raises:
        Conflict: Others changed the same again and again, or the folder changed meanwhile.
        InvalidInput: The folder cannot be used; file and line are named. Nothing is changed.
        NotFound: There is neither such a project nor one in the folder.
    """
    folder = request.folder.resolve()
    try:
        with studio.database.read() as connection:
            projects.find(connection, request.project)
    except NotFound:
        theirs = read_folder(folder, known=False)
        if theirs is None:
            raise
        if request.dry_run:
            return _empty(request, theirs)
        create_project(studio, request.project, theirs.task)
    for _ in range(_TRIES):
        sides = _read(studio, request.project, folder)
        plan = plan_sync(sides.was, sides.mine, sides.theirs)
        conflicts = _conflicts(folder, request.author, sides, plan)
        report = report_of(request.project, sides.was, sides.mine, sides.theirs, plan, conflicts)
        report = replace(report, first=sides.base is None, dry_run=request.dry_run)
        if request.dry_run:
            _check(sides, plan)
            return report
        batches = _batches(folder, request.author, sides, plan)
        if _land(studio, folder, sides, plan, conflicts, batches):
            keys = tuple(action.key for action, _ in batches)
            return replace(report, keys=keys, authors=tuple(action.actor for action, _ in batches))
    raise Conflict(
        "Other people changed the same texts again and again while the folder was read.",
        "Nothing is changed. Sync again when they rest.",
    )


def _empty(request: SyncRequest, theirs: ProjectText) -> SyncReport:
    """Report what a folder would bring into a project that does not exist yet."""
    nothing = ProjectText(theirs.task, _SETTINGS)
    plan = plan_sync(BaseText(nothing), nothing, theirs)
    report = report_of(request.project, BaseText(nothing), nothing, theirs, plan, {})
    return replace(report, first=True, dry_run=True)


def _read(studio: Studio, name: str, folder: Path) -> _Sides:
    with studio.database.read() as connection:
        project = projects.find(connection, name)
        seen = events.head(connection, project.id)
        mine = text_of(connection, project)
        base = synced.base_of(connection, project.id, str(folder))
        was = BaseText(ProjectText(project.task, _SETTINGS))
        if base is not None:
            was = _base_text(connection, project, base)
    theirs = read_folder(folder, known=base is not None)
    if theirs is not None and theirs.task != project.task:
        raise InvalidInput(
            f"The folder holds a {theirs.task} project, and '{name}' is {project.task}.",
            "Sync it into a project of its own.",
        )
    there = theirs or ProjectText(project.task, _SETTINGS)
    return _Sides(project, seen, base, was, mine, there, theirs is None)


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


def _conflicts(folder: Path, author: str, sides: _Sides, plan: SyncPlan) -> dict[str, OpenConflict]:
    """Return the undecided utterances, each with who wrote the folder's answer."""
    keys = plan.utterances.conflicts
    written = _authors(folder, UTTERANCES, sides, keys, author)
    found: dict[str, OpenConflict] = {}
    for key in keys:
        rows = (sides.was.text.utterances, sides.mine.utterances, sides.theirs.utterances)
        was, mine, theirs = (None if key not in of else dict(of[key]) for of in rows)
        earlier = sides.was.conflicts.get(key)
        if earlier is not None and (earlier.project, earlier.folder) == (mine, theirs):
            found[key] = earlier
        else:
            who = written[key]
            found[key] = OpenConflict(was, mine, theirs, who.name, who.at or now())
    return found


def _authors(
    folder: Path, file: str, sides: _Sides, keys: Sequence[str], otherwise: str
) -> dict[str, Author]:
    """Return who wrote the lines of some keys; a line that is gone is nobody's in git."""
    lines = sides.theirs.lines.get(file, {})
    there = [key for key in keys if key in lines]
    told = authors_of(folder, file, [lines[key] for key in there], otherwise)
    return dict.fromkeys(keys, Author(otherwise)) | dict(zip(there, told, strict=True))


def _batches(
    folder: Path, author: str, sides: _Sides, plan: SyncPlan
) -> list[tuple[Action, list[Change]]]:
    """Return the project's changes as one action for each author, removals of intents last."""
    of_author: dict[str, list[Change]] = defaultdict(list)
    times: dict[str, str] = defaultdict(str)

    def add(who: Author, changes: Sequence[Change]) -> None:
        if changes:
            of_author[who.name] += changes
            times[who.name] = max(times[who.name], who.at)

    intents = plan.intents.to_project
    written = _authors(folder, INTENTS, sides, list(intents), author)
    for change in intent_changes(sides.mine.intents, intents):
        add(written[change.subject_id], [change])
    texts = plan.utterances.to_project
    written = _authors(folder, UTTERANCES, sides, list(texts), author)
    for key in texts:
        add(written[key], list(_of_text(sides, plan, key)))
    removals = intent_removals(sides.mine.intents, intents)
    if removals:
        of_author[author] = of_author.pop(author, []) + removals
    origin = f"sync {folder.name}"
    return [
        (Action("sync", name, origin, at=times[name]), changes)
        for name, changes in of_author.items()
    ]


def _of_text(sides: _Sides, plan: SyncPlan, key: str) -> Iterator[Change]:
    try:
        after = plan.utterances.to_project[key]
        yield from utterance_changes(sides.mine.utterances.get(key), after)
    except InvalidInput as error:
        line = sides.theirs.lines[UTTERANCES].get(key, 0)
        raise InvalidInput(f"{UTTERANCES}, line {line}: {error.message}", error.hint) from error


def _check(sides: _Sides, plan: SyncPlan) -> None:
    """Refuse what could not be written."""
    intent_changes(sides.mine.intents, plan.intents.to_project)
    for key in plan.utterances.to_project:
        for _ in _of_text(sides, plan, key):
            pass


def _land(
    studio: Studio,
    folder: Path,
    sides: _Sides,
    plan: SyncPlan,
    conflicts: dict[str, OpenConflict],
    batches: _Batches,
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


def _largest(batches: _Batches) -> list[Change]:
    return max((changes for _, changes in batches), key=len, default=[])


@contextmanager
def _writing(
    studio: Studio, sides: _Sides, batches: _Batches
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


def _is_same(sides: _Sides, plan: SyncPlan, base: SyncBase) -> bool:
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
    connection: Transaction, sides: _Sides, plan: SyncPlan, conflicts: dict[str, OpenConflict]
) -> bool:
    """Whether others changed what the merge changes, or any intent, since it was computed."""
    project = projects.get(connection, sides.project.id)
    if (project.fence, project.auto_promote) != (sides.project.fence, sides.project.auto_promote):
        return True
    touched = events.touched_since(connection, project.id, sides.seen)
    mine = {*plan.utterances.to_project, *plan.utterances.to_folder, *conflicts}
    return any(kind == "intent" or key in mine for kind, key in touched)


def _store_rest(connection: Transaction, studio: Studio, sides: _Sides, plan: SyncPlan) -> None:
    """Store pins and settings, which are not in the log."""
    project_id = sides.project.id
    for text, row in plan.pins.to_project.items():
        if row is None:
            models.remove_pin(connection, project_id, text)
        else:
            models.add_pin(connection, project_id, text, row["intents"], studio.settings.actor)
    for name, row in plan.settings.to_project.items():
        value = None if row is None else row["value"]
        if name == "fence":
            projects.change_fence(connection, project_id, value)
        else:
            projects.change_gate(connection, project_id, auto_promote=bool(value))


def _next_base(
    sides: _Sides, plan: SyncPlan, conflicts: dict[str, OpenConflict], keys: tuple[str, ...]
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
