"""What the live model is asked on pages: answers, pins, likeness, and doubts about labels."""

import numpy as np
import pytest

from app.services.data import utterances
from app.services.data.bulk import BulkAct, Edit
from app.services.data.intents import change_intent
from app.services.data.projects import create_project
from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.review.disagreements import differing_ids
from app.services.studio import Studio
from app.services.trying import answers, pins, similar
from app.services.what_if import repairs
from app.services.what_if.repairs import Repair
from core.errors import Conflict, InvalidInput, NotFound
from core.heads.votes.fit import leave_one_out
from core.vectors import unit_rows
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset
from storage.queries.utterances import Filter
from tests.builders.trained_home import EVERY_TEXT, POOL, rows


@pytest.fixture
def live_studio(home: Studio) -> LiveStudio:
    return open_live_studio(home)


def intent(live_studio: LiveStudio, name: str) -> str:
    with live_studio.studio.database.read() as connection:
        return dataset.intent_named(connection, 1, name).id


def change(live_studio: LiveStudio, text: str, kind: str, value: str = "") -> None:
    which = Filter(ids=(rows(live_studio.studio)[text].id,))
    utterances.change_many(
        live_studio.studio, "p", which, Edit(kind, value), BulkAct(1, EVERY_TEXT)
    )


def test_an_answer_adds_up_and_names_what_is_hot(live_studio: LiveStudio) -> None:
    change(live_studio, POOL[0], "label", intent(live_studio, "greeting"))
    [found] = answers.answer_texts(live_studio, "p", [POOL[0]])
    best = found.prediction.ranked[0]
    votes = sum(n.vote for n in found.prediction.neighbours)
    assert votes + found.votes_of_others + found.prediction.prior == pytest.approx(best.score)
    assert found.prediction.decision.intents == ("greeting",)
    assert "exactly as an example says" in found.sentence
    assert found.hot == (rows(live_studio.studio)[POOL[0]].id,)
    with pytest.raises(InvalidInput, match="1,001 texts"):
        answers.answer_texts(live_studio, "p", ["x"] * 1_001)
    create_project(live_studio.studio, "bare")
    with pytest.raises(NotFound, match="no trained model"):
        answers.answer_texts(live_studio, "bare", ["x"])


def test_likeness_is_the_cosine_to_the_trays_mean(live_studio: LiveStudio) -> None:
    tray = ["where is my parcel", "track the parcel for me"]
    encoder = live_studio.models.get(1).pipeline.encoder
    centre = unit_rows(unit_rows(encoder.encode(tray)).mean(0, keepdims=True))[0]
    for unlabelled in (True, False):
        found = similar.find_similar(live_studio, "p", tray, 50, unlabelled=unlabelled)
        there = [r for r in rows(live_studio.studio).values() if (r.labels is None) == unlabelled]
        assert {s.record.id for s in found} == {r.id for r in there}
        cosines = [s.cosine for s in found]
        assert cosines == sorted(cosines, reverse=True)
        expected = unit_rows(encoder.encode([s.record.text for s in found])) @ centre
        np.testing.assert_allclose(cosines, expected, atol=1e-5)
        assert similar.find_similar(live_studio, "p", tray, 2, unlabelled=unlabelled) == found[:2]


def test_a_large_tray_of_the_pool_itself_does_not_hide_the_others(live_studio: LiveStudio) -> None:
    """The nearest are those of the tray; cut before they were left out, nothing had been found."""
    found = similar.find_similar(live_studio, "p", POOL[:4], 1, unlabelled=True)
    assert [s.record.text for s in found] == POOL[4:]
    change(live_studio, POOL[4], "out-of-scope")
    assert similar.find_similar(live_studio, "p", POOL[:4], 1, unlabelled=True) == []


def test_pins_tell_what_is_expected_and_answered(live_studio: LiveStudio) -> None:
    parcel, refund = intent(live_studio, "parcel"), intent(live_studio, "refund")
    pins.set_pin(live_studio, "p", "where is my parcel", [parcel])
    pins.set_pin(live_studio, "p", "the parcel is late", [refund])
    said = {(p.text, p.expected, p.answer, p.kept) for p in pins.load_pins(live_studio, "p")}
    assert said == {
        ("where is my parcel", "parcel", "parcel", True),
        ("the parcel is late", "refund", "parcel", False),
    }
    change_intent(live_studio.studio, "p", parcel, {"name": "delivery"})
    assert {(p.expected, p.answer, p.kept) for p in pins.load_pins(live_studio, "p")} == {
        ("delivery", "delivery", True),
        ("refund", "delivery", False),
    }
    pins.remove_pin(live_studio, "p", "the parcel is late ")
    assert [p.text for p in pins.load_pins(live_studio, "p")] == ["where is my parcel"]
    with pytest.raises(InvalidInput):
        pins.set_pin(live_studio, "p", "  ", [parcel])
    with pytest.raises(NotFound):
        pins.set_pin(live_studio, "p", "text", ["nobody"])


def test_a_pin_of_an_archived_intent_is_neither_kept_nor_broken(live_studio: LiveStudio) -> None:
    """The page called it broken for ever, while no training was judged by it."""
    parcel = intent(live_studio, "parcel")
    pins.set_pin(live_studio, "p", "good morning", [parcel])
    change_intent(live_studio.studio, "p", parcel, {"archived": True})
    [found] = pins.load_pins(live_studio, "p")
    assert (found.expected, found.kept, found.stale) == ("parcel", None, True)
    with pytest.raises(Conflict, match="'parcel' is archived"):
        pins.set_pin(live_studio, "p", "another", [parcel])
    change_intent(live_studio.studio, "p", parcel, {"archived": False})
    assert [(p.kept, p.stale) for p in pins.load_pins(live_studio, "p")] == [(False, False)]
    with pytest.raises(InvalidInput, match="needs a text"):
        pins.set_pin(live_studio, "p", "a\0b", [parcel])


def test_pins_wait_for_a_model(studio: Studio) -> None:
    live_studio = open_live_studio(studio)
    project = create_project(studio, "p")
    made = edits.create_intent("a")
    with studio.database.write() as connection:
        events.record(connection, project.id, Action("create", "local"), [made])
    pins.set_pin(live_studio, "p", "hello", [made.subject_id])
    [found] = pins.load_pins(live_studio, "p")
    assert (found.expected, found.answer, found.kept) == ("a", None, None)
    assert differing_ids(live_studio, "p") == ()


def test_a_wrong_label_differs_from_what_the_others_say(live_studio: LiveStudio) -> None:
    live = live_studio.models.get(1)
    scores = leave_one_out(live.pipeline.head)
    inside = live.pipeline.calibration.inside(live.pipeline.embeddings, scores)
    exemplars = zip(live.pipeline.exemplars, scores.argmax(1), inside, strict=True)
    names = live.pipeline.head.intents
    expected = {e.id for e, column, ok in exemplars if not ok or names[column] not in e.intents}
    assert set(differing_ids(live_studio, "p")) == expected
    text = "good morning"
    change(live_studio, text, "move", "test")
    [found] = answers.answer_texts(live_studio, "p", [text])
    key, said = rows(live_studio.studio)[text].id, found.prediction.decision.intents
    for name in ("greeting", "parcel"):
        change(live_studio, text, "label", intent(live_studio, name))
        change(live_studio, text, "move", "test")
        assert (key in differing_ids(live_studio, "p")) == (said != (name,))


def test_examples_that_say_nearly_the_same_stand_in_one_line(live_studio: LiveStudio) -> None:
    """The most similar text was missing among the strongest votes: a twin had half of its vote."""
    label, asked = intent(live_studio, "parcel"), "parcel, late"
    for text in ("Parcel late", "parcel late!"):
        repairs.apply_repair(
            live_studio.studio, "p", Repair("add", (), (label,), value=text), f"add {text}"
        )
    [found] = answers.answer_texts(live_studio, "p", [asked])
    [why] = found.reasons
    assert found.landing is not None
    assert found.landing.nearest is not None
    [near] = [one for one in why.reason.neighbours if one.text == found.landing.nearest.text]
    alone = {one.exemplar_id: one.vote for one in found.prediction.neighbours}
    assert {near.text, *near.twins} >= {"Parcel late", "parcel late!"}
    assert near.vote > alone.get(near.exemplar_id, 0.0)
    votes = sum(one.vote for one in why.reason.neighbours) + why.votes_of_others
    assert votes + why.reason.prior + why.reason.voice == pytest.approx(why.reason.score)
