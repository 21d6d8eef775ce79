"""The slot book, proposals, marks of many, and augmentation."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.services.data import utterances
from app.services.data.bulk import BulkAct, Edit
from app.services.data.history import undo_last
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.slots.augmentation import AugmentationRequest, add_synthetic, preview_augmentation
from app.services.slots.book import learn_book, view_book
from app.services.slots.marking import (
    AcceptRequest,
    Marked,
    accept_proposals,
    load_marked,
    mark_slots,
    preview_proposals,
    rename_slot,
)
from app.services.slots.matcher import read_marked_values
from app.services.studio import Studio
from core.errors import Conflict, InvalidInput, NotFound
from core.templates.slots import Slot, SlottedText
from core.text import match_key
from storage import projects
from storage.log import events
from storage.people.known_values import count_kept, keep_values, known_values
from storage.queries.utterances import Filter, Page
from tests.builders.trained_home import EVERY_TEXT, rows


def line(text: str, intent: str | None, split: str = "train", **values: str) -> dict:
    slots = [
        {"slot": name, "start": text.index(value), "end": text.index(value) + len(value)}
        for name, value in values.items()
    ]
    return {"id": text, "text": text, "intent": intent, "split": split, "slots": slots}


LINES = [
    line("fly to Boston", "flight", city="Boston"),
    line("fly to Boston tomorrow", "flight", city="Boston", day="tomorrow"),
    line("fly from Rome", "flight", city="Rome"),
    line("play may by Rome", "music", title="may"),
    line("may I fly to Oslo or may I not", "flight", city="Oslo"),
    line("Madrid is nice", "other", "test", city="Madrid"),
    line("weather in boston, please", None, "pool"),
    line("meet at 10:30", None, "pool"),
    line("fly to Rome", "flight", "test"),
]


@pytest.fixture
def slotty(studio: Studio, tmp_path: Path) -> Studio:
    create_project(studio, "p")
    path = tmp_path / "p.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in LINES), encoding="utf-8")
    import_file(studio, ImportRequest("p", path))
    return studio


def revision(studio: Studio) -> int:
    with studio.database.read() as connection:
        return projects.find(connection, "p").head_revision


def proposed(found: Marked) -> list[tuple]:
    return [(found.text[p.start : p.end], p.name, p.share, p.noisy) for p in found.proposals]


def test_the_book_counts_values_of_train_alone_and_tells_the_noisy_ones(slotty: Studio) -> None:
    book = view_book(slotty, "p")
    assert (book.n_marked, book.n_utterances) == (5, 7)  # values are proposed in the pool, too
    city, day, title = book.slots
    assert [(v.value, v.count, v.share) for v in city.values] == [
        ("Boston", 2, 1.0),
        ("Oslo", 1, 1.0),
        ("Rome", 1, 0.5),
    ]
    assert (title.values[0].value, title.values[0].noisy) == ("may", True)
    assert title.values[0].share == pytest.approx(1 / 3)
    assert (day.count, day.n_values) == (1, 1)
    found = view_book(slotty, "p", "o", most=1).slots[0]
    assert (found.n_values, found.n_found, [v.value for v in found.values]) == (3, 3, ["Boston"])


def test_the_book_follows_every_change_of_what_it_is_made_of(slotty: Studio) -> None:
    def cities() -> list[str]:
        return [v.value for v in view_book(slotty, "p").slots[0].values]

    assert cities() == ["Boston", "Oslo", "Rome"]
    keys = tuple(r.id for r in rows(slotty).values() if "Oslo" in r.text)
    utterances.change_many(
        slotty, "p", Filter(ids=keys), Edit("move", "test"), BulkAct(1, EVERY_TEXT)
    )
    assert cities() == ["Boston", "Rome"]
    undo_last(slotty, "p")
    assert cities() == ["Boston", "Oslo", "Rome"]
    mark_slots(slotty, "p", "fly from Rome", [])
    assert cities() == ["Boston", "Oslo"]


def test_proposals_come_from_the_book_then_from_what_values_look_like(slotty: Studio) -> None:
    found = load_marked(slotty, "p", "weather in boston, please")
    assert proposed(found) == [("boston", "city", 1.0, False)]
    assert proposed(load_marked(slotty, "p", "meet at 10:30")) == [("10:30", "time", None, False)]
    said = load_marked(slotty, "p", "may I fly to Oslo or may I not")
    assert [(p[0], p[1], p[3]) for p in proposed(said)] == [("may", "title", True)] * 2
    assert said.slots == (Slot(13, 17, "city"),)


def test_marking_is_one_action_that_is_undone_and_happens_once(slotty: Studio) -> None:
    key, slots = "weather in boston, please", [Slot(11, 17, " city ")]
    found = mark_slots(slotty, "p", key, slots, "mark-0001")
    assert found.slots == (Slot(11, 17, "city"),)
    after = revision(slotty)
    mark_slots(slotty, "p", key, [], "mark-0001")
    assert (revision(slotty), rows(slotty)[key].slots) == (after, (Slot(11, 17, "city"),))
    undo_last(slotty, "p")
    assert rows(slotty)[key].slots == ()
    with pytest.raises(InvalidInput, match="holds no words"):
        mark_slots(slotty, "p", key, [Slot(11, 99, "city")])
    with pytest.raises(InvalidInput, match="cannot name a slot"):
        mark_slots(slotty, "p", key, [Slot(11, 17, "{x}")])
    with pytest.raises(NotFound, match="no text"):
        mark_slots(slotty, "p", "gone", [])


def test_marks_that_the_person_never_saw_are_not_replaced(slotty: Studio) -> None:
    """Two people marked a text: the second took the mark of the first away, unseen."""
    key = "weather in boston, please"
    bare = SlottedText(key, ())
    city = Slot(11, 17, "city")
    mark_slots(slotty, "p", key, [city], "theirs-01", seen=bare)
    with pytest.raises(Conflict, match="marked otherwise, meanwhile"):
        mark_slots(slotty, "p", key, [Slot(0, 7, "topic")], seen=bare)
    assert mark_slots(slotty, "p", key, [city], "theirs-01", seen=bare).slots == (city,)
    both = [Slot(0, 7, "topic"), city]
    found = mark_slots(slotty, "p", key, both, seen=SlottedText(key, (city,)))
    assert found.slots == tuple(both)
    other = Edit("text", "weather in boston, now")
    utterances.change_many(slotty, "p", Filter(ids=(key,)), other, BulkAct(1, EVERY_TEXT))
    with pytest.raises(Conflict, match="edited, or marked otherwise"):
        mark_slots(slotty, "p", key, [], seen=SlottedText(key, tuple(both)))
    assert mark_slots(slotty, "p", key, []).slots == ()  # a program that saw nothing


def test_accepting_marks_what_is_sure_in_texts_without_marks(slotty: Studio) -> None:
    before = rows(slotty)
    shown = preview_proposals(slotty, "p", AcceptRequest())
    assert (shown.proposals, shown.utterances) == (2, 2)
    assert rows(slotty) == before
    done = accept_proposals(slotty, "p", AcceptRequest(), "accept-1")
    assert (done.proposals, done.examples, done.preview) == (2, shown.examples, False)
    assert rows(slotty)["meet at 10:30"].slots == (Slot(8, 13, "time"),)
    assert rows(slotty)["fly to Rome"].slots == ()  # a test is not touched unless it is named
    again = accept_proposals(slotty, "p", AcceptRequest(), "accept-1")  # its answer was lost
    assert (again.proposals, again.utterances) == (2, 2)
    assert accept_proposals(slotty, "p", AcceptRequest()).proposals == 0
    undo_last(slotty, "p")
    assert rows(slotty) == before
    named = ["may I fly to Oslo or may I not", "fly to Rome"]
    assert accept_proposals(slotty, "p", AcceptRequest(tuple(named), noisy=True)).proposals == 3
    assert [s.name for s in rows(slotty)[named[0]].slots] == ["title", "city", "title"]


def test_a_slot_is_renamed_or_merged_everywhere_as_one_action(slotty: Studio) -> None:
    before = rows(slotty)
    assert rename_slot(slotty, "p", "city", "day", "rename-1") == 5
    assert rename_slot(slotty, "p", "city", "day", "rename-1") == 5
    assert {s.name for r in rows(slotty).values() for s in r.slots} == {"day", "title"}
    undo_last(slotty, "p")
    assert rows(slotty) == before
    for name, to, says in (("x", "y", "no slot 'x'"), ("day", "day", "already")):
        with pytest.raises((NotFound, InvalidInput), match=says):
            rename_slot(slotty, "p", name, to)


def test_a_slot_that_only_an_import_listed_is_not_called_unknown(slotty: Studio) -> None:
    """“There is no slot 'colour'. The slot book lists them” was said of one that it listed."""
    with slotty.database.write() as connection:
        project_id = projects.find(connection, "p").id
        keep_values(connection, project_id, "", {"colour": {"red": ("scarlet",)}})
    [slot] = [one for one in view_book(slotty, "p").slots if one.name == "colour"]
    assert (slot.count, slot.n_values) == (0, 1)
    with pytest.raises(InvalidInput, match="No text has the slot 'colour': an import brought"):
        rename_slot(slotty, "p", "colour", "shade")


def test_values_of_all_imports_that_changed_no_text_are_kept_and_found(slotty: Studio) -> None:
    """Those of the second replaced those of the first, and templates knew neither."""
    colours, shapes = {"colour": {"red": ("scarlet",)}}, {"shape": {"round": ("circular",)}}
    with slotty.database.write() as connection:
        project = projects.find(connection, "p")
        for _ in range(2):
            keep_values(connection, project.id, "", colours)
        assert count_kept(connection, project.id) == 1
    before = read_marked_values(slotty, project)
    with slotty.database.write() as connection:
        keep_values(connection, project.id, "", shapes)
        assert known_values(connection, project.id) == {**colours, **shapes}
    assert read_marked_values(slotty, project).matcher is not before.matcher


def test_augmentation_adds_marked_train_rows_once_and_undo_takes_them_back(
    slotty: Studio,
) -> None:
    before, wish = rows(slotty), AugmentationRequest(top=5, per_template=2)
    shown = preview_augmentation(slotty, "p", wish)
    assert rows(slotty) == before
    done = add_synthetic(slotty, "p", wish, "augment-1")
    assert (done.n, done.templates) == (shown.n, shown.templates)
    made = [r for r in rows(slotty).values() if r.synthetic]
    assert len(made) == done.n == 7
    for one in made:
        source = before[one.synthetic]
        assert (one.split, one.labels, one.source) == ("train", source.labels, "augmentation")
        assert [s.name for s in one.slots] == [s.name for s in source.slots]
        assert all(one.text[s.start : s.end] != "Madrid" for s in one.slots)
    keys = [match_key(text) for text in rows(slotty)]
    assert len(set(keys)) == len(keys)  # "fly to Rome" is a test, and is not made
    assert add_synthetic(slotty, "p", wish, "augment-1").n == done.n
    assert add_synthetic(slotty, "p", wish, "augment-2").n == 0
    assert len(rows(slotty)) == len(before) + done.n
    assert view_book(slotty, "p").n_marked == 5  # what is made is no evidence
    with slotty.database.write() as connection:
        events.undo(connection, projects.find(connection, "p").id, "local", of="augment-1")
    assert rows(slotty) == before


def test_a_preview_groups_by_template_and_keeps_to_intents_and_the_cap(slotty: Studio) -> None:
    ids = {r.labels for text, r in rows(slotty).items() if text == "play may by Rome"}
    assert preview_augmentation(slotty, "p", AugmentationRequest(intents=next(iter(ids)))).n == 0
    found = preview_augmentation(slotty, "p", AugmentationRequest(most=3))
    assert (found.n, found.n_sources) == (3, 3)
    assert found.templates[0].template == "fly from {city}"
    assert found.templates[0].intents == ("flight",)
    with pytest.raises(InvalidInput, match="less than one"):
        preview_augmentation(slotty, "p", AugmentationRequest(top=0))
    with pytest.raises(InvalidInput, match="more than is made at once"):
        preview_augmentation(slotty, "p", AugmentationRequest(top=10**20))


def test_the_key_of_another_act_adds_nothing(slotty: Studio) -> None:
    """The texts of that act were taken for made ones: a fault of the server."""
    mark_slots(slotty, "p", "fly from Rome", [], "aaaaaaaa")
    with pytest.raises(Conflict, match="belongs to another act"):
        add_synthetic(slotty, "p", AugmentationRequest(), "aaaaaaaa")


def test_synthetic_rows_are_found_and_never_become_tests(slotty: Studio) -> None:
    n = add_synthetic(slotty, "p", AugmentationRequest()).n
    found = utterances.load_page(slotty, "p", Filter(synthetic=True), "newest", Page(0, 50))
    assert found.total == n
    said = utterances.load_page(slotty, "p", Filter(synthetic=False), "newest", Page(0, 1))
    assert said.total == len(LINES)
    with pytest.raises(InvalidInput, match="asks for what people said"):
        utterances.change_many(
            slotty, "p", Filter(split="train"), Edit("move", "test"), BulkAct(n + 5, EVERY_TEXT)
        )
    assert not [r for r in rows(slotty).values() if r.synthetic and r.split != "train"]


def test_a_part_of_a_longer_value_is_not_proposed(slotty: Studio) -> None:
    """ "York" was marked within "new york", and 10 within 10:30."""
    add = line("fly to New York", "flight", city="New York")
    other = line("York to Oslo", "flight", city="York")
    book = learn_book([_read(add), _read(other)])
    found = book.propose(SlottedText("a room in new york at 10:30"))
    assert [(p.name, p.start, p.end) for p in found] == [("city", 10, 18), ("time", 22, 27)]


def _read(row: dict) -> SlottedText:
    slots = [Slot(one["start"], one["end"], one["slot"]) for one in row["slots"]]
    return SlottedText(row["text"], tuple(slots))


def test_only_the_texts_that_were_listed_are_marked(slotty: Studio) -> None:
    shown = preview_proposals(slotty, "p", AcceptRequest(shown=1))
    assert (shown.utterances, len(shown.examples)) == (2, 1)
    [first] = shown.examples
    done = accept_proposals(slotty, "p", AcceptRequest((first.id,), state=shown.state), "accept-1")
    assert (done.proposals, done.utterances) == (1, 1)
    with pytest.raises(Conflict, match="changed meanwhile"):
        accept_proposals(slotty, "p", AcceptRequest(state="0-0"))


def test_of_two_values_of_a_text_one_can_be_refused(slotty: Studio) -> None:
    """Only both could be: the right one had to be marked by hand."""
    key = "a flight to Boston tomorrow"
    file = slotty.places.home / "two.jsonl"
    file.write_text(json.dumps({"id": key, "text": key, "intent": "flight", "split": "train"}))
    import_file(slotty, ImportRequest("p", file))
    shown = preview_proposals(slotty, "p", AcceptRequest())
    [both] = [one for one in shown.examples if one.text == key]
    city, day = both.slots
    assert (city.name, day.name) == ("city", "day")
    wish = AcceptRequest((both.id,), state=shown.state, refused={both.id: (day.start,)})
    done = accept_proposals(slotty, "p", wish)
    assert (done.proposals, done.utterances) == (1, 1)
    assert load_marked(slotty, "p", both.id).slots == (city.slot,)


def test_a_template_can_be_left_out(slotty: Studio) -> None:
    wish = AugmentationRequest(top=5, per_template=3)
    everything = preview_augmentation(slotty, "p", wish)
    left_out = everything.templates[0].template
    rest = preview_augmentation(slotty, "p", replace(wish, without=(left_out,)))
    assert left_out not in {one.template for one in rest.templates}
    assert rest.n < everything.n
    done = add_synthetic(slotty, "p", replace(wish, without=(left_out,)), "augment-1")
    assert done.n == rest.n
