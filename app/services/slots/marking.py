"""Mark values in utterances: one by one, as proposed, or under another name."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from app.services.slots.book import Book, Proposal, book_of
from app.services.studio import Studio
from core.errors import Conflict, InvalidInput, NotFound
from core.templates.slots import Slot, SlottedText
from core.text import is_storable, normalise
from storage import projects
from storage.database import Transaction
from storage.log import edits, events
from storage.log.events import Action
from storage.people.known_values import known_values, rename_values
from storage.queries import dataset, slots
from storage.queries.utterances import by_ids
from storage.records import Change, ProjectRecord, UtteranceRecord

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
class UnmarkedText:
    """An utterance without a marked value."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Accepted:
    """How many proposals were marked, or with `preview` would be.

    `examples` are the first texts, as many as were asked for. `state` identifies the marks from
    which the proposals come.
    """

    proposals: int
    utterances: int
    examples: tuple[ProposedText, ...]
    preview: bool
    state: str = ""


@dataclass(frozen=True, slots=True)
class AcceptRequest:
    """Which proposals to mark.

    Attributes:
        ids: Utterances; None: all without marks, not synthetic and outside the test split.
        noisy: Whether noisy proposals are included.
        shown: Number of texts in the answer.
        state: That of the preview a person saw; None accepts proposals from any marks.
        refused: Characters at which values begin that stay unmarked, by utterance.
    """

    ids: tuple[str, ...] | None = None
    noisy: bool = False
    shown: int = 12
    state: str | None = None
    refused: Mapping[str, Sequence[int]] = field(default_factory=dict)

    def takes(self, key: str, proposal: Proposal) -> bool:
        """Whether a value is marked in an utterance of these."""
        is_sure = self.noisy or not proposal.noisy
        return is_sure and proposal.start not in self.refused.get(key, ())


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


def find_unmarked(studio: Studio, project: str, text: str, most: int) -> list[UnmarkedText]:
    """Return utterances without marked values that contain every word of a text.

    Those of the test split and synthetic ones are left out.

    Raises:
        NotFound: There is no such project.
    """
    with studio.database.read() as connection:
        project_id = projects.find(connection, project).id
        found = islice(slots.unmarked(connection, project_id, text), most)
        return [UnmarkedText(record.id, record.text) for record in found]


def mark_slots(
    studio: Studio,
    project: str,
    key: str,
    wanted: Sequence[Slot],
    action: str | None = None,
    *,
    seen: SlottedText | None = None,
) -> Marked:
    """Replace all marked values of an utterance; once for each action key.

    `seen` is the text with its marked values as the person saw them.

    Raises:
        Conflict: It is not as the person saw it.
        InvalidInput: A slot does not fit the text; it is named.
        NotFound: There is no such project or utterance.
    """
    done = _action(studio, "mark slots", action)
    with studio.database.write() as connection:
        project_id = projects.find(connection, project).id
        if events.find_batch(connection, project_id, done.key) is None:
            record = dataset.utterance_by_id(connection, project_id, key)
            if seen is not None:
                _refuse_unseen(record, seen)
            named = [Slot(slot.start, slot.end, usable_name(slot.name)) for slot in wanted]
            change = edits.mark(record, named)
            changes = [] if change.before == change.after else [change]
            events.record(connection, project_id, done, changes)
    return load_marked(studio, project, key)


def _refuse_unseen(record: UtteranceRecord, seen: SlottedText) -> None:
    if (record.text, set(record.slots)) != (seen.text, set(seen.slots)):
        raise Conflict(
            "This text was edited, or marked otherwise, meanwhile.",
            "Nothing was overwritten. Look at it once more.",
        )


def preview_proposals(studio: Studio, project: str, request: AcceptRequest) -> Accepted:
    """Return what `accept_proposals` would mark; nothing is saved.

    Raises:
        NotFound: There is no such project.
    """
    with studio.database.read() as connection:
        target = projects.find(connection, project)
        book = book_of(studio, connection, target)
        planned = _planned(connection, target, book, request)
    return _accepted(planned, book, request, preview=True)


def accept_proposals(
    studio: Studio, project: str, request: AcceptRequest, key: str | None = None
) -> Accepted:
    """Mark proposed values, as one action; the same key marks them once.

    Raises:
        Conflict: Values were marked or unmarked since the preview that the request names.
        NotFound: There is no such project.
    """
    action = _action(studio, "accept slots", key)
    with studio.database.write() as connection:
        target = projects.find(connection, project)
        before = events.find_batch(connection, target.id, action.key)
        book = book_of(studio, connection, target)
        if before is not None:
            return _accepted_before(events.changes_of(connection, before.id), book)
        if request.state not in (None, _state(book)):
            raise Conflict(
                "The marked values have changed meanwhile, so other ones may be proposed.",
                "Look at the list again, then mark them.",
            )
        planned = _planned(connection, target, book, request)
        changes = [
            edits.mark(record, (*record.slots, *(proposal.slot for proposal in proposals)))
            for record, proposals in planned
        ]
        events.record(connection, target.id, action, changes)
    return _accepted(planned, book, request, preview=False)


_Planned = tuple[UtteranceRecord, tuple[Proposal, ...]]


def _state(book: Book) -> str:
    return "-".join(map(str, book.state))


def _planned(
    connection: Transaction, project: ProjectRecord, book: Book, request: AcceptRequest
) -> list[_Planned]:
    if request.ids is None:
        records: list[UtteranceRecord] = list(slots.unmarked(connection, project.id))
    else:
        ids = list(dict.fromkeys(request.ids))
        records = list(by_ids(connection, project.id, ids).values())
    planned = []
    for record in records:
        proposals = book.propose(SlottedText(record.text, record.slots))
        chosen = tuple(one for one in proposals if request.takes(record.id, one))
        if chosen:
            planned.append((record, chosen))
    return planned


def _accepted(
    planned: Sequence[_Planned], book: Book, request: AcceptRequest, *, preview: bool
) -> Accepted:
    examples = tuple(
        ProposedText(record.id, record.text, proposals)
        for record, proposals in planned[: request.shown]
    )
    n_proposals = sum(len(proposals) for _, proposals in planned)
    return Accepted(n_proposals, len(planned), examples, preview, _state(book))


def _accepted_before(changes: Sequence[Change], book: Book) -> Accepted:
    """Say what an act marked that is asked for again; its texts are not listed."""
    n_proposals = sum(len(change.after) - len(change.before) for change in changes)
    return Accepted(n_proposals, len(changes), (), preview=False, state=_state(book))


def rename_slot(studio: Studio, project: str, name: str, to: str, action: str | None = None) -> int:
    """Rename a slot wherever it is marked; return the number of utterances.

    If another slot has the new name, the two are merged. Values that an import listed move along.

    Raises:
        InvalidInput: The new name is invalid, or is the old one; or no text has the slot.
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
            if name in known_values(connection, project_id):
                raise InvalidInput(
                    f"No text has the slot '{name[:80]}': an import brought its values.",
                    "Change its name in the file, and import that.",
                )
            raise NotFound(f"There is no slot '{name[:80]}'.", "The slot book lists them.")
        changes = [_renamed(record, name, wanted) for record in records]
        rename_values(connection, project_id, rename.key, name, wanted)
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
