"""The slot book of a project: the values of its slots, and proposals for a text."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from app.services.studio import Studio
from core.templates.fitting import Fitting, learn_fitting
from core.templates.matching import KnownValues, SlotMatcher, count_values
from core.templates.patterns import find_patterns
from core.templates.slot_book import SlotBook, slot_book, with_known
from core.templates.slots import Slot, SlottedText
from storage import projects
from storage.database import Transaction
from storage.people.known_values import count_kept, known_values
from storage.queries import slots
from storage.records import ProjectRecord

NOISY = 0.5
"""A value marked in a smaller share of its occurrences is proposed as noisy."""

_BYTES_OF_UTTERANCE = 2_000
_MANY = 2_000
_RECENT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class ValueView:
    """A value of a slot, spelled as in its first occurrence.

    `share` is the share of its occurrences that are marked, within utterances with marks; `noisy`
    is below one half. Values and synonyms of an imported list may be marked nowhere.
    """

    value: str
    count: int
    share: float
    noisy: bool
    synonyms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SlotView:
    """A slot with its number of marks, and some of the values that match a search.

    `n_found` values match; `values` are the most frequent of them.
    """

    name: str
    count: int
    n_values: int
    n_found: int
    values: tuple[ValueView, ...]


@dataclass(frozen=True, slots=True)
class BookView:
    """A project's slots by name, from training utterances that are not synthetic.

    `n_marked` of `n_utterances` have marked values: of all that people wrote outside the test
    split, because values are proposed for these.
    """

    slots: tuple[SlotView, ...]
    n_marked: int
    n_utterances: int


@dataclass(frozen=True, slots=True)
class Proposal:
    """A value that could be marked; a person should check a noisy one first.

    `share` is the share of its occurrences that are marked; None if found by a pattern.
    """

    start: int
    end: int
    name: str
    share: float | None
    noisy: bool

    @property
    def slot(self) -> Slot:
        """The slot to mark."""
        return Slot(self.start, self.end, self.name)


@dataclass(frozen=True, slots=True, eq=False)
class Book:
    """A project's marked values with counts and shares, and the matchers that find them."""

    values: SlotBook
    known: KnownValues = field(repr=False)
    sure: SlotMatcher = field(repr=False)
    all: SlotMatcher = field(repr=False)
    fitting: Fitting = field(repr=False)
    n_marked: int
    state: tuple[int, int]
    made_at: float = field(default_factory=time.monotonic)

    def propose(self, utterance: SlottedText) -> list[Proposal]:
        """Find values in the unmarked parts of an utterance; surer ones win over noisy ones.

        A value that is only a part of a longer one, known or of a pattern, is not proposed.
        """
        proposals = list[Proposal]()
        candidates = list(self._candidates(utterance))
        for candidate in candidates:
            if any(_is_part(candidate, other) for other in candidates):
                continue
            taken = (*utterance.slots, *(proposal.slot for proposal in proposals))
            if all(candidate.end <= slot.start or slot.end <= candidate.start for slot in taken):
                proposals.append(candidate)
        return sorted(proposals, key=lambda proposal: proposal.start)

    def _candidates(self, utterance: SlottedText) -> Iterator[Proposal]:
        patterns = find_patterns(utterance.text)
        for sure, matcher in ((True, self.sure), (False, self.all)):
            known = matcher.propose(utterance.text)
            for slot in known.slots:
                share = self.known.share(slot.name, known.value(slot))
                yield Proposal(slot.start, slot.end, slot.name, share, share < NOISY)
            for slot in (value.slot for value in patterns if value.sure == sure):
                yield Proposal(slot.start, slot.end, slot.name, None, not sure)


def _is_part(one: Proposal, other: Proposal) -> bool:
    longer = other.end - other.start > one.end - one.start
    return longer and other.start <= one.start and one.end <= other.end


def book_of(
    studio: Studio, connection: Transaction, project: ProjectRecord, *, recent: bool = False
) -> Book:
    """Return a project's slot book, rebuilt only when its marked values have changed.

    With `recent`, a book of up to a minute ago is returned where at least 2,000 utterances are
    marked, so that marking one utterance after another does not rebuild it each time.
    """
    n, revision = slots.book_state(connection, project.id)
    state = n + count_kept(connection, project.id), revision
    key = "slot book", project.id

    def make() -> Book:
        records = slots.giving(connection, project.id)
        marked = [SlottedText(record.text, record.slots) for record in records]
        return learn_book(marked, state, known_values(connection, project.id))

    book = studio.cache.get(key, make, _size)
    young = time.monotonic() - book.made_at < _RECENT_SECONDS
    if recent and book.n_marked >= _MANY and young:
        return book
    if book.state != state:  # the cache holds one book for each project
        studio.cache.forget(key)
        book = studio.cache.get(key, make, _size)
    return book if book.state == state else make()


def _size(book: Book) -> int:
    return _BYTES_OF_UTTERANCE * (1 + book.n_marked)


def learn_book(
    marked: Sequence[SlottedText],
    state: tuple[int, int] = (0, 0),
    known: Mapping[str, Mapping[str, tuple[str, ...]]] | None = None,
) -> Book:
    """Build a slot book from marked utterances and lists; `state` identifies their revision."""
    listed = known or {}
    alone = [
        SlottedText(said, (Slot(0, len(said), name),))
        for name, found in listed.items()
        for value, synonyms in found.items()
        for said in (value, *synonyms)
        if said.strip()
    ]
    values = count_values([*marked, *alone])
    matchers = values.matcher(NOISY), values.matcher(0.0)
    book = with_known(slot_book(marked), listed)
    return Book(book, values, *matchers, learn_fitting(marked), len(marked), state)


def view_book(studio: Studio, project: str, text: str = "", most: int = 50) -> BookView:
    """Return a project's slots, each with its most frequent values that contain `text`.

    Raises:
        NotFound: There is no such project.
    """
    with studio.database.read() as connection:
        record = projects.find(connection, project)
        book = book_of(studio, connection, record)
        n_utterances, n_marked = slots.count_open(connection, record.id)
    wanted = text.casefold()
    views = tuple(_slot_view(book, name, wanted, most) for name in book.values.values)
    return BookView(views, n_marked, n_utterances)


def _slot_view(book: Book, name: str, wanted: str, most: int) -> SlotView:
    values = book.values.values[name]
    others = book.values.synonyms
    matching = [
        (value, count)
        for value, count in values
        if any(wanted in said.casefold() for said in (value, *others.get((name, value), ())))
    ]
    shown = []
    for value, count in matching[:most]:
        share = book.known.share(name, value)
        synonyms = book.values.synonyms.get((name, value), ())
        shown.append(ValueView(value, count, share, share < NOISY, synonyms))
    total = sum(count for _, count in values)
    return SlotView(name, total, len(values), len(matching), tuple(shown))
