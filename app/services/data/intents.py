"""List a project's intents with their counts; add, change and merge them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.services.studio import Studio
from core.errors import Conflict
from core.maps.palette import position_colour
from core.text import plain_name
from storage import projects
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset, utterances
from storage.queries.utterances import Counts
from storage.records import Change, IntentRecord


@dataclass(frozen=True, slots=True)
class IntentView:
    """An intent with its number in the list and its colour.

    `utterances` counts the texts that carry it, `tests` those of them in the test set.
    """

    id: str
    number: int
    name: str
    description: str
    color: str
    archived: bool
    utterances: int
    tests: int


def load_overview(studio: Studio, project: str) -> tuple[Counts, tuple[IntentView, ...]]:
    """Count a project's utterances, and list its intents by position."""
    with studio.database.read() as connection:
        project_id = projects.find(connection, project).id
        counts = utterances.counts(connection, project_id)
        records = dataset.intents(connection, project_id)
    views = [_intent_view(place, r, counts) for place, r in enumerate(records)]
    return counts, tuple(views)


def _intent_view(place: int, record: IntentRecord, counts: Counts) -> IntentView:
    return IntentView(
        id=record.id,
        number=place + 1,
        name=record.name,
        description=record.description,
        color=record.color or position_colour(record.position),
        archived=record.archived,
        utterances=counts.by_intent.get(record.id, 0),
        tests=counts.tests_by_intent.get(record.id, 0),
    )


def add_intent(studio: Studio, project: str, name: str, description: str = "") -> str:
    """Create an intent; return its id.

    Raises:
        Conflict: The name is taken, or looks like that of another intent.
        InvalidInput: The name is empty, too long, or not storable.
    """
    with studio.database.write() as connection:
        project_id = projects.find(connection, project).id
        intents = dataset.intents(connection, project_id)
        name = plain_name(name)
        if any(intent.archived and intent.name == name for intent in intents):
            raise Conflict(
                f"There is an archived intent '{name}'.", "Bring it back, or choose another name."
            )
        edits.check_look(name, intents)
        change = edits.create_intent(name, description, position=len(intents))
        action = Action("create intent", studio.settings.actor, "page")
        events.record(connection, project_id, action, [change])
    return change.subject_id


def named_intents(
    names: Iterable[str], intents: Sequence[IntentRecord]
) -> tuple[list[Change], list[str]]:
    """Return changes after which labels can use intents of some names, and the intents' ids.

    An intent that is not there is created; an archived one is brought back.

    Raises:
        Conflict: A new name looks like that of another intent.
        InvalidInput: A new name is empty, too long, or not storable.
    """
    by_name = {plain_name(one.name): one for one in intents}
    changes, ids = list[Change](), list[str]()
    n_created = 0
    for name in dict.fromkeys(map(plain_name, names)):
        found = by_name.get(name)
        if found is None:
            edits.check_look(name, intents)
            changes.append(edits.create_intent(name, position=len(intents) + n_created))
            n_created += 1
        elif found.archived:
            changes.append(edits.edit(found, "archived", value=False))
        ids.append(changes[-1].subject_id if found is None else found.id)
    return changes, ids


def change_intent(
    studio: Studio,
    project: str,
    intent_id: str,
    values: dict[str, object],
    seen: Mapping[str, str] | None = None,
) -> None:
    """Rename, describe, colour, archive or restore an intent; no label changes.

    `seen` has the name and the description that the person saw.

    Raises:
        Conflict: The new name is taken, or looks like that of another intent; or what would change
            is not what the person saw.
        InvalidInput: A value is invalid.
        NotFound: There is no such intent.
    """
    with studio.database.write() as connection:
        project_id = projects.find(connection, project).id
        record = dataset.intent_by_id(connection, project_id, intent_id)
        _refuse_unseen(record, values, seen or {})
        intents = dataset.intents(connection, project_id)
        others = [intent for intent in intents if intent.id != intent_id]
        changes = list(_intent_changes(record, values, others))
        action = Action("change intent", studio.settings.actor, "page")
        if changes:
            events.record(connection, project_id, action, changes)


def _refuse_unseen(
    record: IntentRecord, values: Mapping[str, object], seen: Mapping[str, str]
) -> None:
    for field in seen.keys() & values.keys():
        if getattr(record, field) not in (seen[field], values[field]):
            raise Conflict(
                f"The {field} of '{record.name}' was changed meanwhile.",
                "Nothing was overwritten. Open the intent once more.",
            )


def _intent_changes(
    record: IntentRecord, values: dict[str, object], others: Sequence[IntentRecord]
) -> Iterable[Change]:
    for field, value in values.items():
        if field == "name":
            value = plain_name(str(value))
            edits.check_intent_name(value)
            if any(other.name == value for other in others):
                raise Conflict(f"There is an intent '{value}' already.", "Merge the two instead.")
            if value != record.name:
                edits.check_look(value, others)
        if field == "description":
            edits.check_description(str(value))
        if getattr(record, field) != value:
            yield edits.edit(record, field, value)


def merge_intents(studio: Studio, project: str, source: str, target: str) -> None:
    """Move all utterances of one intent to another, both given by name, and archive it."""
    with studio.database.write() as connection:
        project_id = projects.find(connection, project).id
        changes = edits.merge_intents(connection, project_id, source, target)
        action = Action("merge", studio.settings.actor, "page")
        events.record(connection, project_id, action, changes)
