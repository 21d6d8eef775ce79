"""The groups of a project as the Discover page shows them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.services.discover.nearness import APART, cohesion_of, cosines
from app.services.discover.runs import OUTSIDE, WAITING, count_texts
from app.services.studio import Studio
from core.discover.grouping import MOST_GROUPS, usual_groups
from core.discover.order import CORE
from core.discover.showing import show
from core.discover.standing import STATES, State
from core.errors import NotFound
from storage import projects
from storage.computed import text_groups
from storage.computed.text_groups import Families, Inhabitants, standing_of
from storage.database import Transaction
from storage.queries import dataset, utterances
from storage.records import ProjectRecord, TextGroupRecord

_NEAR = 0.6
"""Cosine of two centres below which an intent is not offered as the place for a group.

Ten texts of an intent are nearer than 0.7 to eight others of it in 98 of 100 cases (CLINC150,
BANKING77, untuned encoder).
"""

_SAME = 0.8
"""Cosine from which on a group is most likely of the nearest intent.

19 of 20 groups of an intent are nearer than that, and 1 of 20 of other intents (the same sets).
"""

FITS = 0.6
"""Share of a group's typical texts that must get the intent as their answer.

Twelve of the sample's 35 groups had more, each with the intent that its texts are about. One half
each of lost and of new SIM cards had 0.58.
"""

_NEAR_GROUPS = 5

_STANDS = 3
"""Labelled texts from which on a group stands for an intent, however many wait."""

MOST_LISTED = 500
"""Texts of a group that are listed at once."""


@dataclass(frozen=True, slots=True)
class GroupCard:
    """A group in the list.

    Attributes:
        size: Number of its texts that wait for a label.
        labelled: Number of its texts that have one.
        label: Id of the intent that most of these have; empty: none of them has an intent.
        state: `aside`: a person left it for later; `done`: it was taken, though some may wait;
            `mostly`: most of its texts have a label, and more than a few others wait.
        joined: Texts that joined since it was set aside.
        set_aside: How many texts waited when a person was done with it; 0: nobody is.
        for_later: A person put it aside, and has not taken it.
        is_new: The newest grouping founded it beside groups that were there, and no labelled texts
            resemble it.
        known: How well labels told what it is about when it was made or joined last, in [0, 1];
            None: nothing was labelled then.
        stands_for_label: Its labels tell what it is about: one of fifty texts does not.
        out_of_scope: How many of `size` are so, and were grouped on wish to be looked at again.
    """

    id: int
    name: str
    description: str
    size: int
    labelled: int
    label: str
    state: State
    joined: int
    set_aside: int
    is_new: bool
    known: float | None = None
    stands_for_label: bool = False
    for_later: bool = False
    out_of_scope: int = 0


@dataclass(frozen=True, slots=True)
class GroupsView:
    """All groups, the open ones first, then those mostly labelled; new ones before others.

    Where something is labelled, the order is from the least known; else from the largest.

    Attributes:
        waiting: Texts of the project outside the test set that wait for a label.
        ungrouped: How many of these are in no group yet.
        most_groups: So many groups can be made.
        usual_groups: So many are made of the texts that wait, unless somebody wants others.
        revision: Revision of the project at which this was read.
        out_of_scope: Texts outside the test set that are so; on wish they are grouped, too.
    """

    groups: tuple[GroupCard, ...]
    waiting: int
    ungrouped: int
    most_groups: int
    usual_groups: int
    revision: int
    out_of_scope: int = 0


@dataclass(frozen=True, slots=True)
class GroupText:
    """A text of a group.

    `answer` is the id of the intent that the version in use answers, empty for none; None where it
    is not known, or several intents may be answered.
    """

    id: str
    text: str
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class OpenedGroup:
    """A group with its texts.

    Attributes:
        core: Number of texts that belong together most surely; `typical` are spread evenly over
            these, and taken with them.
        typical: At most 12 texts, from the middle of the group to the rim of its core.
        border: At most 12 texts that fit least, the least fitting first.
        intents: Ids of the intents that are nearest by meaning, and of `same`; at most 2.
        same: Id of the intent that the group most likely is, by what the version in use answers,
            else by its labelled texts or by meaning; empty if there is none.
        groups: Ids of the groups with waiting texts that are nearest by meaning, at most 5.
        cohesion: Mean cosine of the texts that wait and their centre, that of all groups which are
            merged here, in [-1, 1].
        refused: How many of `typical` the version in use answers with no intent; 0 where its model
            is not in memory yet.
        fits: Share of typical texts from which on an intent that answers them is `same`.
    """

    card: GroupCard
    core: int
    typical: tuple[GroupText, ...]
    border: tuple[GroupText, ...]
    intents: tuple[str, ...]
    same: str
    groups: tuple[int, ...]
    cohesion: float
    revision: int
    refused: int = 0
    fits: float = FITS


def list_groups(studio: Studio, project: str) -> GroupsView:
    """Return the groups of a project's texts; texts labelled since are counted apart.

    Raises:
        NotFound: There is no such project.
    """
    with studio.database.read() as connection:
        target = projects.find(connection, project)
        families = text_groups.families(connection, target.id)
        cards = _cards(connection, target, families)
        waiting = count_texts(connection, target, WAITING)
        outside = count_texts(connection, target, OUTSIDE)
        counts = utterances.counts(connection, target.id)
    has_labels = counts.by_intent != counts.tests_by_intent
    grouped = sum(one.size - one.out_of_scope for one in cards)
    some = [one for one in cards if one.size or (one.labelled and not _is_split(families, one.id))]
    return GroupsView(
        groups=tuple(_ordered(families, some)),
        waiting=waiting,
        ungrouped=max(0, waiting - grouped),
        most_groups=MOST_GROUPS,
        usual_groups=usual_groups(waiting, has_labels=has_labels),
        revision=target.head_revision,
        out_of_scope=outside,
    )


def open_group(studio: Studio, project: str, number: int) -> OpenedGroup:
    """Return a group with its typical and border texts.

    Raises:
        NotFound: There is no such group, or it was merged into another.
    """
    with studio.database.read() as connection:
        target = projects.find(connection, project)
        families = text_groups.families(connection, target.id)
        ids = waiting_in_family(connection, target, families, number)
        every = text_groups.members(connection, target.id, families.parts[number])
        cards = _cards(connection, target, families)
        shown = show(np.arange(len(ids)), np.ones(max(1, len(ids)), dtype=np.float32), CORE)
        wanted = [ids[row] for row in (*shown.typical.tolist(), *shown.border.tolist())]
        records = utterances.by_ids(connection, target.id, wanted)
        usable = set(dataset.open_intents(connection, target.id))
    group = families.groups[number]
    card = next(one for one in cards if one.id == number)
    those = set(ids)
    waiting = [one for one in every if one.utterance_id in those]
    near = _near(families, cards, group, usable)
    texts = [GroupText(key, records[key].text) for key in wanted]
    n_typical = len(shown.typical)
    return OpenedGroup(
        card=card,
        core=len(shown.core),
        typical=tuple(texts[:n_typical]),
        border=tuple(texts[n_typical:]),
        intents=tuple(near),
        same=_same(near),
        groups=_near_groups(families, cards, group),
        cohesion=round(cohesion_of(families, waiting), 4),
        revision=target.head_revision,
    )


def texts_of_group(studio: Studio, project: str, number: int) -> tuple[GroupText, ...]:
    """Return a group's texts that wait for a label, at most 500, the closest to its middle first.

    Raises:
        NotFound: There is no such group, or it was merged into another.
    """
    with studio.database.read() as connection:
        target = projects.find(connection, project)
        ids = waiting_texts(connection, target, number)[:MOST_LISTED]
        records = utterances.by_ids(connection, target.id, ids)
    return tuple(GroupText(key, records[key].text) for key in ids)


def waiting_texts(connection: Transaction, project: ProjectRecord, number: int) -> list[str]:
    """Return the ids of a group's texts that wait for a label, the closest to its middle first.

    Raises:
        NotFound: There is no such group, or it was merged into another.
    """
    return waiting_in_family(
        connection, project, text_groups.families(connection, project.id), number
    )


def waiting_in_family(
    connection: Transaction, project: ProjectRecord, families: Families, number: int
) -> list[str]:
    """Return the same as `waiting_texts`, of groups that have been read."""
    if number not in families.parts:
        group = text_groups.find(connection, project.id, number)
        raise NotFound(f"'{group.name}' is part of another group now.", "Reload the page.")
    return text_groups.waiting_in(connection, project.id, families.parts[number])


def _cards(connection: Transaction, project: ProjectRecord, families: Families) -> list[GroupCard]:
    found = text_groups.of_families(connection, project.id, families)
    return [_card(families.groups[number], one) for number, one in found.items()]


def _ordered(families: Families, cards: Sequence[GroupCard]) -> list[GroupCard]:
    """Order groups: what is new, then what labels tell nothing about yet, comes first."""
    told = {card.id for card in cards if _nearest(families.groups[card.id]) >= _SAME}
    taken = [card for card in cards if card.stands_for_label]
    if taken:
        near = cosines(families, [one.id for one in cards], [one.id for one in taken])
        same = (near.max(axis=1) >= _SAME).tolist()
        told |= {card.id for card, is_same in zip(cards, same, strict=True) if is_same}

    def place(card: GroupCard) -> tuple[int, bool, bool, float, int, int]:
        known = card.known or 0.0
        is_told = card.id in told
        return STATES.index(card.state), not card.is_new, is_told, known, -card.size, card.id

    return sorted(cards, key=place)


def _card(group: TextGroupRecord, found: Inhabitants) -> GroupCard:
    standing = standing_of(group, found)
    intents = Counter(key for labels, n in found.labels.items() for key in labels * n)
    labelled = standing.labelled
    return GroupCard(
        id=group.id,
        name=group.name,
        description=str(group.facts["description"]),
        size=found.waiting,
        labelled=labelled,
        label=intents.most_common(1)[0][0] if intents else "",
        state=standing.state,
        joined=standing.joined,
        set_aside=group.set_aside,
        is_new=bool(group.facts.get("is_new")),
        known=group.facts.get("known"),
        stands_for_label=labelled > found.waiting or labelled >= _STANDS,
        for_later=standing.is_for_later,
        out_of_scope=found.outside,
    )


def _is_split(families: Families, number: int) -> bool:
    """Whether a group's texts went to new groups: not taken back, and no others were taken."""
    return bool(families.groups[number].facts.get("is_split")) and len(families.parts[number]) == 1


def _near(
    families: Families, cards: Sequence[GroupCard], group: TextGroupRecord, usable: set[str]
) -> dict[str, float]:
    """Return the usable intents whose texts, or whose groups, lie nearest, at most 2, by cosine."""
    near = {key: cosine for key, cosine in group.facts["nearest"] if key in usable}
    others = [card for card in cards if card.label in usable and card.stands_for_label]
    found = cosines(families, [group.id], [card.id for card in others])[0].tolist()
    for card, cosine in zip(others, found, strict=True):
        near[card.label] = max(near.get(card.label, APART), cosine)
    best = sorted(near, key=lambda key: -near[key])
    return {key: near[key] for key in best[:2] if near[key] >= _NEAR}


def _nearest(group: TextGroupRecord) -> float:
    """Return the cosine of the nearest intent with labels when a group was made or joined last."""
    return max((cosine for _, cosine in group.facts["nearest"]), default=0.0)


def _same(near: dict[str, float]) -> str:
    return next((key for key, cosine in near.items() if cosine >= _SAME), "")


def _near_groups(
    families: Families, cards: Sequence[GroupCard], group: TextGroupRecord
) -> tuple[int, ...]:
    others = [card.id for card in cards if card.id != group.id and card.state != "done"]
    near = cosines(families, [group.id], others)[0].tolist()
    best = sorted(zip(near, others, strict=True), key=lambda one: (-one[0], one[1]))
    return tuple(number for cosine, number in best[:_NEAR_GROUPS] if cosine > APART)
