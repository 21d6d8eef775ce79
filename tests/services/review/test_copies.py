"""Equal texts under one label are brought down to one each in one act."""

from dataclasses import replace

import pytest

from app.services.data.bulk import BulkAct, Edit
from app.services.data.history import undo_action
from app.services.data.utterances import change_many
from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.review import review
from app.services.review.findings import Finding, FoundText
from app.services.review.same_texts.copies import Copies, DeletedCopy, copies_of
from app.services.slots.marking import mark_slots
from app.services.studio import Studio
from app.services.what_if import repairs
from app.services.what_if.repairs import Repair
from core.templates.slots import Slot
from core.text import match_key
from storage import projects
from storage.queries import dataset
from storage.queries.utterances import Filter
from storage.records import UtteranceRecord
from tests.builders.trained_home import EVERY_TEXT, intent_ids, rows


@pytest.fixture
def live_studio(home: Studio) -> LiveStudio:
    return open_live_studio(home)


def label_by(studio: Studio, actor: str, text: str, intent: str) -> str:
    """Add a text with a label in somebody's name; return its id."""
    other = replace(studio, settings=studio.settings.model_copy(update={"actor": actor}))
    repair = Repair("add", (), (intent_ids(studio)[intent],), value=text)
    repairs.apply_repair(other, "p", repair, f"add {text} {actor}")
    return rows(studio)[text].id


def copies(live_studio: LiveStudio) -> Copies | None:
    return review.review(live_studio, "p", "duplicate").copies


def pair(one: str, other: str, measure: str = "nearly the same") -> Finding:
    """A finding of two examples, by their texts."""
    texts = tuple(FoundText(text, text, ("i",), "train") for text in (one, other))
    return Finding(f"duplicate:{one}:{other}", "duplicate", "", "", 0.98, measure, texts, ())


def examples(studio: Studio) -> list[UtteranceRecord]:
    with studio.database.read() as connection:
        return list(dataset.utterances(connection, 1, "train"))


def test_all_copies_go_in_one_act_that_undo_takes_back(live_studio: LiveStudio) -> None:
    """Sixty pairs had to be handled one at a time."""
    studio = live_studio.studio
    me = studio.settings.actor
    assert copies(live_studio) is None
    for text in ("where is my parcel", "good morning"):
        intent = "parcel" if "parcel" in text else "greeting"
        for sign in ("!", "?", "."):
            label_by(studio, me, text + sign, intent)
    before = {one.id for one in examples(studio)}
    keys = {match_key(one.text) for one in examples(studio)}
    offered = copies(live_studio)
    assert offered is not None
    assert (offered.texts, len(offered.ids), offered.theirs) == (2, 6, ())
    seen = review.review(live_studio, "p").revision
    act = Repair("delete", offered.ids)
    repairs.apply_repair(studio, "p", act, "one-of-each", seen=seen)
    left = [match_key(one.text) for one in examples(studio)]
    assert len(left) == len(before) - 6
    assert set(left) == keys
    assert copies(live_studio) is None
    undo_action(studio, "p", "one-of-each")
    assert {one.id for one in examples(studio)} == before


def test_what_somebody_else_labelled_stays_and_so_do_test_texts(live_studio: LiveStudio) -> None:
    studio = live_studio.studio
    theirs = [label_by(studio, "ada", f"where is my parcel{sign}", "parcel") for sign in "!?"]
    mine = label_by(studio, studio.settings.actor, "where is my parcel…", "parcel")
    label_by(studio, studio.settings.actor, "good morning!", "greeting")
    tested = label_by(studio, studio.settings.actor, "good morning?", "greeting")
    with_split = BulkAct(1, EVERY_TEXT)
    change_many(studio, "p", Filter(ids=(tested,)), Edit("move", "test"), with_split)
    offered = copies(live_studio)
    assert offered is not None
    assert mine in offered.ids
    assert rows(studio)["where is my parcel"].id in offered.ids
    assert len(offered.theirs) == 1
    assert set(offered.theirs) < set(theirs)
    assert tested not in {*offered.ids, *offered.theirs}


def test_of_several_copies_the_one_with_marked_values_stays(live_studio: LiveStudio) -> None:
    studio = live_studio.studio
    me = studio.settings.actor
    plain = [label_by(studio, me, f"good morning{sign}", "greeting") for sign in "!?"]
    marked = label_by(studio, me, "Good morning", "greeting")
    mark_slots(studio, "p", marked, [Slot(5, 12, "when")])
    offered = copies(live_studio)
    assert offered is not None
    assert set(offered.ids) == {*plain, rows(studio)["good morning"].id}


def test_nearly_the_same_texts_have_an_act_of_their_own(live_studio: LiveStudio) -> None:
    """339 such pairs had to be handled one at a time."""
    studio = live_studio.studio
    me = studio.settings.actor
    said = [
        *("track it now", "track it now please", "please track it now", "so track it now please"),
        *("good day to you", "a good day to you", "same text", "Same text!"),
    ]
    ids = {text: label_by(studio, me, text, "parcel") for text in said}
    theirs = label_by(studio, "ada", "and a good day to you", "parcel")
    ids["and a good day to you"] = theirs
    found = [
        pair(ids[one], ids[other], measure)
        for one, other, measure in (
            (said[0], said[1], "nearly the same"),
            (said[1], said[3], "nearly the same"),  # and not with what is kept
            (said[0], said[2], "nearly the same"),
            (said[4], said[5], "nearly the same"),
            (said[5], "and a good day to you", "nearly the same"),
            (said[6], said[7], "same text"),
        )
    ]
    with studio.database.read() as connection:
        record = projects.find(connection, "p")
    equal, alike = copies_of(studio, record, found, record.head_revision)
    assert equal is None  # of one pair the finding itself is the act
    assert alike is not None
    # What somebody else labelled stays, and of four texts those go that resemble the kept one.
    assert set(alike.ids) == {ids[said[1]], ids[said[2]], ids[said[5]]}
    assert alike.theirs == ()
    assert DeletedCopy("a good day to you", "good day to you") in alike.shown
    assert DeletedCopy("track it now please", "track it now") in alike.shown
    assert alike.texts == 2
