"""Mark values in utterances: one by one, as proposed, or under another name."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from app.services.slots.book import Proposal, book_of
from app.services.studio import Studio
from core.errors import InvalidInput, NotFound
from core.templates.slots import Slot, SlottedText
from core.text import is_storable, normalise
from storage import projects
from storage.database import Transaction
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset, slots
from storage.queries.utterances import by_ids
from storage.records import Change, ProjectRecord, UtteranceRecord

_EXAMPLES = 12
_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class Marked:
    """An utterance with its marked values and proposals for others."""

    text: str
    slots: tuple[Slot, ...]
    proposals: tuple[Proposal, ...]


@dataclass(frozen=True, slots=True)
class ProposedText:
    """An utterance with proposals."""

    id: str
    text: str
    slots: tuple[Proposal, ...]


@dataclass(frozen=True, slots=True)
class Accepted:
    """How many proposals were marked, or with `preview` would be."""

    proposals: int
    utterances: int
    examples: tuple[ProposedText, ...]
    preview: bool


def load_marked(studio: Studio, project: str, key: str) -> Marked:
    """Return an utterance's slots, and proposals for the rest of its text.

    Raises:
        NotFound: There is no such project or utterance.
    """
    with studio.database.read() as connection:
        target = projects.find(connection, project)
        record = dataset.utterance_by_id(connection, target.id, key)
        book = book_of(studio, connection, target, recent=True)
    proposals = book.propose(SlottedText(record.text, record.slots))
    return Marked(record.text, record.slots, tuple(proposals))


def mark_slots(
    studio: Studio, project: str, key: str, wanted: Sequence[Slot], action: str | None = None
) -> Marked:
    """Replace all marked values of an utterance; once for each action key.

    Raises:
        InvalidInput: A slot does not fit the text; it is named.
        NotFound: There is no such project or utterance.
    """
    with studio.database.write() as connection:
        project_id = projects.find(connection, project).id
        record = dataset.utterance_by_id(connection, project_id, key)
        named = [Slot(slot.start, slot.end, usable_name(slot.name)) for slot in wanted]
        change = edits.mark(record, named)
        changes = [] if change.before == change.after else [change]
        events.record(connection, project_id, _action(studio, "mark slots", action), changes)
    return load_marked(studio, project, key)


def accept_proposals(
    studio: Studio,
    project: str,
    ids: Sequence[str] | None = None,
    *,
    noisy: bool = False,
    preview: bool = False,
    action: str | None = None,
) -> Accepted:
    """Mark proposed values, as one action; the same action key marks them once.

    `ids` None means all utterances without marks, not synthetic and outside the test split. `noisy`
    includes noisy proposals. `preview` saves nothing.

    Raises:
        NotFound: There is no such project.
    """
    if preview:
        with studio.database.read() as connection:
            target = projects.find(connection, project)
            planned = _planned(studio, connection, target, ids, noisy=noisy)
        return _accepted(planned, preview=True)
    with studio.database.write() as connection:
        target = projects.find(connection, project)
        planned = _planned(studio, connection, target, ids, noisy=noisy)
        changes = [
            edits.mark(record, (*record.slots, *(proposal.slot for proposal in proposals)))
            for record, proposals in planned
        ]
        events.record(connection, target.id, _action(studio, "accept slots", action), changes)
    return _accepted(planned, preview=False)


_Planned = tuple[UtteranceRecord, tuple[Proposal, ...]]


def _planned(
    studio: Studio,
    connection: Transaction,
    project: ProjectRecord,
    ids: Sequence[str] | None,
    *,
    noisy: bool,
) -> list[_Planned]:
    book = book_of(studio, connection, project)
    if ids is None:
        records: list[UtteranceRecord] = list(slots.unmarked(connection, project.id))
    else:
        records = list(by_ids(connection, project.id, list(dict.fromkeys(ids))).values())
    planned = []
    for record in records:
        proposals = book.propose(SlottedText(record.text, record.slots))
        chosen = tuple(proposal for proposal in proposals if noisy or not proposal.noisy)
        if chosen:
            planned.append((record, chosen))
    return planned


def _accepted(planned: Sequence[_Planned], *, preview: bool) -> Accepted:
    examples = tuple(
        ProposedText(record.id, record.text, proposals) for record, proposals in planned[:_EXAMPLES]
    )
    n_proposals = sum(len(proposals) for _, proposals in planned)
    return Accepted(n_proposals, len(planned), examples, preview)


def rename_slot(studio: Studio, project: str, name: str, to: str, action: str | None = None) -> int:
    """Rename a slot wherever it is marked; return the number of utterances.

    If another slot has the new name, the two are merged.

    Raises:
        InvalidInput: The new name is invalid, or is the old one.
        NotFound: There is no such project or slot.
    """
    wanted = usable_name(to)
    with studio.database.write() as connection:
        project_id = projects.find(connection, project).id
        rename = _action(studio, "rename slot", action)
        before = events.find_batch(connection, project_id, rename.key)
        if before is not None:
            return len(events.changes_of(connection, before.id))
        if wanted == name:
            raise InvalidInput(f"The slot is called '{name}' already.", "Choose another name.")
        records = slots.carrying(connection, project_id, name)
        if not records:
            raise NotFound(f"There is no slot '{name[:80]}'.", "The slot book lists them.")
        changes = [_renamed(record, name, wanted) for record in records]
        events.record(connection, project_id, rename, changes)
    return len(changes)


def _renamed(record: UtteranceRecord, name: str, to: str) -> Change:
    now = [
        Slot(slot.start, slot.end, to if slot.name == name else slot.name) for slot in record.slots
    ]
    return edits.mark(record, now)


def usable_name(name: str) -> str:
    """Return a slot's name as it is stored.

    Raises:
        InvalidInput: It is empty, too long, or contains braces or control characters.
    """
    name = normalise(name)
    wrong = not name or len(name) > _LONGEST_NAME or not is_storable(name)
    if wrong or any(sign in "{}" or sign < " " for sign in name):
        raise InvalidInput(
            f"'{name[:40]}' cannot name a slot.",
            f"Use 1 to {_LONGEST_NAME} characters, without {{ and }}.",
        )
    return name


def _action(studio: Studio, verb: str, key: str | None) -> Action:
    return Action(verb, studio.settings.actor, "page", key or uuid.uuid4().hex)
