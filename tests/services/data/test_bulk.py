"""A bulk act leaves labels and the test set alone unless it is asked to change them."""

import pytest

from app.services.data.bulk import Allowed, BulkAct, Edit
from app.services.data.history import undo_action
from app.services.data.intents import load_overview
from app.services.data.projects import create_project
from app.services.data.utterances import change_many, count_many, load_utterances
from app.services.studio import Studio
from core.errors import NotFound
from storage import projects
from storage.log import edits, events
from storage.log.events import Action
from storage.queries.utterances import Filter

IDS = ("bare", "pooled", "same", "other", "none", "tested", "waiting")


@pytest.fixture
def intents(studio: Studio) -> dict[str, str]:
    """Project "p" with intents a and b, and a text of each kind."""
    project = create_project(studio, "p")
    made = {name: edits.create_intent(name) for name in "ab"}
    a, b = (made[name].subject_id for name in "ab")
    rows = [
        edits.create_utterance("bare", "bare", "train", "f", None),
        edits.create_utterance("pooled", "pooled", "pool", "f", None),
        edits.create_utterance("same", "same", "train", "f", [a]),
        edits.create_utterance("other", "other", "train", "f", [b]),
        edits.create_utterance("none", "none", "train", "f", []),
        edits.create_utterance("tested", "tested", "test", "f", [b]),
        edits.create_utterance("waiting", "waiting", "test", "f", None),
    ]
    with studio.database.write() as connection:
        events.record(connection, project.id, Action("import", "local"), [*made.values(), *rows])
    return {"a": a, "b": b}


def labels(studio: Studio) -> dict[str, tuple[str, ...] | None]:
    return {row.id: row.labels for row in load_utterances(studio, "p", IDS)}


def label(studio: Studio, intent: str, allowed: Allowed, key: str = ""):
    which, act = Filter(ids=IDS), BulkAct(len(IDS), allowed, key)
    return change_many(studio, "p", which, Edit("label", intent), act)


@pytest.mark.parametrize(
    ("labelled", "test", "changed"),
    [
        (False, False, {"bare", "pooled"}),
        (True, False, {"bare", "pooled", "other", "none"}),
        (False, True, {"bare", "pooled", "tested", "waiting"}),
        (True, True, {"bare", "pooled", "other", "none", "tested", "waiting"}),
    ],
)
def test_a_label_takes_what_is_counted_and_allowed(studio, intents, labelled, test, changed):
    before = labels(studio)
    counted = count_many(studio, "p", Filter(ids=IDS), Edit("label", intents["a"])).counts
    assert (counted.free, counted.labelled, counted.test) == (2, 2, 2)
    assert (counted.test_labelled, counted.same) == (1, 1)
    view = label(studio, intents["a"], Allowed(labelled, test), "act-00001")
    now = labels(studio)
    assert {key for key in IDS if now[key] != before[key]} == changed
    assert view.changed == len(changed)
    assert (view.left.labelled, view.left.test) == (0 if labelled else 2, 0 if test else 2)
    undo_action(studio, "p", "act-00001")
    assert labels(studio) == before


def test_without_an_intent_every_label_is_counted_as_another(studio, intents) -> None:
    counted = count_many(studio, "p", Filter(ids=IDS), Edit("label")).counts
    assert (counted.free, counted.labelled, counted.test, counted.same) == (2, 3, 2, 0)


def test_what_somebody_changed_after_the_count_stays_and_is_counted(studio, intents) -> None:
    """A colleague labelled a text between the count and the act."""
    seen = count_many(studio, "p", Filter(ids=IDS), Edit("label", intents["a"])).revision
    label_one = BulkAct(1)
    change_many(studio, "p", Filter(ids=("bare",)), Edit("label", intents["b"]), label_one)
    view = label(studio, intents["a"], Allowed(labelled=True, revision=seen))
    assert (view.changed, view.left.meanwhile) == (3, 1)
    assert labels(studio)["bare"] == (intents["b"],)


def test_an_act_after_an_own_one_counts_as_seen_and_not_as_changed_meanwhile(
    studio, intents
) -> None:
    one = Filter(ids=("bare",))
    seen = change_many(studio, "p", one, Edit("label", intents["a"]), BulkAct(1)).revision
    act = BulkAct(1, Allowed(labelled=True, revision=seen))
    done = change_many(studio, "p", one, Edit("label", intents["b"]), act)
    assert (done.changed, done.left.meanwhile) == (1, 0)
    late = change_many(studio, "p", one, Edit("delete"), act)  # that was somebody else's label
    assert (late.changed, late.left.meanwhile) == (0, 1)
    assert labels(studio)["bare"] == (intents["b"],)


def test_a_repeated_act_is_done_once(studio, intents) -> None:
    first = label(studio, intents["a"], Allowed(), "act-00001")
    again = label(studio, intents["b"], Allowed(labelled=True), "act-00001")
    assert (first.changed, again.changed) == (2, 2)
    assert labels(studio)["bare"] == (intents["a"],)


def test_undo_takes_back_its_own_act_and_not_the_newest(studio, intents) -> None:
    label(studio, intents["a"], Allowed(), "act-00001")
    one = Filter(ids=("other",))
    change_many(studio, "p", one, Edit("flag"), BulkAct(1))
    undo_action(studio, "p", "act-00001")
    undo_action(studio, "p", "act-00001")
    assert labels(studio)["bare"] is None
    assert load_utterances(studio, "p", ["other"])[0].flagged == "flagged"
    with pytest.raises(NotFound):
        undo_action(studio, "p", "act-00009")


@pytest.mark.parametrize(
    ("edit", "free", "labelled", "test"),
    [
        (Edit("delete"), 2, 3, 2),
        (Edit("move", "pool"), 4, 0, 2),
        (Edit("unlabel"), 3, 0, 1),
        (Edit("flag", "odd"), 7, 0, 0),
    ],
)
def test_other_acts_ask_where_they_would_destroy(
    studio, intents, edit, free, labelled, test
) -> None:
    counted = count_many(studio, "p", Filter(ids=IDS), edit).counts
    assert (counted.free, counted.labelled, counted.test) == (free, labelled, test)
    with studio.database.read() as connection:
        assert counted.free + counted.labelled + counted.test + counted.same == len(IDS)
        assert projects.find(connection, "p").head_revision == 9


def test_a_flag_without_a_note_leaves_the_notes_that_are_there(studio, intents) -> None:
    """Flagged with others, on Data or on the map, a text lost what somebody had written on it."""
    one, every = Filter(ids=("other",)), Filter(ids=IDS)
    change_many(studio, "p", one, Edit("flag", "ask Ann"), BulkAct(1))
    counted = count_many(studio, "p", every, Edit("flag")).counts
    assert (counted.free, counted.same) == (6, 1)
    assert change_many(studio, "p", every, Edit("flag"), BulkAct(len(IDS))).changed == 6
    notes = {row.id: row.flagged for row in load_utterances(studio, "p", IDS)}
    assert notes == {**dict.fromkeys(IDS, "flagged"), "other": "ask Ann"}
    change_many(studio, "p", one, Edit("flag", "ask Ben"), BulkAct(1))
    assert load_utterances(studio, "p", ["other"])[0].flagged == "ask Ben"


@pytest.mark.parametrize("large", [1, 2_000])
def test_a_label_creates_the_intent_that_it_names_and_undo_takes_both_back(
    studio, intents, monkeypatch, large
) -> None:
    """The intent had to be created elsewhere first, and stayed when the label was taken back."""
    monkeypatch.setattr("app.services.data.utterances.LARGE", large)
    act = BulkAct(len(IDS), Allowed(), "act-00001")
    edit = Edit("label", create="new one")
    done = change_many(studio, "p", Filter(ids=IDS), edit, act)
    again = change_many(studio, "p", Filter(ids=IDS), edit, act)
    assert (done.changed, again.changed) == (2, 2)
    with studio.database.read() as connection:
        head = projects.find(connection, "p").head_revision
    assert (done.revision, again.revision) == (head, head)
    made = {one.name: one.id for one in load_overview(studio, "p")[1]}
    assert made.keys() == {"a", "b", "new one"}
    assert labels(studio)["bare"] == (made["new one"],)
    undo_action(studio, "p", "act-00001")
    assert labels(studio)["bare"] is None
    assert {one.name for one in load_overview(studio, "p")[1]} == {"a", "b"}


def test_no_intent_is_created_where_no_text_gets_it(studio, intents) -> None:
    one = Filter(ids=("tested",))
    assert change_many(studio, "p", one, Edit("label", create="new one"), BulkAct(1)).changed == 0
    assert {one.name for one in load_overview(studio, "p")[1]} == {"a", "b"}
    change_many(studio, "p", one, Edit("label", create="a"), BulkAct(1, Allowed(test=True)))
    assert labels(studio)["tested"] == (intents["a"],)
    assert {one.name for one in load_overview(studio, "p")[1]} == {"a", "b"}
