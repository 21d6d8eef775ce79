"""Mark values in utterances: one by one, as they are proposed, or under another name."""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.services.slots.book import Book, Proposal, book_of
from app.services.studio import Studio
from core.errors import InvalidInput, NotFound
from core.templates.slots import Slot, SlottedText
from core.text import is_storable, normalise
from storage import projects
from storage.database import Transaction
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset, slots
from storage.queries import utterances as browse
from storage.records import Change, UtteranceRecord

_EXAMPLES = 12
_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class Marked:
    """An utterance with what is marked in it, and what may be."""

    text: str
    slots: tuple[Slot, ...]
    proposals: tuple[Proposal, ...]


@dataclass(frozen=True, slots=True)
class ProposedText:
    """An utterance with what would be marked in it."""

    id: str
    text: str
    slots: tuple[Proposal, ...]


@dataclass(frozen=True, slots=True)
class Accepted:
    """How many proposals were marked, or with `preview` would be.

    Attributes:
        proposals: How many values.
        utterances: In how many utterances.
        examples: The first of these.
        preview: Whether nothing was written.
    """

    proposals: int
    utterances: int
    examples: tuple[ProposedText, ...]
    preview: bool


def marked(studio: Studio, project: str, key: str) -> Marked:
    """Return an utterance's slots, and proposals for the rest of it.

    Raises:
        NotFound: There is no such project or utterance.
    """
    with studio.database.read() as connection:
        found = projects.find(connection, project)
        record = dataset.utterance_by_id(connection, found.id, key)
        book = book_of(studio, connection, found, recent=True)
    said = SlottedText(record.text, record.slots)
    return Marked(record.text, record.slots, tuple(book.propose(said)))


def mark(
    studio: Studio, project: str, key: str, wanted: Sequence[Slot], action: str | None = None
) -> Marked:
    """Mark the values of an utterance, all of them; under one action's key this happens once.

    Raises:
        InvalidInput: A slot does not fit the text; it is named.
        NotFound: There is no such project or utterance.
    """
    with studio.database.write() as connection:
        found = projects.find(connection, project)
        record = dataset.utterance_by_id(connection, found.id, key)
        named = [Slot(slot.start, slot.end, usable_name(slot.name)) for slot in wanted]
        change = edits.mark(record, named)
        changes = [] if change.before == change.after else [change]
        events.record(connection, found.id, _action(studio, "mark slots", action), changes)
    return marked(studio, project, key)


def accept(
    studio: Studio,
    project: str,
    ids: Sequence[str] | None = None,
    *,
    noisy: bool = False,
    preview: bool = False,
    action: str | None = None,
) -> Accepted:
    """Mark what is proposed, as one action.

    Args:
        studio: The studio.
        project: Its name.
        ids: In these utterances; None takes all without marks that somebody said, but for the test
            split.
        noisy: Whether proposals that should be looked at are marked, too.
        preview: Only tell what would be.
        action: Key under which it happens once.

    Raises:
        NotFound: There is no such project.
    """
    if preview:
        with studio.database.read() as connection:
            return _accepted(_planned(studio, connection, project, ids, noisy=noisy), preview=True)
    with studio.database.write() as connection:
        found = projects.find(connection, project)
        planned = list(_planned(studio, connection, project, ids, noisy=noisy))
        changes = [
            edits.mark(record, (*record.slots, *(one.slot for one in proposals)))
            for record, proposals in planned
        ]
        events.record(connection, found.id, _action(studio, "accept slots", action), changes)
    return _accepted(planned, preview=False)


_Planned = tuple[UtteranceRecord, tuple[Proposal, ...]]


def _planned(
    studio: Studio,
    connection: Transaction,
    project: str,
    ids: Sequence[str] | None,
    *,
    noisy: bool,
) -> Iterator[_Planned]:
    found = projects.find(connection, project)
    book = book_of(studio, connection, found)
    if ids is None:
        records: list[UtteranceRecord] = list(slots.unmarked(connection, found.id))
    else:
        records = list(browse.by_ids(connection, found.id, list(dict.fromkeys(ids))).values())
    for record in records:
        proposals = _wanted(book, record, noisy=noisy)
        if proposals:
            yield record, proposals


def _wanted(book: Book, record: UtteranceRecord, *, noisy: bool) -> tuple[Proposal, ...]:
    found = book.propose(SlottedText(record.text, record.slots))
    return tuple(one for one in found if noisy or not one.noisy)


def _accepted(planned: Iterator[_Planned] | Sequence[_Planned], *, preview: bool) -> Accepted:
    found = list(planned)
    examples = [ProposedText(record.id, record.text, these) for record, these in found[:_EXAMPLES]]
    n = sum(len(these) for _, these in found)
    return Accepted(n, len(found), tuple(examples), preview)


def rename(studio: Studio, project: str, name: str, to: str, action: str | None = None) -> int:
    """Call a slot otherwise wherever it is marked; return in how many utterances.

    Under a name that another slot has, the two are one from then on.

    Raises:
        InvalidInput: The new name cannot be one, or is the old one.
        NotFound: There is no such project, or no slot of that name.
    """
    wanted = usable_name(to)
    with studio.database.write() as connection:
        found = projects.find(connection, project)
        told = _action(studio, "rename slot", action)
        before = events.find_batch(connection, found.id, told.key)
        if before is not None:
            return len(events.changes_of(connection, before.id))
        if wanted == name:
            raise InvalidInput(f"The slot is called '{name}' already.", "Choose another name.")
        records = slots.carrying(connection, found.id, name)
        if not records:
            raise NotFound(f"There is no slot '{name[:80]}'.", "The slot book lists them.")
        changes = [_renamed(record, name, wanted) for record in records]
        events.record(connection, found.id, told, changes)
    return len(changes)


def _renamed(record: UtteranceRecord, name: str, to: str) -> Change:
    now = [
        Slot(slot.start, slot.end, to if slot.name == name else slot.name) for slot in record.slots
    ]
    return edits.mark(record, now)


def usable_name(name: str) -> str:
    """Return a slot's name as it is stored.

    Raises:
        InvalidInput: It is empty, too long, or has signs that templates need.
    """
    found = normalise(name)
    wrong = not found or len(found) > _LONGEST_NAME or not is_storable(found)
    if wrong or any(sign in "{}" or sign < " " for sign in found):
        raise InvalidInput(
            f"'{found[:40]}' cannot name a slot.",
            f"Use 1 to {_LONGEST_NAME} characters, without {{ and }}.",
        )
    return found


def _action(studio: Studio, verb: str, key: str | None) -> Action:
    return Action(verb, studio.settings.actor, "page", key or uuid.uuid4().hex)
