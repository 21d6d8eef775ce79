"""A group is split by meaning, and merging takes that back."""

from pathlib import Path

import pytest

from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.discover.acts import GroupChange, Taking, change_group, take_group
from app.services.discover.splitting import split_group
from app.services.discover.stored import list_groups, open_group, texts_of_group
from app.services.studio import Studio
from core.errors import Conflict, InvalidInput, NotFound
from tests.builders.trained_home import BILLS, CARDS, change, found_groups, grouped


def test_each_part_of_a_split_is_named_by_its_own_texts_and_merging_takes_it_back(
    raw: Studio,
) -> None:
    """The largest part kept the name and the quote of the whole, which another part said."""
    [card] = grouped(raw, n_groups=1).groups
    change_group(raw, "raw", card.id, GroupChange(name="all of it"))
    fresh = split_group(raw, "raw", card.id)
    after = {one.id: one for one in list_groups(raw, "raw").groups}
    assert set(after) == set(fresh)
    assert [after[number].size for number in fresh] == [8, 6]
    lost, bill = (after[number] for number in fresh)
    assert "lost" in lost.name
    assert "lost" in lost.description
    assert "bill" in bill.name
    assert "bill" in bill.description
    assert not open_group(raw, "raw", card.id).typical
    for number in fresh:
        change_group(raw, "raw", number, GroupChange(merged_into=card.id))
    [again] = list_groups(raw, "raw").groups
    assert (again.id, again.name, again.size) == (card.id, "all of it", 14)
    assert again.description == card.description
    with pytest.raises(NotFound, match="part of another group"):
        open_group(raw, "raw", fresh[0])
    with pytest.raises(Conflict, match="was merged meanwhile"):
        change_group(raw, "raw", card.id, GroupChange(merged_into=fresh[0]))
    change_group(raw, "raw", fresh[0], GroupChange(merged_into=0))
    assert len(list_groups(raw, "raw").groups) == 2


def texts_of(studio: Studio, number: int) -> set[str]:
    return {one.text for one in texts_of_group(studio, "raw", number)}


def test_a_group_that_had_joined_a_split_one_gets_its_texts_back(raw: Studio) -> None:
    """Undo of the split, then of the merge, said “Taken back” and left it without a text."""
    lost, bill = (card.id for card in grouped(raw, n_groups=2).groups)
    change_group(raw, "raw", lost, GroupChange(merged_into=bill))
    for _ in range(2):  # the second time from what the first had parted
        for number in split_group(raw, "raw", bill):
            change_group(raw, "raw", number, GroupChange(merged_into=bill))
    assert texts_of(raw, bill) == {*CARDS, *BILLS}
    change_group(raw, "raw", lost, GroupChange(merged_into=0))
    assert texts_of(raw, lost) == set(CARDS)
    assert texts_of(raw, bill) == set(BILLS)


def test_parts_of_a_split_keep_their_texts_when_another_group_leaves_the_whole(
    raw: Studio,
) -> None:
    lost, bill = (card.id for card in grouped(raw, n_groups=2).groups)
    change_group(raw, "raw", lost, GroupChange(merged_into=bill))
    fresh = split_group(raw, "raw", bill)
    parts = [texts_of(raw, number) for number in fresh]
    change_group(raw, "raw", lost, GroupChange(merged_into=0))
    assert [texts_of(raw, number) for number in fresh] == parts


def test_a_group_with_labels_is_not_listed_as_taken_when_it_is_split(raw: Studio) -> None:
    """Its labelled texts stay in it, and nobody had taken it."""
    [card] = grouped(raw, n_groups=1).groups
    group = open_group(raw, "raw", card.id)
    change(raw, group.typical[0].text, "labels", [], project="raw")
    fresh = split_group(raw, "raw", card.id)
    assert {one.id for one in list_groups(raw, "raw").groups} == set(fresh)
    for number in fresh:
        change_group(raw, "raw", number, GroupChange(merged_into=card.id))
    [again] = list_groups(raw, "raw").groups
    assert (again.id, again.state, again.size, again.labelled) == (card.id, "open", 13, 1)


def test_a_split_group_that_was_taken_since_is_listed_as_taken(raw: Studio, tmp_path: Path) -> None:
    """New texts joined it and were taken, and it stood nowhere: it was hidden as split."""
    [card] = grouped(raw, n_groups=1).groups
    change(raw, CARDS[0], "labels", [], project="raw")
    split_group(raw, "raw", card.id)
    path = tmp_path / "more.txt"
    path.write_text("".join(f"{CARDS[0]}{end}\n" for end in ("!", "?", " !", " ?")))
    import_file(raw, ImportRequest("raw", path))
    grouped(raw)
    group = open_group(raw, "raw", card.id)
    n, asked = group.card.size, group.revision
    assert n > 0
    taking = Taking("", "lost_card", "all", frozenset(), n, asked, "key-of-a-taking")
    take_group(raw, "raw", card.id, taking)
    again = {one.id: one for one in list_groups(raw, "raw").groups}[card.id]
    assert (again.state, again.size, again.labelled) == ("done", 0, n + 1)


def test_a_taken_group_stays_among_those_when_its_rest_is_split(raw: Studio) -> None:
    """Its labels stood nowhere: it was hidden like a group whose texts all went to others."""
    group = open_group(raw, "raw", grouped(raw, n_groups=1).groups[0].id)
    without = frozenset(one.id for one in group.typical[4:])
    taking = Taking("", "lost_card", "core", without, 4, group.revision, "key-of-a-taking")
    take_group(raw, "raw", group.card.id, taking)
    [taken] = list_groups(raw, "raw").groups
    fresh = split_group(raw, "raw", taken.id)
    after = {one.id: one for one in list_groups(raw, "raw").groups}
    assert set(after) == {taken.id, *fresh}
    whole = after[taken.id]
    assert (whole.state, whole.size, whole.labelled) == ("done", 0, 4)
    assert sum(after[number].size for number in fresh) == 10
    for number in fresh:
        change_group(raw, "raw", number, GroupChange(merged_into=taken.id))
    assert list_groups(raw, "raw").groups == (taken,)


def test_too_few_or_equal_texts_are_not_split(raw: Studio, tmp_path: Path) -> None:
    create_project(raw, "few")
    path = tmp_path / "few.txt"
    path.write_text("one text alone\n", encoding="utf-8")
    import_file(raw, ImportRequest("few", path))
    [card] = grouped(raw, "few").groups
    assert card.size == 1
    with pytest.raises(InvalidInput, match="1 text: too few to split"):
        split_group(raw, "few", card.id)


def test_a_second_split_says_that_the_group_is_split_and_changes_nothing(raw: Studio) -> None:
    """After an answer that was lost, “0 texts: too few to split” was said of 14 that were split."""
    [card] = grouped(raw, n_groups=1).groups
    split_group(raw, "raw", card.id)
    view = list_groups(raw, "raw")
    with pytest.raises(Conflict, match="it was split or labelled meanwhile"):
        split_group(raw, "raw", card.id)
    assert list_groups(raw, "raw") == view


def test_a_split_beside_a_running_job_takes_no_number_that_the_job_will_use(
    raw: Studio, tmp_path: Path
) -> None:
    """Both counted on from the same number, and the job broke when it stored its groups."""
    [card] = grouped(raw, n_groups=1).groups
    path = tmp_path / "more.txt"
    more = [f"are there cheap flights to {city}" for city in ["Rome", "Oslo", "Lima", "Bern"]]
    more += [f"book me {n} flights for the summer" for n in range(2, 10)]
    path.write_text("\n".join(more) + "\n", encoding="utf-8")
    import_file(raw, ImportRequest("raw", path))
    publish = found_groups(raw, "raw")
    parts = split_group(raw, "raw", card.id)
    with raw.database.write() as connection:
        made = publish(connection)
    view = list_groups(raw, "raw")
    assert made["groups"] >= 1
    assert len(view.groups) == len(parts) + made["groups"]
    assert view.ungrouped == 0
    assert sum(one.size for one in view.groups) == view.waiting == 26
