"""What a person does on the Try page: an example is added or relabelled, and tests are spared."""

from dataclasses import replace

import pytest

from app.services.data.history import undo_action
from app.services.live import joining
from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.studio import Studio
from app.services.trying import answers, pins
from app.services.what_if.preview import preview
from app.services.what_if.repairs import Repair, apply_repair
from app.services.what_if.watched_texts import WatchedTextCache
from core.errors import Conflict
from storage.queries import dataset
from storage.records import UtteranceRecord
from tests.builders.trained_home import POOL, change

NEW = "zzzz 999"
TESTED = "good morning"


@pytest.fixture
def live_studio(home: Studio) -> LiveStudio:
    change(home, TESTED, "split", "test")
    return open_live_studio(home)


def copies(live_studio: LiveStudio, text: str) -> list[UtteranceRecord]:
    with live_studio.studio.database.read() as connection:
        return [record for record in dataset.utterances(connection, 1) if record.text == text]


def intent(live_studio: LiveStudio, name: str) -> str:
    with live_studio.studio.database.read() as connection:
        return dataset.intent_named(connection, 1, name).id


def add(live_studio: LiveStudio, text: str, *names: str) -> None:
    repair = Repair("add", (), tuple(intent(live_studio, name) for name in names), value=text)
    apply_repair(live_studio.studio, "p", repair, f"key of {text}")


def answered(live_studio: LiveStudio, text: str) -> answers.Answer:
    [answer] = answers.answer_texts(live_studio, "p", [text])
    return answer


def test_a_new_example_is_answered_so_at_once_and_taken_back(live_studio: LiveStudio) -> None:
    before = answered(live_studio, NEW)
    assert before.known == ()
    add(live_studio, NEW, "greeting")
    now = answered(live_studio, f" {NEW} ")
    assert now.prediction.decision.intents == ("greeting",)
    [known] = now.known
    assert (known.split, known.labels) == ("train", (intent(live_studio, "greeting"),))
    undo_action(live_studio.studio, "p", f"key of {NEW}")
    again = answered(live_studio, NEW)
    assert again.prediction.label_revision == before.prediction.label_revision + 2
    at_once = replace(again.prediction, label_revision=before.prediction.label_revision)
    again = replace(again, prediction=at_once, revision=before.revision)
    assert replace(again, shown_revision=before.shown_revision) == before


@pytest.mark.parametrize("text", [POOL[0], "the parcel is late"])
def test_a_text_of_the_project_is_relabelled_and_not_added_again(
    live_studio: LiveStudio, text: str
) -> None:
    """The same text stood in the project twice, with two labels."""
    [was] = copies(live_studio, text)
    add(live_studio, text, "greeting")
    [record] = copies(live_studio, text)
    assert (record.id, record.split) == (was.id, "train")
    assert answered(live_studio, text).prediction.decision.intents == ("greeting",)
    undo_action(live_studio.studio, "p", f"key of {text}")
    assert copies(live_studio, text) == [was]


def test_where_labels_wait_for_a_training_no_newer_one_is_overwritten(
    live_studio: LiveStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside a label of the training Try sent the newest revision, and replaced a newer label."""
    monkeypatch.setattr(joining, "_MOST", 1)
    text = "the parcel is late"
    add(live_studio, text, "greeting")  # by somebody else
    shown = answered(live_studio, text)
    [voter] = [one for one in shown.prediction.neighbours if one.text == text]
    assert voter.intents == ("parcel",)
    mine = Repair("relabel", (voter.exemplar_id,), (intent(live_studio, "refund"),))
    with pytest.raises(Conflict, match="changed meanwhile"):
        apply_repair(live_studio.studio, "p", mine, "key of mine", seen=shown.shown_revision)
    assert copies(live_studio, text)[0].labels == (intent(live_studio, "greeting"),)


def test_an_example_out_of_scope_has_no_intent(live_studio: LiveStudio) -> None:
    add(live_studio, POOL[1])
    assert copies(live_studio, POOL[1])[0].labels == ()
    assert answered(live_studio, POOL[1]).prediction.decision.words == "out of scope"


def test_a_text_of_the_test_set_stays_as_it_is(live_studio: LiveStudio) -> None:
    was = copies(live_studio, TESTED)
    assert [known.split for known in answered(live_studio, TESTED).known] == ["test"]
    with pytest.raises(Conflict, match="is a test text"):
        add(live_studio, TESTED, "refund")
    assert copies(live_studio, TESTED) == was


def test_what_relabelling_by_text_would_change_is_told_first(live_studio: LiveStudio) -> None:
    label = (intent(live_studio, "refund"),)
    by_text = Repair("add", (), label, value="the parcel is late")
    by_id = Repair("relabel", (copies(live_studio, "the parcel is late")[0].id,), label)
    first, second = preview(WatchedTextCache(live_studio), "p", [by_text, by_id])
    assert (first.touched, first.turns, first.right) == ((1, 0), second.turns, second.right)


def test_several_texts_are_not_looked_up(live_studio: LiveStudio) -> None:
    found = answers.answer_texts(live_studio, "p", [POOL[0], TESTED])
    assert [answer.known for answer in found] == [(), ()]


def test_a_pin_may_expect_a_text_out_of_scope(live_studio: LiveStudio) -> None:
    inside = "when does the parcel come"  # without its label it is refused
    pins.set_pin(live_studio, "p", inside, [])
    [found] = pins.load_pins(live_studio, "p")
    assert (found.expected, found.answer, found.kept) == ("out of scope", "parcel", False)
    add(live_studio, inside)
    refused = not answered(live_studio, inside).prediction.decision.intents
    assert pins.load_pins(live_studio, "p")[0].kept is refused
