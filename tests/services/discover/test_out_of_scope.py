"""Texts out of scope are grouped on wish: taken, they get an intent, and Undo restores them."""

from collections.abc import Sequence

import pytest

from app.services.data.bulk import BulkAct, Edit
from app.services.data.history import undo_action
from app.services.data.utterances import change_many
from app.services.discover.acts import Taking, take_group
from app.services.discover.runs import start_grouping
from app.services.discover.splitting import split_group
from app.services.discover.stored import GroupCard, OpenedGroup, list_groups, open_group
from app.services.studio import Studio
from core.errors import Conflict, InvalidInput
from storage import projects
from storage.queries import dataset, utterances
from storage.queries.utterances import Filter
from tests.builders.trained_home import BILLS, CARDS, EVERY_TEXT, change, grouped

KEY = "key-of-a-taking"


def refuse(studio: Studio, texts: Sequence[str]) -> None:
    """Label texts of the project as out of scope, as an act on the page Data does."""
    with studio.database.read() as connection:
        target = projects.find(connection, "raw")
        every = utterances.find_all(connection, target.id, Filter())
    ids = tuple(row.id for row in every if row.text in texts)
    act = BulkAct(len(ids), EVERY_TEXT)
    change_many(studio, "raw", Filter(ids=ids), Edit("out-of-scope"), act)


def labels(studio: Studio) -> dict[str, tuple[str, ...] | None]:
    with studio.database.read() as connection:
        target = projects.find(connection, "raw")
        names = dataset.intent_names(connection, target.id)
        found = utterances.find_all(connection, target.id, Filter())
    return {
        one.text: None if one.labels is None else tuple(names[key] for key in one.labels)
        for one in found
    }


def opened(studio: Studio, card: GroupCard) -> OpenedGroup:
    return open_group(studio, "raw", card.id)


def taking(group: OpenedGroup, create: str) -> Taking:
    return Taking("", create, "all", frozenset(), group.card.size, group.revision, KEY)


def test_they_get_an_intent_in_place_of_their_label_and_undo_restores_it(raw: Studio) -> None:
    """A new subject that somebody had once put out of scope was found by no group."""
    refuse(raw, BILLS)
    view = grouped(raw, n_groups=2)
    assert (view.waiting, view.out_of_scope) == (len(CARDS), len(BILLS))  # told first
    assert [card.out_of_scope for card in view.groups] == [0] * len(view.groups)
    assert sum(card.size for card in view.groups) == len(CARDS)
    view = grouped(raw, n_groups=2, anew=True, out_of_scope=True)
    assert {(card.size, card.out_of_scope) for card in view.groups} == {(8, 0), (6, 6)}
    assert (view.waiting, view.ungrouped, view.out_of_scope) == (8, 0, 6)
    before = labels(raw)
    group = opened(raw, next(card for card in view.groups if card.out_of_scope))
    assert {one.text for one in group.typical} == set(BILLS)
    taken = take_group(raw, "raw", group.card.id, taking(group, "bill"))
    assert (taken.changed, taken.left.labelled) == (len(BILLS), 0)
    assert labels(raw) == {**before, **dict.fromkeys(BILLS, ("bill",))}
    undo_action(raw, "raw", KEY)
    assert labels(raw) == before
    card = opened(raw, group.card).card
    assert (card.state, card.size, card.out_of_scope) == ("open", 6, 6)


def test_texts_of_the_test_set_are_not_among_them(raw: Studio) -> None:
    refuse(raw, BILLS)
    change(raw, BILLS[0], "split", "test", "raw")
    view = grouped(raw, n_groups=2, out_of_scope=True)
    assert view.out_of_scope == sum(card.out_of_scope for card in view.groups) == 5
    for card in view.groups:
        assert BILLS[0] not in {one.text for one in opened(raw, card).typical}


def test_out_of_scope_once_more_changes_nothing_and_says_so(raw: Studio) -> None:
    refuse(raw, [*CARDS, *BILLS])
    with pytest.raises(InvalidInput, match="No text waits for a label"):
        start_grouping(raw, "raw")
    [card] = grouped(raw, n_groups=1, out_of_scope=True).groups
    with pytest.raises(Conflict, match="labelled so already"):
        take_group(raw, "raw", card.id, taking(opened(raw, card), ""))
    numbers = split_group(raw, "raw", card.id)
    parts = list_groups(raw, "raw").groups
    assert {one.id for one in parts} == set(numbers)
    assert sum(one.out_of_scope for one in parts) == sum(one.size for one in parts) == 14


def test_a_mixed_group_that_is_out_of_scope_is_done_and_can_be_grouped_again(raw: Studio) -> None:
    refuse(raw, BILLS[:3])
    [card] = grouped(raw, n_groups=1, out_of_scope=True).groups
    assert (card.size, card.out_of_scope) == (14, 3)
    taken = take_group(raw, "raw", card.id, taking(opened(raw, card), ""))
    assert (taken.changed, taken.left.same) == (11, 3)
    [card] = list_groups(raw, "raw").groups
    assert (card.state, card.size, card.labelled) == ("done", 3, 11)
    assert set(labels(raw).values()) == {()}
    for _ in range(2):  # no group counts as taken for what had once been labelled with another
        [card] = grouped(raw, n_groups=1, anew=True, out_of_scope=True).groups
        assert (card.state, card.size, card.out_of_scope) == ("open", 14, 14)
