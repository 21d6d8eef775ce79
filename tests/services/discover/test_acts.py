"""Groups are kept, taken and merged; Undo frees the texts that were taken."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Barrier

import pytest

from app.services.data.erasing import erase_texts
from app.services.data.history import undo_action, undo_last
from app.services.data.importing import ImportRequest, import_file
from app.services.data.intents import add_intent, change_intent
from app.services.data.projects import create_project
from app.services.discover.acts import GroupChange, Taking, change_group, take_group
from app.services.discover.runs import start_grouping
from app.services.discover.stored import GroupsView, OpenedGroup, list_groups, open_group
from app.services.labelling.today import load_today
from app.services.reports.audit import list_acts
from app.services.studio import Studio
from core.discover.grouping import MOST_GROUPS
from core.errors import Conflict, InvalidInput
from storage import projects
from storage.log.label_origins import label_origins
from storage.people.acts import ActFilter
from storage.queries import dataset, utterances
from storage.queries.utterances import Filter
from tests.builders.trained_home import BILLS, CARDS, POOL, change, found_groups, grouped


def taking(group: OpenedGroup, **how: object) -> Taking:
    usual = Taking("", "", "all", frozenset(), group.card.size, group.revision, "key-of-a-taking")
    return dataclasses.replace(usual, **how)  # type: ignore[arg-type]


def labels(studio: Studio, project: str = "raw") -> dict[str, tuple[str, ...] | None]:
    with studio.database.read() as connection:
        target = projects.find(connection, project)
        names = dataset.intent_names(connection, target.id)
        found = utterances.find_all(connection, target.id, Filter())
    return {
        one.text: None if one.labels is None else tuple(names[key] for key in one.labels)
        for one in found
    }


def test_a_group_becomes_an_intent_and_undo_frees_its_texts(raw: Studio) -> None:
    view = grouped(raw, n_groups=2)
    assert [card.size for card in view.groups] == [8, 6]
    assert (view.waiting, view.ungrouped) == (14, 0)
    group = open_group(raw, "raw", view.groups[0].id)
    assert {one.text for one in (*group.typical, *group.border)} == set(CARDS)
    assert not group.intents  # there are none yet
    taken = take_group(raw, "raw", group.card.id, taking(group, create="lost_card"))
    assert taken.changed == 8
    now = labels(raw)
    assert {text for text, label in now.items() if label == ("lost_card",)} == set(CARDS)
    assert all(now[text] is None for text in BILLS)
    card = next(one for one in list_groups(raw, "raw").groups if one.id == group.card.id)
    assert (card.state, card.label, card.labelled) == ("done", taken.intent, 8)
    undo_action(raw, "raw", "key-of-a-taking")
    assert set(labels(raw).values()) == {None}
    card = list_groups(raw, "raw").groups[0]
    assert (card.id, card.state, card.size) == (group.card.id, "open", 8)


def test_history_names_an_intent_that_undo_took_away(raw: Studio) -> None:
    """ "Label as ?" stood there, since the intent was gone with the labels."""
    group = open_group(raw, "raw", grouped(raw, n_groups=2).groups[0].id)
    take_group(raw, "raw", group.card.id, taking(group, create="lost_card"))
    undo_action(raw, "raw", "key-of-a-taking")
    acts = list_acts(raw, "raw", ActFilter(verb="label")).acts
    assert [(one.about, one.undone) for one in acts] == [("as lost_card", True)]


def test_a_label_from_a_group_says_so(raw: Studio) -> None:
    group = open_group(raw, "raw", grouped(raw, n_groups=2).groups[0].id)
    take_group(raw, "raw", group.card.id, taking(group, create="lost_card"))
    with raw.database.read() as connection:
        target = projects.find(connection, "raw")
        ids = [one.id for one in group.typical]
        origins = label_origins(connection, target.id, ids, target.head_revision)
    assert {one.origin for one in origins.values()} == {"group"}
    assert {one.actor for one in origins.values()} == {raw.settings.actor}


def test_the_sure_core_is_taken_without_what_is_left_out_and_the_rest_is_set_aside(
    raw: Studio,
) -> None:
    group = open_group(raw, "raw", grouped(raw, n_groups=1).groups[0].id)
    assert (group.card.size, group.core) == (14, 12)
    out = group.typical[0]
    how = taking(group, create="x", share="core", without=frozenset({out.id}), expected=11)
    assert take_group(raw, "raw", group.card.id, how).changed == 11
    assert labels(raw)[out.text] is None
    [card] = list_groups(raw, "raw").groups
    assert (card.state, card.size, card.labelled, card.joined) == ("done", 3, 11, 0)


def test_taking_once_more_with_the_same_key_changes_nothing(raw: Studio) -> None:
    group = open_group(raw, "raw", grouped(raw, n_groups=2).groups[0].id)
    how = taking(group, create="x")
    first = take_group(raw, "raw", group.card.id, how)
    again = take_group(raw, "raw", group.card.id, how)
    assert first.intent  # the second answer said that the texts are out of scope
    assert (again.changed, again.intent) == (first.changed, first.intent) == (8, first.intent)


def test_two_people_take_the_same_group_and_nothing_is_overwritten(raw: Studio) -> None:
    group = open_group(raw, "raw", grouped(raw, n_groups=2).groups[0].id)
    take_group(raw, "raw", group.card.id, taking(group, create="first"))
    with pytest.raises(Conflict, match="decided about all of this group's texts meanwhile"):
        take_group(raw, "raw", group.card.id, taking(group, create="second", key="another-key"))
    assert ("second",) not in labels(raw).values()
    with raw.database.read() as connection:
        target = projects.find(connection, "raw")
        assert [one.name for one in dataset.intents(connection, target.id)] == ["first"]


def test_two_people_take_a_group_at_the_same_moment_and_one_is_told(raw: Studio) -> None:
    group = open_group(raw, "raw", grouped(raw, n_groups=2).groups[0].id)
    names, together = ("first", "second"), Barrier(2)

    def take(name: str) -> int | Conflict:
        together.wait()
        try:
            how = taking(group, create=name, key=f"key-of-{name}")
            return take_group(raw, "raw", group.card.id, how).changed
        except Conflict as error:
            return error

    with ThreadPoolExecutor(2) as pool:
        done = dict(zip(names, pool.map(take, names), strict=True))
    [winner] = [name for name in names if done[name] == 8]
    [refused] = [one for one in done.values() if isinstance(one, Conflict)]
    assert refused.message.startswith("Somebody has decided about all of this group's texts")
    assert {labels(raw)[text] for text in CARDS} == {(winner,)}
    with raw.database.read() as connection:
        target = projects.find(connection, "raw")
        assert [one.name for one in dataset.intents(connection, target.id)] == [winner]


def test_what_somebody_left_of_a_group_is_not_taken_for_what_was_shown(
    raw: Studio, tmp_path: Path
) -> None:
    """The core of what was left had as many texts as the one that was shown, but others."""
    path = tmp_path / "more.txt"
    path.write_text("\n".join(f"a further text {n}" for n in range(6)) + "\n", encoding="utf-8")
    import_file(raw, ImportRequest("raw", path))
    group = open_group(raw, "raw", grouped(raw, n_groups=1).groups[0].id)
    assert (group.card.size, group.core) == (20, 12)
    out = frozenset(one.id for one in group.typical[:4])
    first = taking(group, create="first", share="core", without=out, expected=8)
    assert take_group(raw, "raw", group.card.id, first).changed == 8
    second = taking(group, create="second", share="core", expected=12, key="another-key")
    with pytest.raises(Conflict, match="decided about 8 of this group's texts meanwhile"):
        take_group(raw, "raw", group.card.id, second)
    assert open_group(raw, "raw", group.card.id).core == 12
    assert ("second",) not in labels(raw).values()


def test_a_group_brings_an_archived_intent_of_its_name_back_and_undo_archives_it(
    raw: Studio,
) -> None:
    key = add_intent(raw, "raw", "lost_card")
    change_intent(raw, "raw", key, {"archived": True})
    group = open_group(raw, "raw", grouped(raw, n_groups=2).groups[0].id)
    assert take_group(raw, "raw", group.card.id, taking(group, create="lost_card")).intent == key
    with raw.database.read() as connection:
        usable = dataset.open_intents(connection, projects.find(connection, "raw").id)
    assert list(usable) == [key]
    undo_action(raw, "raw", "key-of-a-taking")
    with raw.database.read() as connection:
        assert not dataset.open_intents(connection, projects.find(connection, "raw").id)


def test_texts_that_changed_since_the_group_was_shown_stay(raw: Studio) -> None:
    group = open_group(raw, "raw", grouped(raw, n_groups=2).groups[0].id)
    change(raw, CARDS[0], "flagged", "look at it", project="raw")
    taken = take_group(raw, "raw", group.card.id, taking(group, create="x"))
    assert (taken.changed, taken.left.meanwhile) == (7, 1)
    assert labels(raw)[CARDS[0]] is None


def test_out_of_scope_labels_with_no_intent(raw: Studio) -> None:
    group = open_group(raw, "raw", grouped(raw, n_groups=2).groups[1].id)
    assert take_group(raw, "raw", group.card.id, taking(group)).intent == ""
    assert {text for text, label in labels(raw).items() if label == ()} == set(BILLS)


def test_what_is_left_of_a_taken_group_is_not_for_later(raw: Studio) -> None:
    """The list "For later" filled itself with what was unticked, though nobody had said later."""
    group = open_group(raw, "raw", grouped(raw, n_groups=1).groups[0].id)
    without = frozenset(one.id for one in group.typical[4:])
    how = taking(group, create="x", share="core", without=without, expected=4)
    take_group(raw, "raw", group.card.id, how)
    [card] = list_groups(raw, "raw").groups
    assert (card.state, card.size, card.labelled) == ("done", 10, 4)
    change_group(raw, "raw", group.card.id, GroupChange(set_aside=10))
    assert list_groups(raw, "raw").groups[0].state == "aside"  # now somebody has said later
    back = GroupChange(set_aside=card.set_aside, for_later=card.for_later)
    change_group(raw, "raw", group.card.id, back)
    assert list_groups(raw, "raw").groups[0] == card


def test_the_few_texts_left_of_a_taken_group_can_be_opened_again(raw: Studio) -> None:
    """“Open again” was told, and the group stayed among those that were taken."""
    group = open_group(raw, "raw", grouped(raw, n_groups=1).groups[0].id)
    without = frozenset(one.id for one in group.typical[:2])
    how = taking(group, create="x", without=without, expected=group.card.size - 2)
    take_group(raw, "raw", group.card.id, how)
    assert list_groups(raw, "raw").groups[0].state == "done"
    change_group(raw, "raw", group.card.id, GroupChange(set_aside=0))
    [card] = list_groups(raw, "raw").groups
    assert (card.state, card.size) == ("mostly", 2)
    change_group(raw, "raw", group.card.id, GroupChange(set_aside=2, for_later=False))
    assert list_groups(raw, "raw").groups[0].state == "done"


def test_a_take_that_is_undone_on_another_page_leaves_no_new_texts(raw: Studio) -> None:
    """Undo on Data gave the labels back, and the group stood there with “12 new”."""
    group = open_group(raw, "raw", grouped(raw, n_groups=1).groups[0].id)
    how = taking(group, create="x", share="core", expected=group.core)
    assert take_group(raw, "raw", group.card.id, how).changed == 12
    undo_last(raw, "raw")
    [card] = list_groups(raw, "raw").groups
    assert (card.state, card.size, card.labelled, card.joined) == ("open", 14, 0, 0)
    change_group(raw, "raw", group.card.id, GroupChange(set_aside=14))
    assert list_groups(raw, "raw").groups[0].state == "aside"


def test_what_people_do_with_groups_while_others_are_found_stays(
    raw: Studio, tmp_path: Path
) -> None:
    """The job wrote what it had read: what is left of a taken group was for later."""
    group = open_group(raw, "raw", grouped(raw, n_groups=1).groups[0].id)
    path = tmp_path / "more.txt"
    path.write_text("are there cheap flights to Rome\n", encoding="utf-8")
    import_file(raw, ImportRequest("raw", path))
    publish = found_groups(raw, "raw")
    without = frozenset(one.id for one in group.typical[4:])
    how = taking(group, create="x", share="core", without=without, expected=4)
    take_group(raw, "raw", group.card.id, how)
    with raw.database.write() as connection:
        publish(connection)
    cards = {one.id: one for one in list_groups(raw, "raw").groups}
    assert cards[group.card.id].state == "done"


def test_a_group_set_aside_opens_again_when_texts_join_it(raw: Studio, tmp_path: Path) -> None:
    first = grouped(raw, n_groups=2).groups[0]
    change_group(raw, "raw", first.id, GroupChange(name="lost cards", set_aside=first.size))
    assert [one.state for one in list_groups(raw, "raw").groups] == ["open", "aside"]
    path = tmp_path / "more.txt"
    more = [f"my card is lost number {n}!" for n in range(4)]
    path.write_text("\n".join(more) + "\n", encoding="utf-8")
    import_file(raw, ImportRequest("raw", path))
    assert list_groups(raw, "raw").ungrouped == 4
    after = {one.id: one for one in grouped(raw).groups}
    again = after[first.id]
    assert (again.name, again.state, again.size, again.joined) == ("lost cards", "open", 12, 4)


def test_a_group_that_was_taken_whole_stays_so_until_three_texts_join(
    raw: Studio, tmp_path: Path
) -> None:
    """After a week's texts, 47 of 71 groups that somebody had finished were open again.

    Whoever had sorted 5,000 texts then found the groups that were done among those to look at.
    """
    group = open_group(raw, "raw", grouped(raw, n_groups=2).groups[0].id)
    take_group(raw, "raw", group.card.id, taking(group, create="lost_card"))
    for n_joined, state in ((2, "done"), (4, "mostly")):
        path = tmp_path / f"{n_joined}.txt"
        path.write_text("".join(f"my card is lost number {n}!\n" for n in range(n_joined)))
        import_file(raw, ImportRequest("raw", path))
        after = {one.id: one for one in grouped(raw).groups}[group.card.id]
        assert (after.state, after.size) == (state, n_joined)
    listed = list_groups(raw, "raw").groups
    assert [one.state for one in listed] == ["open", "mostly"]
    assert open_group(raw, "raw", group.card.id).same == after.label


def test_grouping_anew_forgets_names_and_acts(raw: Studio) -> None:
    first = grouped(raw, n_groups=2).groups[0]
    change_group(raw, "raw", first.id, GroupChange(name="mine"))
    again = grouped(raw, n_groups=3, anew=True)
    assert len(again.groups) == 3
    assert "mine" not in {one.name for one in again.groups}


def test_grouping_anew_keeps_groups_that_were_taken_and_regroups_what_was_left(
    raw: Studio,
) -> None:
    first = open_group(raw, "raw", grouped(raw, n_groups=2).groups[0].id)
    how = taking(first, create="x", without=frozenset({first.typical[0].id}), expected=7)
    assert take_group(raw, "raw", first.card.id, how).changed == 7
    change_group(raw, "raw", first.card.id, GroupChange(name="mine"))
    again = {one.id: one for one in grouped(raw, n_groups=2, anew=True).groups}
    kept = again.pop(first.card.id)
    assert (kept.name, kept.state, kept.size, kept.labelled) == ("mine", "done", 0, 7)
    assert sum(one.size for one in again.values()) == 7
    assert {one.state for one in again.values()} == {"open"}
    undo_action(raw, "raw", "key-of-a-taking")
    freed = next(one for one in list_groups(raw, "raw").groups if one.id == first.card.id)
    assert (freed.state, freed.size) == ("open", 7)


def test_beside_labels_twice_as_many_groups_are_made(raw: Studio) -> None:
    """A new subject among known ones is small: most had no group of their own."""
    view = grouped(raw)
    assert len(view.groups) == view.usual_groups == 4  # the root of 14
    group = open_group(raw, "raw", view.groups[0].id)
    out = frozenset(one.id for one in group.typical[1:])
    take_group(raw, "raw", group.card.id, taking(group, create="x", without=out, expected=1))
    assert list_groups(raw, "raw").usual_groups == 7  # twice the root of 13
    again = [one for one in grouped(raw, anew=True).groups if one.state == "open"]
    assert len(again) == 7


def test_new_groups_have_other_names_than_those_that_were_taken(raw: Studio) -> None:
    first = open_group(raw, "raw", grouped(raw, n_groups=1).groups[0].id)
    how = taking(first, create="x", without=frozenset({first.typical[0].id}), expected=13)
    take_group(raw, "raw", first.card.id, how)
    change_group(raw, "raw", first.card.id, GroupChange(name="card lost number"))
    names = [one.name for one in grouped(raw, n_groups=1, anew=True).groups]
    assert len(set(names)) == len(names) == 2


def test_nearest_intents_are_those_of_labels_and_of_groups_that_were_taken(home: Studio) -> None:
    view = grouped(home, "p", n_groups=2)
    assert sum(card.size for card in view.groups) == len(POOL)
    group = open_group(home, "p", view.groups[0].id)
    with home.database.read() as connection:
        usable = dataset.open_intents(connection, projects.find(connection, "p").id)
    assert set(group.intents) <= set(usable)
    assert group.groups == (view.groups[1].id,)


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, "\u200b"])
def test_a_name_that_nobody_sees_is_refused(raw: Studio, name: str) -> None:
    first = grouped(raw, n_groups=2).groups[0]
    with pytest.raises(InvalidInput, match="cannot name a group"):
        change_group(raw, "raw", first.id, GroupChange(name=name))


def test_without_texts_that_wait_there_is_nothing_to_group(studio: Studio) -> None:
    create_project(studio, "empty")
    with pytest.raises(InvalidInput, match="No text waits for a label"):
        start_grouping(studio, "empty")
    assert list_groups(studio, "empty") == GroupsView((), 0, 0, MOST_GROUPS, 1, 0)


def test_erasing_a_text_forgets_the_groups_whose_names_quote_it(raw: Studio) -> None:
    assert len(grouped(raw, n_groups=2).groups) == 2
    erase_texts(raw, "raw", [CARDS[0]], now=True)
    view = list_groups(raw, "raw")
    assert (view.groups, view.ungrouped) == ((), 13)


def test_labels_of_a_group_count_as_labelled_today(raw: Studio) -> None:
    """Thirty groups were taken, and the day at the card stood at 0."""
    group = open_group(raw, "raw", grouped(raw, n_groups=2).groups[0].id)
    take_group(raw, "raw", group.card.id, taking(group, create="lost_card"))
    assert load_today(raw, "raw", datetime.now(UTC) - timedelta(hours=1)).decided == 8


def test_groups_that_resemble_no_intent_come_first(raw: Studio) -> None:
    """Ten hidden subjects stood anywhere among the groups of a hundred known intents."""
    group = open_group(raw, "raw", grouped(raw, n_groups=2).groups[0].id)
    assert group.card.known is None
    few = taking(group, create="lost_card", without=frozenset(t.id for t in group.typical[1:]))
    take_group(raw, "raw", group.card.id, dataclasses.replace(few, expected=1))
    cards = [one for one in grouped(raw, n_groups=2, anew=True).groups if one.state == "open"]
    assert [card.size for card in cards] == [6, 7]
    none, some = (card.known for card in cards)
    assert none is not None
    assert some is not None
    assert none < some


@pytest.mark.parametrize(("n", "stands"), [(0, False), (1, False), (2, False), (3, True)])
def test_a_group_stands_for_its_label_from_three_labelled_texts_on(
    raw: Studio, n: int, *, stands: bool
) -> None:
    group = open_group(raw, "raw", grouped(raw, n_groups=2).groups[0].id)
    if n:
        out = frozenset(one.id for one in (*group.typical, *group.border)[n:])
        take_group(raw, "raw", group.card.id, taking(group, create="x", without=out, expected=n))
    card = next(one for one in list_groups(raw, "raw").groups if one.id == group.card.id)
    assert (card.size, card.labelled, card.stands_for_label) == (8 - n, n, stands)
