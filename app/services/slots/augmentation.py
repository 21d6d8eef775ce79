"""More utterances from templates: shown first, then added as one action, marked as synthetic."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from app.services.slots.book import book_of
from app.services.studio import Studio
from core.errors import InvalidInput
from core.formats.rows import LONGEST_TEXT
from core.templates.augmenting import Augmentation, augment
from core.templates.moved_slots import normalised
from core.templates.slots import SlottedText, template_of
from core.text import match_key
from storage import projects
from storage.database import Transaction
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset, slots
from storage.records import ProjectRecord, UtteranceRecord

SOURCE = "augmentation"
"""Where a synthetic utterance says that it came from."""

_MOST_TEMPLATES = 50
_MOST_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Wish:
    """What to make.

    Attributes:
        top: Values of each slot, the most frequent ones.
        per_template: Most synthetic utterances of one utterance, those of earlier times included.
        most: Most new ones in all.
        intents: Only of utterances with one of these intents, by id; None takes all.
    """

    top: int = 5
    per_template: int = 3
    most: int = 1_000
    intents: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class FilledTemplate:
    """A template with what it would bring.

    Attributes:
        template: With the names of its slots in braces.
        intents: Names of the intents that the new utterances get.
        source_text: An utterance that has it.
        n: New utterances of it.
        examples: The first of them.
    """

    template: str
    intents: tuple[str, ...]
    source_text: str
    n: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Augmented:
    """What augmentation would add, or has added.

    Attributes:
        n: New utterances.
        n_templates: Templates that they fill.
        n_sources: Utterances whose templates these are.
        templates: The templates that bring most, up to 50.
        preview: Whether nothing was written.
    """

    n: int
    n_templates: int
    n_sources: int
    templates: tuple[FilledTemplate, ...]
    preview: bool


@dataclass(frozen=True, slots=True)
class _Made:
    record: UtteranceRecord
    source: UtteranceRecord


def preview(studio: Studio, project: str, wish: Wish) -> Augmented:
    """Tell what augmentation would add.

    Raises:
        InvalidInput: A number is below 1.
        NotFound: There is no such project.
    """
    with studio.database.read() as connection:
        found = projects.find(connection, project)
        return _told(connection, found, _make(studio, connection, found, wish), preview=True)


def add(studio: Studio, project: str, wish: Wish, key: str | None = None) -> Augmented:
    """Add synthetic utterances to the training split, with the labels of their sources.

    One action, which undo takes back. Under one key it happens once, and asked again with the
    same wish it brings no text twice and no utterance more than its share.

    Raises:
        InvalidInput: A number is below 1.
        NotFound: There is no such project.
    """
    with studio.database.write() as connection:
        found = projects.find(connection, project)
        action = Action("augment", studio.settings.actor, "page", key or uuid.uuid4().hex)
        before = events.find_batch(connection, found.id, action.key)
        if before is not None:
            rows = [change.after for change in events.changes_of(connection, before.id)]
            n_sources = len({row["synthetic"] for row in rows})
            return Augmented(len(rows), 0, n_sources, (), preview=False)
        made = _make(studio, connection, found, wish)
        changes = [edits.create(one.record) for one in made]
        events.record(connection, found.id, action, changes)
        return _told(connection, found, made, preview=False)


def _make(
    studio: Studio, connection: Transaction, project: ProjectRecord, wish: Wish
) -> list[_Made]:
    if min(wish.top, wish.per_template, wish.most) < 1:
        raise InvalidInput("Nothing can be made of less than one.", "Use numbers from 1 on.")
    sources = [one for one in slots.giving(connection, project.id) if _serves(one, wish)]
    before = slots.made_of(connection, project.id)
    found = augment(
        [SlottedText(one.text, one.slots) for one in sources],
        book_of(studio, connection, project).values,
        Augmentation(wish.top, wish.per_template, wish.most),
        map(match_key, slots.texts(connection, project.id)),  # none is made again, no test either
        {row: before[one.id] for row, one in enumerate(sources) if one.id in before},
    )
    made = (_record(normalised(one.utterance), sources[one.source]) for one in found)
    return [one for one in made if len(one.record.text) <= LONGEST_TEXT]


def _serves(source: UtteranceRecord, wish: Wish) -> bool:
    if source.labels is None:
        return False
    return wish.intents is None or not set(wish.intents).isdisjoint(source.labels)


def _record(said: SlottedText, source: UtteranceRecord) -> _Made:
    record = UtteranceRecord(
        id=uuid.uuid4().hex,
        text=said.text,
        split="train",
        source=SOURCE,
        labels=source.labels,
        skipped=False,
        flagged="",
        slots=said.slots,
        synthetic=source.id,
    )
    return _Made(record, source)


def _told(
    connection: Transaction, project: ProjectRecord, made: Sequence[_Made], *, preview: bool
) -> Augmented:
    names = {intent.id: intent.name for intent in dataset.intents(connection, project.id)}
    groups: dict[tuple[str, tuple[str, ...]], list[_Made]] = {}
    for one in made:
        template = template_of(SlottedText(one.source.text, one.source.slots), "distinct")
        groups.setdefault((template, one.source.labels or ()), []).append(one)
    largest = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    shown = tuple(
        FilledTemplate(
            template=template,
            intents=tuple(sorted(names[key] for key in labels)),
            source_text=these[0].source.text,
            n=len(these),
            examples=tuple(one.record.text for one in these[:_MOST_EXAMPLES]),
        )
        for (template, labels), these in largest[:_MOST_TEMPLATES]
    )
    n_sources = len({one.source.id for one in made})
    n_templates = len({template for template, _ in groups})
    return Augmented(len(made), n_templates, n_sources, shown, preview)
