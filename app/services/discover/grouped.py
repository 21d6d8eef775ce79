"""Unlabelled texts with their groups, and where the intents are among them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from app.services.discover.describing import Centres
from app.services.embedding import embed_texts
from core.discover.grouping import (
    MOST_GROUPS,
    Grouping,
    founded,
    group_texts,
    size_of,
    usual_groups,
)
from core.discover.joining import join
from core.discover.naming import group_terms, name_after, name_of
from core.encoders.base import Encoder
from core.errors import InvalidInput
from core.text import free_name, normalise
from core.types import FloatArray
from core.vectors import mean_directions, unit_rows
from storage.database import Database
from storage.queries import utterances
from storage.queries.utterances import Filter
from storage.records import ProjectRecord, UtteranceRecord

_OF_AN_INTENT = 50
"""Labelled texts that tell where an intent is; more move its centre little."""


@dataclass(frozen=True, slots=True)
class GroupChoice:
    """How to group: into `n_groups`, by default as many as `usual_groups` says.

    `before` has the groups of texts that were grouped earlier: they stay there, others join.
    `beside` holds texts of each intent: their words set no group apart. `out_of_scope`: texts that
    are so are grouped, too.
    """

    n_groups: int | None = None
    before: Mapping[str, str] = field(default_factory=dict)
    beside: Sequence[Sequence[str]] = ()
    out_of_scope: bool = False

    def check(self) -> None:
        """Raise `InvalidInput` for a number of groups that cannot be made."""
        if self.n_groups is not None and not 1 <= self.n_groups <= MOST_GROUPS:
            raise InvalidInput(
                f"{self.n_groups:,} groups cannot be made.", f"Choose 1 to {MOST_GROUPS}."
            )


@dataclass(frozen=True, slots=True, eq=False)
class Grouped:
    """Unlabelled texts with their embeddings (n, d) and groups, and the groups' names.

    `space` is the fingerprint of the encoder; "" where the groups are not stored.
    """

    texts: list[UtteranceRecord]
    rows: FloatArray
    grouping: Grouping
    names: tuple[str, ...]
    terms: tuple[tuple[str, ...], ...]
    space: str = ""


def read_texts(database: Database, project: ProjectRecord, which: Filter) -> list[UtteranceRecord]:
    """Return the texts outside the test set that match a filter, oldest first."""
    with database.read() as connection:
        found = utterances.find_all(connection, project.id, which)
    return [one for one in found if one.split != "test"]


def group_together(texts: list[UtteranceRecord], unit: FloatArray, choice: GroupChoice) -> Grouped:
    """Group texts; those that were grouped before stay, and come first in the result."""
    count = choice.n_groups or usual_groups(len(texts), has_labels=bool(choice.beside))
    size = size_of(len(texts), count)
    old = [row for row, one in enumerate(texts) if normalise(one.text) in choice.before]
    if not old:
        grouping, known = group_texts(unit, size), []
    else:
        new = np.setdiff1d(np.arange(len(texts)), old)
        names = [choice.before[normalise(texts[row].text)] for row in old]
        known = list(dict.fromkeys(names))
        places = {name: place for place, name in enumerate(known)}
        before = founded(unit[old], np.array([places[name] for name in names]))
        grouping = join(before, unit[old], unit[new], size) if len(new) else before
        order = [*old, *new.tolist()]
        texts, unit = [texts[row] for row in order], unit[order]
    said = [one.text for one in texts]
    terms = group_terms(said, grouping.of, len(grouping.centres), choice.beside)
    return Grouped(texts, unit, grouping, _names(said, grouping, terms, known), terms)


def _names(
    said: Sequence[str],
    grouping: Grouping,
    terms: Sequence[Sequence[str]],
    known: Sequence[str],
) -> tuple[str, ...]:
    """Name the groups; the first ones are known, and no two get the same name."""
    names = list(known)
    for some, rows in list(zip(terms, grouping.members(), strict=True))[len(known) :]:
        mine = [said[row] for row in rows]
        name = name_of(some, mine) or name_after(mine[0]) or "without words"
        names.append(free_name(name, names, " "))
    return tuple(names)


def said_by_intent(database: Database, project: ProjectRecord) -> dict[str, list[str]]:
    """Return the first 50 labelled texts outside the test set of each intent, by its id."""
    carriers: dict[str, list[str]] = {}
    for one in read_texts(database, project, Filter(state="labelled")):
        for intent in one.labels or ():
            carriers.setdefault(intent, []).append(one.text)
    return {intent: said[:_OF_AN_INTENT] for intent, said in carriers.items()}


def centres_of(
    database: Database, project: ProjectRecord, names: Mapping[str, str], encoder: Encoder
) -> Centres:
    """Find where the intents are that have labelled texts.

    `names` are those of the intents to look for, by id.
    """
    carriers = said_by_intent(database, project)
    few = {names[intent]: said for intent, said in carriers.items() if intent in names}
    said = [text for some in few.values() for text in some]
    rows = unit_rows(embed_texts(database, encoder, said))
    of = np.repeat(np.arange(len(few)), [len(some) for some in few.values()])
    return Centres(tuple(few), mean_directions(rows, of, len(few)), rows)
