"""A split is proposed by groups, takes the test set along, and is undone as one act."""

from dataclasses import replace

import pytest

from app.services.data.history import undo_action
from app.services.data.intents import add_intent
from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.review.groups import IntentGroups, _shares, propose_groups
from app.services.studio import Studio
from app.services.what_if.preview import preview
from app.services.what_if.repairs import Repair, SplitPart, apply_repair
from app.services.what_if.watched_texts import WatchedTextCache
from core.errors import Conflict, InvalidInput, NotFound
from tests.builders.trained_home import change, intent_ids, rows

TESTED = "give me a refund now"


@pytest.fixture
def live_studio(home: Studio) -> LiveStudio:
    """The trained project; one refund is of the test set."""
    change(home, TESTED, "split", "test")
    return open_live_studio(home)


def proposed(live_studio: LiveStudio) -> IntentGroups:
    return propose_groups(live_studio, "p", intent_ids(live_studio.studio)["refund"])


def test_every_text_of_the_intent_is_in_one_group_and_the_test_set_is_counted(
    live_studio: LiveStudio,
) -> None:
    view = proposed(live_studio)
    refund = intent_ids(live_studio.studio)["refund"]
    carriers = {r.id for r in rows(live_studio.studio).values() if refund in (r.labels or ())}
    listed = [text.id for group in view.groups for text in group.texts]
    assert len(view.groups) >= 2
    assert sorted(listed) == sorted(carriers)
    assert sum(group.n_test for group in view.groups) == 1
    sizes = [len([t for t in group.texts if t.split == "train"]) for group in view.groups]
    assert sizes == sorted(sizes, reverse=True)
    names, known = [group.name for group in view.groups], intent_ids(live_studio.studio)
    assert len(set(names) | known.keys()) == len(names) + len(known)


def test_a_split_by_groups_is_counted_made_and_undone_as_one(live_studio: LiveStudio) -> None:
    view = proposed(live_studio)
    before = rows(live_studio.studio)
    tested = next(g for g in view.groups if any(t.text == TESTED for t in g.texts))
    part = SplitPart("payback", tuple(text.id for text in tested.texts))
    repair = Repair("split", intent=intent_ids(live_studio.studio)["refund"], parts=(part,))
    watched_texts = WatchedTextCache(live_studio)
    [blast] = preview(watched_texts, "p", [repair])
    assert blast.touched == (len(part.ids), 1)
    apply_repair(live_studio.studio, "p", repair, "split-0001")
    made = intent_ids(live_studio.studio)["payback"]
    assert {r.id for r in rows(live_studio.studio).values() if r.labels == (made,)} == set(part.ids)
    assert rows(live_studio.studio)[TESTED].split == "test"
    undo_action(live_studio.studio, "p", "split-0001")
    assert rows(live_studio.studio) == before
    assert "payback" not in intent_ids(live_studio.studio)


def test_several_groups_are_split_off_at_once_each_text_into_one(live_studio: LiveStudio) -> None:
    refund = intent_ids(live_studio.studio)["refund"]
    ids = sorted(r.id for r in rows(live_studio.studio).values() if r.labels == (refund,))
    both = Repair("split", intent=refund, parts=(_part("x", ids[:1]), _part("y", ids[1:2])))
    twice = replace(both, parts=(_part("x", ids[:1]), _part("y", ids[:1])))
    with pytest.raises(InvalidInput, match="in two groups"):
        apply_repair(live_studio.studio, "p", twice, "split-0001")
    nobody = replace(both, parts=(_part("x", ids[:1]), _part("y", [])))
    with pytest.raises(InvalidInput, match="No text goes to 'y'"):
        apply_repair(live_studio.studio, "p", nobody, "split-0002")
    add_intent(live_studio.studio, "p", "z")
    taken = replace(both, parts=(_part("z", ids[:1]),))
    with pytest.raises(Conflict, match="an intent 'z' already"):
        apply_repair(live_studio.studio, "p", taken, "split-0003")
    apply_repair(live_studio.studio, "p", both, "split-0004")
    by = {r.id: r.labels for r in rows(live_studio.studio).values()}
    keys = intent_ids(live_studio.studio)
    assert (by[ids[0]], by[ids[1]]) == ((keys["x"],), (keys["y"],))


def test_a_person_may_ask_for_another_number_of_groups(live_studio: LiveStudio) -> None:
    refund = intent_ids(live_studio.studio)["refund"]
    view = propose_groups(live_studio, "p", refund, 2)
    assert (len(view.groups), view.most) == (2, 2)


def test_no_name_is_made_of_pieces_of_a_word_or_of_a_whole_sentence() -> None:
    """In Hindi words fell apart at vowel signs; without blanks a long sentence was the word."""
    assert set(_shares(["मेरा कार्ड गया 2024"])) == {"मेरा", "कार्ड", "गया"}
    assert _shares(["カード" * 14]) == {}


def _part(name: str, ids: list[str]) -> SplitPart:
    return SplitPart(name, tuple(ids))


def test_an_intent_with_few_texts_has_no_groups_and_a_lost_one_is_named(
    live_studio: LiveStudio,
) -> None:
    made = add_intent(live_studio.studio, "p", "empty")
    assert propose_groups(live_studio, "p", made).groups == ()
    with pytest.raises(NotFound):
        propose_groups(live_studio, "p", "nobody")
