"""Group a project's unlabelled texts by meaning; no text and no label changes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from app.services.answering.opened import UNTUNED, find_space, open_space
from app.services.discover.describing import Centres, Described, describe
from app.services.discover.views import DiscoveredView, PlacedText
from app.services.embedding import embed_texts
from app.services.live.live_model import LiveModel
from app.services.live.pool import judged
from app.services.live.server_state import LiveStudio
from core.discover.grouping import (
    MOST_GROUPS,
    Grouping,
    founded,
    group_texts,
    join,
    mean_directions,
)
from core.discover.naming import group_terms, name_of
from core.encoders.base import Encoder
from core.errors import InvalidInput
from core.text import counted, normalise
from core.types import FloatArray
from core.vectors import unit_rows
from storage.queries import utterances
from storage.queries.utterances import Filter
from storage.records import ProjectRecord, UtteranceRecord

_FEWEST = 3
"""Fewer texts are one group."""

_OF_AN_INTENT = 50
"""Labelled texts that tell where an intent is; more move its centre little."""


@dataclass(frozen=True, slots=True)
class GroupChoice:
    """How to group: into `n_groups`, by default the root of the number of texts.

    `before` has the groups of texts that were grouped earlier: they stay there, others join.
    """

    n_groups: int | None = None
    before: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class _Grouped:
    """Unlabelled texts with their embeddings (n, d) and groups, and the groups' names."""

    texts: list[UtteranceRecord]
    rows: FloatArray
    grouping: Grouping
    names: tuple[str, ...]
    terms: tuple[tuple[str, ...], ...]


def discover(
    live_studio: LiveStudio,
    project: str,
    choice: GroupChoice = GroupChoice(),
    told: Callable[[int, int], None] | None = None,
) -> tuple[DiscoveredView, tuple[PlacedText, ...]]:
    """Group the unlabelled texts outside the test set by the champion's or the untuned encoder.

    `told` is called with the numbers of encoded texts and of texts to encode.

    Raises:
        NotFound: There is no such project.
        InvalidInput: So many groups cannot be made.
    """
    if choice.n_groups is not None and not 1 <= choice.n_groups <= MOST_GROUPS:
        raise InvalidInput(
            f"{choice.n_groups:,} groups cannot be made.", f"Choose 1 to {MOST_GROUPS}."
        )
    now, live = live_studio.models.open(project)
    texts = _read(live_studio, now.project, Filter(state="unlabelled"))
    if not texts:
        return DiscoveredView((), 0, "", _why_none(live_studio, now.project)), ()
    encoder, by = _encoder(live_studio, project, live)
    rows = embed_texts(live_studio.studio.database, encoder, [one.text for one in texts], told)
    made = _group(texts, unit_rows(rows), choice)
    centres = _centres(live_studio, now.project, now.names, encoder)
    outside = None if live is None else judged(live, tuple(made.texts), made.rows).outside
    said = [one.text for one in made.texts]
    groups = describe(Described(said, made.grouping, made.names, made.terms), centres, outside)
    note = _why_one(len(texts)) if len(groups) == 1 and choice.n_groups != 1 else ""
    return DiscoveredView(groups, len(texts), by, note), _placed(said, made)


def _read(live_studio: LiveStudio, project: ProjectRecord, which: Filter) -> list[UtteranceRecord]:
    with live_studio.studio.database.read() as connection:
        found = utterances.find_all(connection, project.id, which)
    return [one for one in found if one.split != "test"]


def _encoder(live_studio: LiveStudio, project: str, live: LiveModel | None) -> tuple[Encoder, str]:
    """Return the champion's or the untuned encoder, and its name."""
    if live is not None:
        return live.pipeline.encoder, f"{project}@{live.version.number}"
    with live_studio.studio.database.read() as connection:
        space = find_space(connection, project, UNTUNED)
    return open_space(live_studio.studio, space).encoder, space.name


def _group(texts: list[UtteranceRecord], unit: FloatArray, choice: GroupChoice) -> _Grouped:
    """Group texts; those that were grouped before stay, and come first in the result."""
    count = choice.n_groups or min(MOST_GROUPS, round(len(texts) ** 0.5))
    size = len(texts) / (count + 0.5)  # the half makes the number of groups certain
    old = [row for row, one in enumerate(texts) if normalise(one.text) in choice.before]
    if not old:
        grouping, known = group_texts(unit, size), []
    else:
        new = np.setdiff1d(np.arange(len(texts)), old)
        names = [choice.before[normalise(texts[row].text)] for row in old]
        known = list(dict.fromkeys(names))
        places = {name: place for place, name in enumerate(known)}
        before = founded(unit[old], np.array([places[name] for name in names]))
        grouping = join(before, unit[new], size) if len(new) else before
        order = [*old, *new.tolist()]
        texts, unit = [texts[row] for row in order], unit[order]
    terms = group_terms([one.text for one in texts], grouping.of, len(grouping.centres))
    return _Grouped(texts, unit, grouping, _names(terms, known), terms)


def _names(terms: Sequence[Sequence[str]], known: Sequence[str]) -> tuple[str, ...]:
    """Name the groups; the first ones are known, and no two get the same name."""
    names = list(known)
    for some in terms[len(known) :]:
        name = first = name_of(some) or "without words"
        number = 2
        while name in names:
            name, number = f"{first} {number}", number + 1
        names.append(name)
    return tuple(names)


def _centres(
    live_studio: LiveStudio, project: ProjectRecord, names: Mapping[str, str], encoder: Encoder
) -> Centres:
    """Find where the intents are that have labelled texts."""
    carriers: dict[str, list[str]] = {}
    for one in _read(live_studio, project, Filter(state="labelled")):
        for intent in one.labels or ():
            carriers.setdefault(intent, []).append(one.text)
    few = {names[intent]: said[:_OF_AN_INTENT] for intent, said in carriers.items()}
    said = [text for some in few.values() for text in some]
    rows = unit_rows(embed_texts(live_studio.studio.database, encoder, said))
    of = np.repeat(np.arange(len(few)), [len(some) for some in few.values()])
    return Centres(tuple(few), mean_directions(rows, of, len(few)))


def _placed(said: Sequence[str], made: _Grouped) -> tuple[PlacedText, ...]:
    places = zip(made.grouping.of.tolist(), made.grouping.closeness.tolist(), strict=True)
    return tuple(
        PlacedText(text, made.names[group], closeness)
        for text, (group, closeness) in zip(said, places, strict=True)
    )


def _why_none(live_studio: LiveStudio, project: ProjectRecord) -> str:
    with live_studio.studio.database.read() as connection:
        counts = utterances.counts(connection, project.id)
    if not counts.total:
        return f"'{project.name}' has no texts yet. Import some."
    return (
        f"There is nothing to group: of {counted(counts.total, 'text')} in '{project.name}', none "
        "is without a label, not skipped, and outside the test set."
    )


def _why_one(n_texts: int) -> str:
    if n_texts < _FEWEST:
        return f"{counted(n_texts, 'text')} without a label: too few to divide."
    return f"All {n_texts:,} texts without a label are the same to the encoder: one group."
