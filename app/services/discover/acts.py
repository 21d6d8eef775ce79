"""What a person does with a group: takes it, sets it aside, merges or renames it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.services.data.bulk import Allowed, BulkCounts, Edit, Plan, plan
from app.services.data.intents import named_intents
from app.services.data.utterances import touched_texts
from app.services.discover.splitting import bring_back
from app.services.discover.stored import waiting_in_family
from app.services.studio import Studio
from core.discover.order import CORE
from core.discover.showing import core_size
from core.errors import Conflict, InvalidInput
from core.text import counted, is_storable, plain_name
from storage import projects
from storage.computed import text_groups
from storage.database import Transaction
from storage.log import events
from storage.log.events import Action
from storage.log.label_origins import GROUP
from storage.queries import dataset, utterances
from storage.records import Change, ProjectRecord, TextGroupRecord

_LONGEST_NAME = 200
_ASKED_AGAIN = Allowed(labelled=True)
"""What waits in a group and has a label is out of scope, and was grouped on wish."""

Share = Literal["core", "all"]


@dataclass(frozen=True, slots=True)
class Taking:
    """How a group is taken.

    Attributes:
        intent: Id of the intent, or empty.
        create: Name of an intent, which is created if there is none of this name, and brought back
            if it is archived; or empty. Without both, the texts are out of scope.
        share: The sure `core` alone, or `all` texts.
        without: Ids of texts that do not belong to it.
        expected: How many texts the page showed to be labelled.
        revision: Revision of the project at which the group was shown.
        key: Taking with the same key is done once.
    """

    intent: str
    create: str
    share: Share
    without: frozenset[str]
    expected: int
    revision: int
    key: str


@dataclass(frozen=True, slots=True)
class TakenView:
    """Number of texts that were labelled, the intent's id (empty: out of scope), what was left."""

    changed: int
    intent: str
    left: BulkCounts


@dataclass(frozen=True, slots=True)
class GroupChange:
    """What changes of a group; None keeps it.

    `merged_into` 0 makes it a group of its own again. `for_later`, told with `set_aside`: a person
    put it aside, and has not taken it; by default, if texts are set aside.
    """

    name: str | None = None
    merged_into: int | None = None
    set_aside: int | None = None
    for_later: bool | None = None


def take_group(studio: Studio, project: str, number: int, taking: Taking) -> TakenView:
    """Label a group's texts as one action, and set the rest aside.

    Texts that were labelled meanwhile, or moved to the test set, are left as they are. One that
    was out of scope when it was grouped gets its new label in place of that.

    Raises:
        NotFound: There is no such group or intent.
        Conflict: Somebody has decided about texts of the group since it was shown, or it has
            others.
    """
    with studio.database.write() as connection:
        target = projects.find(connection, project)
        action = Action("label", studio.settings.actor, GROUP, taking.key)
        if (before := events.find_batch(connection, target.id, action.key)) is not None:
            return _taken_before(events.changes_of(connection, before.id))
        ids = _undecided(connection, target, number, taking.revision)
        created, intent = _intent(connection, target, taking)
        made = _planned(connection, target, _chosen(ids, taking), intent, taking)
        texts_of = made.allowed(_ASKED_AGAIN)
        labels = [change for changes in texts_of for change in changes]
        events.record(connection, target.id, action, [*created, *labels])
        rest = len(ids) - len(texts_of)
        taken = {"for_later": False, "is_split": False, "reopened": False}
        then = {"texts_then": _size(connection, target, number)}
        facts = {**text_groups.find(connection, target.id, number).facts, **taken, **then}
        text_groups.change(connection, target.id, number, {"set_aside": rest, "facts": facts})
    return TakenView(len(texts_of), intent, made.left(_ASKED_AGAIN))


def _taken_before(changes: Sequence[Change]) -> TakenView:
    """Say what a taking did that is asked for again."""
    texts = {one.subject_id for one in changes if one.subject == "utterance"}
    labels = [one for one in changes if one.field == "labels"]
    given = {key for one in labels for key in set(one.after or ()) - set(one.before or ())}
    return TakenView(len(texts), min(given, default=""), Plan().counts)


def change_group(studio: Studio, project: str, number: int, change: GroupChange) -> None:
    """Rename a group, set it aside, or merge it into another; no label changes.

    Raises:
        NotFound: There is no such group.
        InvalidInput: The name is empty or too long, or a group would be merged into itself.
        Conflict: It, or the group that it would join, was merged into another meanwhile.
    """
    values: dict[str, object] = {}
    with studio.database.write() as connection:
        target = projects.find(connection, project)
        group = text_groups.find(connection, target.id, number)
        if change.name is not None:
            values["name"] = _usable_name(change.name)
        if change.set_aside is not None:
            values["set_aside"] = change.set_aside
            is_later = change.set_aside > 0 if change.for_later is None else change.for_later
            # Undo of another act tells whether it was for later, too.
            is_reopened = change.set_aside == 0 and change.for_later is None
            then = _size(connection, target, number) if change.for_later is None else None
            told = {"for_later": is_later, "reopened": is_reopened, "texts_then": then}
            values["facts"] = {**group.facts, **told}
        if change.merged_into is not None:
            values["merged_into"] = _merged(connection, target, group, change.merged_into)
        whole = _shown_in(connection, target, number) if change.merged_into == 0 else number
        if values:
            text_groups.change(connection, target.id, number, values)
        if whole != number:
            bring_back(connection, target, number, whole)


def _shown_in(connection: Transaction, project: ProjectRecord, number: int) -> int:
    return text_groups.families(connection, project.id).shown(number)


def _size(connection: Transaction, project: ProjectRecord, number: int) -> int:
    """Return how many texts a group has, with a label or without."""
    families = text_groups.families(connection, project.id)
    found = text_groups.of_families(connection, project.id, families)[families.shown(number)]
    return found.waiting + found.labels.total()


def _undecided(
    connection: Transaction, project: ProjectRecord, number: int, revision: int
) -> list[str]:
    """Return the ids of a group's texts that wait, or refuse if somebody was quicker.

    What is left of a group that somebody has taken can be as many texts as the page showed: those
    of its border, which nobody has seen.
    """
    families = text_groups.families(connection, project.id)
    ids = waiting_in_family(connection, project, families, number)
    touched = {key for _, key in events.touched_since(connection, project.id, revision)}
    decided = text_groups.decided_in(connection, project.id, families.parts[number])
    if meanwhile := len(touched & decided):
        every = "all" if not ids else f"{meanwhile:,}"
        raise Conflict(
            f"Somebody has decided about {every} of this group's texts meanwhile.",
            "Nothing was changed. Look at what is left of it." if ids else "Nothing was changed.",
        )
    return ids


def _chosen(ids: Sequence[str], taking: Taking) -> list[str]:
    """Return the texts to label, or refuse if the page showed others."""
    part = ids if taking.share == "all" else ids[: core_size(len(ids), CORE)]
    chosen = [key for key in part if key not in taking.without]
    if len(chosen) != taking.expected:
        raise Conflict(
            f"Meanwhile this would label {counted(len(chosen), 'text')}, not {taking.expected:,}.",
            "Somebody has changed the group. Look at it again, then repeat it.",
        )
    return chosen


def _intent(
    connection: Transaction, project: ProjectRecord, taking: Taking
) -> tuple[list[Change], str]:
    """Return the changes that the intent needs before it can be used, and its id.

    An empty id stands for out of scope.
    """
    if taking.intent:
        if taking.intent not in dataset.open_intents(connection, project.id):
            raise InvalidInput("This intent is there no more.", "Choose another.")
        return [], taking.intent
    if not taking.create:
        return [], ""
    changes, [intent] = named_intents([taking.create], dataset.intents(connection, project.id))
    return changes, intent


def _planned(
    connection: Transaction, project: ProjectRecord, ids: list[str], intent: str, taking: Taking
) -> Plan:
    """Plan the labels; texts that changed since the group was shown are left as they are."""
    stale = touched_texts(connection, project.id, taking.revision)
    records = list(utterances.by_ids(connection, project.id, ids).values())
    edit = Edit("label", intent) if intent else Edit("out-of-scope")
    made = plan(records, edit, stale, joins=project.task == "multi-label")
    if ids and made.same == len(ids):
        raise Conflict(
            "These texts are labelled so already.",
            "Nothing was changed. Give them an intent, or put the group aside for later.",
        )
    if not made.allowed(_ASKED_AGAIN):
        raise Conflict(
            "No text of this group is left to label.",
            "Somebody has labelled them meanwhile, or all were left out. Look at it again.",
        )
    return made


def _usable_name(name: str) -> str:
    name = plain_name(name)
    if not name or len(name) > _LONGEST_NAME or not is_storable(name):
        raise InvalidInput(
            f"'{name[:40]}' cannot name a group.", f"Use 1 to {_LONGEST_NAME} characters."
        )
    return name


def _merged(
    connection: Transaction, project: ProjectRecord, group: TextGroupRecord, into: int
) -> int | None:
    """Return the group to merge into, or refuse if either was merged since the page showed it.

    A merge changes no revision. D had joined A, which joined B: a page that still listed D let B
    join it, and the circle had no end.
    """
    if not into:
        return None
    target = text_groups.find(connection, project.id, into)
    if into == group.id:
        raise InvalidInput("A group cannot be merged into itself.", "Choose another group.")
    shown = text_groups.families(connection, project.id).parts
    if group.merged_into == into and group.id not in shown:
        return into  # the same was asked before
    for one in (group, target):
        if one.id not in shown:
            raise Conflict(
                f"'{one.name}' was merged meanwhile, into another group.",
                "Nothing was changed. Look at the groups again.",
            )
    return into
