"""Sync a project with a folder of text files, both ways, all or nothing."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.services.data.projects import create_project
from app.services.studio import Studio
from app.services.sync.authors import Author, authors_of
from app.services.sync.landing import Batches, land, land_in_stages
from app.services.sync.plan import BaseText, SyncPlan, plan_sync
from app.services.sync.project_text import (
    intent_changes,
    intent_removals,
    utterance_changes,
)
from app.services.sync.report import SyncReport, report_of
from app.services.sync.sides import SETTINGS, SyncSides, read_sides
from core.errors import Conflict, InvalidInput, NotFound
from core.sync.folder import (
    INTENTS,
    UTTERANCES,
    ProjectText,
    read_folder,
)
from storage import projects
from storage.log.apply import given_intents
from storage.log.events import Action
from storage.people.synced import OpenConflict
from storage.records import Change, now

_TRIES = 5
"""Times that a merge is computed anew because others changed meanwhile what it changes."""
_LARGE = 5_000
"""Utterances of a folder from which on a new project is filled before anybody sees it."""


@dataclass(frozen=True, slots=True)
class SyncRequest:
    """What to sync with what.

    `author` is whose act a change of the folder is where git does not tell.
    """

    project: str
    folder: Path
    author: str = "folder"
    dry_run: bool = False


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
            project_id = projects.find(connection, request.project).id
    except NotFound:
        theirs = read_folder(folder, known=False)
        if theirs is None:
            raise
        if request.dry_run:
            return _empty(request, theirs)
        if len(theirs.utterances) >= _LARGE:
            return _bring_in(studio, request, folder, theirs)
        project_id = create_project(studio, request.project, theirs.task).id
    for _ in range(_TRIES):
        sides = read_sides(studio, project_id, folder)
        plan, conflicts, report = _merged(request, folder, sides)
        if request.dry_run:
            _check(sides, plan)
            return report
        batches = _batches(folder, request.author, sides, plan)
        if land(studio, folder, sides, plan, conflicts, batches):
            return _landed(report, batches)
    raise Conflict(
        "Other people changed the same texts again and again while the folder was read.",
        "Nothing is changed. Sync again when they rest.",
    )


def _bring_in(
    studio: Studio, request: SyncRequest, folder: Path, theirs: ProjectText
) -> SyncReport:
    """Create a project from a large folder; nobody sees it before it is whole."""
    with studio.database.write() as connection:
        project_id = projects.create_unseen(connection, request.project, theirs.task).id
    sides = read_sides(studio, project_id, folder)
    plan, conflicts, report = _merged(request, folder, sides)
    batches = _batches(folder, request.author, sides, plan)
    land_in_stages(studio, folder, request.project, (sides, plan, conflicts), batches)
    return _landed(report, batches)


def _merged(
    request: SyncRequest, folder: Path, sides: SyncSides
) -> tuple[SyncPlan, dict[str, OpenConflict], SyncReport]:
    """Return what a sync changes, what it leaves undecided, and both in numbers."""
    plan = plan_sync(sides.was, sides.mine, sides.theirs)
    conflicts = _conflicts(folder, request.author, sides, plan)
    report = report_of(request.project, sides.was, sides.mine, sides.theirs, plan, conflicts)
    first = sides.base is None
    return plan, conflicts, replace(report, first=first, dry_run=request.dry_run)


def _landed(report: SyncReport, batches: Batches) -> SyncReport:
    keys = tuple(action.key for action, _ in batches)
    return replace(report, keys=keys, authors=tuple(action.actor for action, _ in batches))


def _empty(request: SyncRequest, theirs: ProjectText) -> SyncReport:
    """Report what a folder would bring into a project that does not exist yet."""
    nothing = ProjectText(theirs.task, SETTINGS)
    plan = plan_sync(BaseText(nothing), nothing, theirs)
    report = report_of(request.project, BaseText(nothing), nothing, theirs, plan, {})
    return replace(report, first=True, dry_run=True)


def _conflicts(
    folder: Path, author: str, sides: SyncSides, plan: SyncPlan
) -> dict[str, OpenConflict]:
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
    folder: Path, file: str, sides: SyncSides, keys: Sequence[str], otherwise: str
) -> dict[str, Author]:
    """Return who wrote the lines of some keys; a line that is gone is nobody's in git."""
    lines = sides.theirs.lines.get(file, {})
    there = [key for key in keys if key in lines]
    told = authors_of(folder, file, [lines[key] for key in there], otherwise)
    return dict.fromkeys(keys, Author(otherwise)) | dict(zip(there, told, strict=True))


def _batches(
    folder: Path, author: str, sides: SyncSides, plan: SyncPlan
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
        for name, changes in _intents_first(of_author)
    ]


def _intents_first(of_author: Mapping[str, list[Change]]) -> Iterator[tuple[str, list[Change]]]:
    """Yield each author's changes; where one labels with what a later one made, intents before.

    After each action of the log, every label names an intent that is there.
    """
    coming = [_made(changes) for changes in of_author.values()]
    given = map(given_intents, of_author.values())
    if not any(labels & set[str]().union(*coming[at:]) for at, labels in enumerate(given, 1)):
        yield from of_author.items()
        return
    for is_text in (False, True):
        for name, changes in of_author.items():
            part = [c for c in changes if (c.subject == "utterance" or c.removes) is is_text]
            if part:
                yield name, part


def _made(changes: Sequence[Change]) -> set[str]:
    rows = (c for c in changes if c.subject == "intent" and c.field == "row")
    return {c.subject_id for c in rows if c.after is not None}


def _of_text(sides: SyncSides, plan: SyncPlan, key: str) -> Iterator[Change]:
    try:
        after = plan.utterances.to_project[key]
        yield from utterance_changes(sides.mine.utterances.get(key), after)
    except InvalidInput as error:
        line = sides.theirs.lines[UTTERANCES].get(key, 0)
        raise InvalidInput(f"{UTTERANCES}, line {line}: {error.message}", error.hint) from error


def _check(sides: SyncSides, plan: SyncPlan) -> None:
    """Refuse what could not be written."""
    intent_changes(sides.mine.intents, plan.intents.to_project)
    for key in plan.utterances.to_project:
        for _ in _of_text(sides, plan, key):
            pass
