"""Synthetic utterances from templates: previewed, then added as one action."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from app.services.slots.book import book_of
from app.services.studio import Studio
from core.errors import Conflict, InvalidInput
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
"""The `source` of a synthetic utterance."""

_VERB = "augment"
_HIGHEST = 1_000_000
"""Of each limit of augmentation."""
_MOST_TEMPLATES = 1_000
_MOST_EXAMPLES = 20


@dataclass(frozen=True, slots=True)
class AugmentationRequest:
    """Limits of augmentation.

    Attributes:
        top: Number of most frequent values used for each slot.
        per_template: Most synthetic utterances of one utterance, earlier ones included.
        intents: Only utterances with one of these intent ids; None uses all.
        without: Templates that are left out, as `FilledTemplate` writes them.
    """

    top: int = 5
    per_template: int = 3
    most: int = 1_000
    intents: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FilledTemplate:
    """A template, with slot names in braces, and the new utterances that fill it.

    `intents` are those of the new utterances; `source_text` is an utterance with the template.
    """

    template: str
    intents: tuple[str, ...]
    source_text: str
    n: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Augmented:
    """What augmentation would add, or has added; of the largest templates, up to 1,000."""

    n: int
    n_templates: int
    n_sources: int
    templates: tuple[FilledTemplate, ...]
    preview: bool


@dataclass(frozen=True, slots=True)
class _SyntheticUtterance:
    record: UtteranceRecord
    source: UtteranceRecord


def preview_augmentation(studio: Studio, project: str, request: AugmentationRequest) -> Augmented:
    """Return what augmentation would add; nothing is saved.

    Raises:
        InvalidInput: A number is below 1, or above a million.
        NotFound: There is no such project.
    """
    with studio.database.read() as connection:
        record = projects.find(connection, project)
        made = _make(studio, connection, record, request)
        return _summary(connection, record, made, preview=True)


def add_synthetic(
    studio: Studio, project: str, request: AugmentationRequest, key: str | None = None
) -> Augmented:
    """Add synthetic utterances to the training split, with the labels of their sources.

    They are one action for undo, applied once for each key. Repeating a request with a new key adds
    no text twice, and no more than `per_template` for an utterance.

    Raises:
        Conflict: Another act has the key.
        InvalidInput: A number is below 1, or above a million.
        NotFound: There is no such project.
    """
    with studio.database.write() as connection:
        record = projects.find(connection, project)
        action = Action(_VERB, studio.settings.actor, "page", key or uuid.uuid4().hex)
        before = events.find_batch(connection, record.id, action.key)
        if before is not None:
            if before.verb != _VERB:
                raise Conflict(
                    f"The key '{action.key[:40]}' belongs to another act.",
                    "Send a new key with each new request, and the same only to repeat one.",
                )
            rows = [change.after for change in events.changes_of(connection, before.id)]
            n_sources = len({row["synthetic"] for row in rows})
            return Augmented(len(rows), 0, n_sources, (), preview=False)
        made = _make(studio, connection, record, request)
        changes = [edits.create(synthetic.record) for synthetic in made]
        events.record(connection, record.id, action, changes)
        return _summary(connection, record, made, preview=False)


def _make(
    studio: Studio, connection: Transaction, project: ProjectRecord, request: AugmentationRequest
) -> list[_SyntheticUtterance]:
    limits = request.top, request.per_template, request.most
    if min(limits) < 1:
        raise InvalidInput("Nothing can be made of less than one.", "Use numbers from 1 on.")
    if max(limits) > _HIGHEST:
        raise InvalidInput(
            f"{max(limits):,} is more than is made at once.", f"Use up to {_HIGHEST:,}."
        )
    sources = [row for row in slots.giving(connection, project.id) if _serves(row, request)]
    before = slots.made_of(connection, project.id)
    book = book_of(studio, connection, project)
    how = Augmentation(request.top, request.per_template, request.most, fitting=book.fitting)
    fillings = augment(
        [SlottedText(source.text, source.slots) for source in sources],
        book.values,
        how,
        map(match_key, slots.texts(connection, project.id)),  # every text, test split included
        {row: before[source.id] for row, source in enumerate(sources) if source.id in before},
    )
    made = (_record(normalised(new.utterance), sources[new.source]) for new in fillings)
    return [synthetic for synthetic in made if len(synthetic.record.text) <= LONGEST_TEXT]


def _serves(source: UtteranceRecord, request: AugmentationRequest) -> bool:
    if source.labels is None or _template(source) in request.without:
        return False
    return request.intents is None or not set(request.intents).isdisjoint(source.labels)


def _template(source: UtteranceRecord) -> str:
    return template_of(SlottedText(source.text, source.slots), "distinct")


def _record(filled: SlottedText, source: UtteranceRecord) -> _SyntheticUtterance:
    record = UtteranceRecord(
        id=uuid.uuid4().hex,
        text=filled.text,
        split="train",
        source=SOURCE,
        labels=source.labels,
        skipped=False,
        flagged="",
        slots=filled.slots,
        synthetic=source.id,
    )
    return _SyntheticUtterance(record, source)


def _summary(
    connection: Transaction,
    project: ProjectRecord,
    made: Sequence[_SyntheticUtterance],
    *,
    preview: bool,
) -> Augmented:
    names = dataset.intent_names(connection, project.id)
    groups: dict[tuple[str, tuple[str, ...]], list[_SyntheticUtterance]] = {}
    for synthetic in made:
        source = synthetic.source
        groups.setdefault((_template(source), source.labels or ()), []).append(synthetic)
    largest = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    shown = tuple(
        FilledTemplate(
            template=template,
            intents=tuple(sorted(names[key] for key in labels)),
            source_text=group[0].source.text,
            n=len(group),
            examples=tuple(synthetic.record.text for synthetic in group[:_MOST_EXAMPLES]),
        )
        for (template, labels), group in largest[:_MOST_TEMPLATES]
    )
    n_sources = len({synthetic.source.id for synthetic in made})
    n_templates = len({template for template, _ in groups})
    return Augmented(len(made), n_templates, n_sources, shown, preview)
