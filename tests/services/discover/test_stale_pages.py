"""A page that shows groups of an earlier grouping acts on none of the groups of now."""

import pytest

from app.services.data.erasing import erase_texts
from app.services.discover.acts import GroupChange, Taking, change_group, take_group
from app.services.discover.runs import start_grouping
from app.services.discover.splitting import split_group
from app.services.discover.stored import list_groups, open_group
from app.services.studio import Studio
from core.errors import Conflict, NotFound
from storage import projects
from storage.computed import text_groups
from storage.queries import utterances
from tests.builders.trained_home import BILLS, CARDS, do, found_groups, grouped


def numbers(studio: Studio) -> list[int]:
    return sorted(card.id for card in list_groups(studio, "raw").groups)


def n_labelled(studio: Studio) -> int:
    with studio.database.read() as connection:
        return utterances.counts(connection, projects.find(connection, "raw").id).labelled


def test_acts_on_a_group_of_before_are_refused_and_change_nothing(raw: Studio) -> None:
    """Numbers began at 1 again: a tab of before took, merged and split groups that it never saw."""
    old = open_group(raw, "raw", grouped(raw, n_groups=2).groups[0].id)
    new = grouped(raw, n_groups=2, anew=True).groups
    assert not {one.id for one in new} & {old.card.id, *old.groups}
    taking = Taking("", "x", "all", frozenset(), new[0].size, old.revision, "key-of-a-taking")
    number = old.card.id
    with pytest.raises(NotFound, match="were grouped anew meanwhile"):
        take_group(raw, "raw", number, taking)
    with pytest.raises(NotFound, match="were grouped anew meanwhile"):
        split_group(raw, "raw", number)
    with pytest.raises(NotFound, match="were grouped anew meanwhile"):
        open_group(raw, "raw", number)
    for one, into in ((number, new[0].id), (new[0].id, number), (number, 0)):
        with pytest.raises(NotFound, match="were grouped anew meanwhile"):
            change_group(raw, "raw", one, GroupChange(merged_into=into))
    with pytest.raises(NotFound, match="were grouped anew meanwhile"):
        change_group(raw, "raw", number, GroupChange(name="of before"))
    assert n_labelled(raw) == 0
    assert list_groups(raw, "raw").groups == new
    with pytest.raises(NotFound, match="There is no group 99"):
        open_group(raw, "raw", 99)


def test_a_group_that_is_taken_while_texts_are_grouped_anew_keeps_them(raw: Studio) -> None:
    """Its labelled texts went into a new group, and it stood nowhere."""
    lost = open_group(raw, "raw", grouped(raw, n_groups=2).groups[0].id)
    publish = found_groups(raw, "raw", n_groups=2, anew=True)
    taking = Taking("", "x", "all", frozenset(), len(CARDS), lost.revision, "key-of-a-taking")
    take_group(raw, "raw", lost.card.id, taking)
    with raw.database.write() as connection:
        assert publish(connection)["texts"] == len(BILLS)
    other, taken = list_groups(raw, "raw").groups
    assert (taken.id, taken.state, taken.labelled) == (lost.card.id, "done", len(CARDS))
    assert (other.state, other.size, other.labelled) == ("open", len(BILLS), 0)


def test_a_second_wish_for_groups_is_refused_and_not_dropped(raw: Studio) -> None:
    """Whoever asked for other groups meanwhile saw “Finding groups”, and got those of the first."""
    first = start_grouping(raw, "raw")
    assert start_grouping(raw, "raw").id == first.id
    with pytest.raises(Conflict, match="being made already, by other choices"):
        start_grouping(raw, "raw", anew=True)
    with pytest.raises(Conflict, match="being made already, by other choices"):
        start_grouping(raw, "raw", 200)
    with pytest.raises(Conflict, match="being made already, by other choices"):
        start_grouping(raw, "raw", out_of_scope=True)
    assert do(raw, first.id).state == "succeeded"
    assert start_grouping(raw, "raw", 2, anew=True).id != first.id


def test_numbers_go_on_however_often_texts_are_grouped_anew(raw: Studio) -> None:
    grouped(raw, n_groups=2)
    assert numbers(raw) == [1, 2]
    grouped(raw, n_groups=3, anew=True)
    assert numbers(raw) == [3, 4, 5]
    grouped(raw, n_groups=2, anew=True)
    assert numbers(raw) == [6, 7]


def test_numbers_go_on_after_an_erasure_that_forgets_all_groups(raw: Studio) -> None:
    grouped(raw, n_groups=2)
    for text in CARDS[:2]:
        erase_texts(raw, "raw", [text], now=True)
    assert numbers(raw) == []
    with raw.database.read() as connection:
        assert text_groups.list_all(connection, projects.find(connection, "raw").id) == []
    grouped(raw, n_groups=2)
    assert numbers(raw) == [3, 4]
