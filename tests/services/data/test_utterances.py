"""Looking through a project and changing many utterances; and the project at a glance."""

import threading
from dataclasses import replace

import pytest
import sqlalchemy as sa

from app.services.data import utterances
from app.services.data.bulk import BulkAct, Edit
from app.services.data.history import list_actions, redo_last, undo_last
from app.services.data.intents import add_intent, change_intent, load_overview, merge_intents
from app.services.data.projects import create_project
from app.services.live.live_studio import open_live_studio
from app.services.live.models import LiveModels
from app.services.status import load_status
from app.services.studio import Studio
from core.errors import Conflict, InvalidInput, NotFound
from storage import jobs, models, projects, tables
from storage.log import edits, events, versions
from storage.log.events import Action
from storage.queries.utterances import Filter, Page
from tests.builders.trained_home import EVERY_TEXT


@pytest.fixture
def ids(studio: Studio) -> dict[str, str]:
    """Project "p" with intents a and b and six unlabelled texts."""
    project = create_project(studio, "p")
    made = {name: edits.create_intent(name) for name in "ab"}
    rows = [edits.create_utterance(f"u{i}", f"text {i}", "pool", "f", None) for i in range(6)]
    with studio.database.write() as connection:
        events.record(connection, project.id, Action("import", "local"), [*made.values(), *rows])
    return {name: change.subject_id for name, change in made.items()}


def change(studio: Studio, kind: str, value: str = "", n: int = 6, **which) -> int:
    act = BulkAct(n, EVERY_TEXT)
    return utterances.change_many(studio, "p", Filter(**which), Edit(kind, value), act).changed


def shown(studio: Studio, **which) -> list:
    return list(utterances.load_page(studio, "p", Filter(**which), "oldest", Page(0, 50)).rows)


def test_a_bulk_change_is_one_action_and_is_undone_as_one(studio: Studio, ids) -> None:
    assert change(studio, "label", ids["a"], ids=("u1", "u2"), n=2) == 2
    assert [(r.id, r.split) for r in shown(studio, intent_id=ids["a"])] == [
        ("u1", "train"),
        ("u2", "train"),
    ]
    assert change(studio, "out-of-scope", ids=("u3",), n=1) == 1
    assert change(studio, "flag", text="text", n=6) == 6
    assert [r.flagged for r in shown(studio)] == ["flagged"] * 6
    assert change(studio, "delete", state="unlabelled", n=3) == 3
    verbs = [batch.verb for batch in list_actions(studio, "p")]
    assert verbs == ["delete", "flag", "out-of-scope", "label", "import"]
    before = shown(studio)
    for _ in range(4):
        undo_last(studio, "p")
    assert {(r.labels, r.split, r.flagged) for r in shown(studio)} == {(None, "pool", "")}
    for _ in range(4):
        redo_last(studio, "p")
    assert redo_last(studio, "p") is None
    assert shown(studio) == before


def test_one_of_several_intents_is_taken_away_from_many_and_the_last_one_leaves_no_decision(
    studio: Studio, ids
) -> None:
    """Without its last intent an utterance awaits a decision; it is not one of no intent."""
    with studio.database.write() as connection:
        found = projects.find(connection, "p")
        connection.execute(
            sa.update(tables.project).where(tables.project.c.id == found.id),
            {"task": "multi-label"},
        )
    change(studio, "label", ids["a"], ids=("u1", "u2"), n=2)
    change(studio, "label", ids["b"], ids=("u2",), n=1)
    change(studio, "out-of-scope", ids=("u3",), n=1)
    assert change(studio, "unlabel", ids["a"], ids=("u1", "u2", "u3", "u4"), n=4) == 2
    labels = {row.id: row.labels for row in shown(studio)}
    assert [labels[key] for key in ("u1", "u2", "u3", "u4")] == [None, (ids["b"],), (), None]
    undo_last(studio, "p")
    assert {r.id: set(r.labels or ()) for r in shown(studio)}["u2"] == {ids["a"], ids["b"]}


@pytest.mark.parametrize(
    ("kind", "value", "says"),
    [
        ("label", "nobody", "There is no intent 'nobody'."),
        ("unlabel", "nobody", "There is no intent 'nobody'."),
        ("move", "dev", "There is no split 'dev'."),
        ("text", "  ", "cannot be a text"),
        ("text", "x" * 5_001, "cannot be a text"),
        ("flag", "x" * 501, "cannot be a note"),
        ("flag", "a\0b", "cannot be a note"),
        ("text", "a\0b", "cannot be a text"),
        ("text", "\ud800", "cannot be a text"),
        ("text", "same", "6 texts cannot say the same."),
    ],
)
def test_what_does_not_fit_is_refused_in_words(studio, ids, kind, value, says) -> None:
    with pytest.raises(InvalidInput, match=says) as refused:
        change(studio, kind, value)
    assert refused.value.hint
    assert [batch.verb for batch in list_actions(studio, "p")] == ["import"]


def test_an_archived_intent_takes_no_more_labels(studio: Studio, ids) -> None:
    change_intent(studio, "p", ids["a"], {"archived": True})
    with pytest.raises(InvalidInput, match="There is no intent"):
        change(studio, "label", ids["a"])


def test_the_name_of_an_archived_intent_says_where_it_is(studio: Studio, ids) -> None:
    """It was "there already" for somebody who saw it in no list."""
    change_intent(studio, "p", ids["a"], {"archived": True})
    with pytest.raises(Conflict, match="archived intent 'a'") as refused:
        add_intent(studio, "p", "a")
    assert "Bring it back" in refused.value.hint


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
def test_a_description_is_a_text_that_can_be_kept(studio: Studio, ids, text: str) -> None:
    with pytest.raises(InvalidInput, match="cannot describe"):
        add_intent(studio, "p", "c", text)
    with pytest.raises(InvalidInput, match="cannot describe"):
        change_intent(studio, "p", ids["a"], {"description": text})


def test_a_label_for_many_joins_those_that_are_there_where_a_text_has_several(studio) -> None:
    """Five texts in the lasso, one click, and every other intent of theirs was gone."""
    project = create_project(studio, "p", "multi-label")
    made = [edits.create_intent(name) for name in "ab"]
    a, b = sorted(change.subject_id for change in made)
    rows = [
        edits.create_utterance(f"u{i}", f"text {i}", "train", "f", labels)
        for i, labels in enumerate((None, [], [a], [a, b]))
    ]
    with studio.database.write() as connection:
        events.record(connection, project.id, Action("import", "local"), [*made, *rows])
    assert change(studio, "label", b, n=4) == 3
    assert [r.labels for r in shown(studio)] == [(b,), (b,), (a, b), (a, b)]


def test_another_number_than_was_shown_changes_nothing(studio: Studio, ids) -> None:
    with pytest.raises(Conflict, match="change 6 texts, not 5"):
        change(studio, "delete", n=5)
    assert len(shown(studio)) == 6


def test_a_change_that_changes_nothing_is_no_action(studio: Studio, ids) -> None:
    assert change(studio, "move", "pool") == 0
    assert change(studio, "unlabel") == 0
    assert change(studio, "unflag") == 0
    assert [batch.verb for batch in list_actions(studio, "p")] == ["import"]


def test_intents_are_made_renamed_and_merged_or_refused_in_words(studio: Studio, ids) -> None:
    """A name that was taken had failed with the database's own words."""
    with pytest.raises(Conflict, match="intent 'a' already"):
        add_intent(studio, "p", " a ")
    with pytest.raises(InvalidInput):
        add_intent(studio, "p", "\t")
    made = add_intent(studio, "p", "cafe\u0301", "coffee")
    with pytest.raises(Conflict, match="intent 'b' already"):
        change_intent(studio, "p", made, {"name": "b"})
    with pytest.raises(InvalidInput, match="merged into itself"):
        merge_intents(studio, "p", "a", "a")
    with pytest.raises(NotFound):
        change_intent(studio, "p", "nobody", {"name": "c"})
    change(studio, "label", made, ids=("u0",), n=1)
    merge_intents(studio, "p", "caf\u00e9", "a")
    _, views = load_overview(studio, "p")
    assert [(v.name, v.archived, v.utterances) for v in views] == [
        ("a", False, 1),
        ("b", False, 0),
        ("caf\u00e9", True, 0),
    ]
    assert all(view.color.startswith("#") for view in views)


def test_words_of_an_intent_that_somebody_changed_since_they_were_seen_stay(
    studio: Studio, ids
) -> None:
    """A dialog that was open sent the old name and the old description back with a new colour."""
    seen = {"name": "a", "description": ""}
    change_intent(studio, "p", ids["a"], {"description": "theirs"}, seen)
    change_intent(studio, "p", ids["a"], {"name": "first"}, seen)
    with pytest.raises(Conflict, match="The description of 'first' was changed meanwhile"):
        change_intent(studio, "p", ids["a"], {"description": "mine"}, seen)
    change_intent(studio, "p", ids["a"], {"description": "theirs"}, seen)  # the same words
    change_intent(studio, "p", ids["b"], {"description": "mine"})  # a program that saw nothing
    _, views = load_overview(studio, "p")
    assert {v.name: v.description for v in views} == {"first": "theirs", "b": "mine"}


def test_an_intents_test_texts_are_counted_apart(studio: Studio, ids) -> None:
    change(studio, "label", ids["a"], ids=("u0", "u1"), n=2)
    change(studio, "move", "test", ids=("u1",), n=1)
    _, views = load_overview(studio, "p")
    assert [(v.name, v.utterances, v.tests) for v in views if v.utterances] == [("a", 2, 1)]


def test_rows_come_in_the_order_asked_for(studio: Studio, ids) -> None:
    found = utterances.load_utterances(studio, "p", ["u3", "gone", "u0", "u3"])
    assert [record.id for record in found] == ["u3", "u0", "u3"]
    view = utterances.load_page(studio, "p", Filter(), "newest", Page(4, 4))
    assert ([r.id for r in view.rows], view.total, view.revision) == (["u1", "u0"], 6, 8)


def test_what_can_be_undone_is_told_however_long_ago_it_was(studio: Studio, ids) -> None:
    """Behind twenty undone actions an older one had been out of sight."""
    live_studio = open_live_studio(studio)
    for turn in range(15):
        change(studio, "flag", f"{turn}", ids=("u0",), n=1)
    for _ in range(15):
        assert load_status(live_studio, "p").can_undo == "flag"
        undo_last(studio, "p")
    assert load_status(live_studio, "p").can_undo == "import"
    undo_last(studio, "p")
    assert load_status(live_studio, "p").can_undo == ""


def test_whether_there_is_something_to_redo_is_told(studio: Studio, ids) -> None:
    """Redo looked usable on the Data page, and did nothing."""
    live_studio = open_live_studio(studio)
    change(studio, "flag", "a", ids=("u0",), n=1)
    assert not load_status(live_studio, "p").can_redo
    undo_last(studio, "p")
    assert load_status(live_studio, "p").can_redo
    redo_last(studio, "p")
    assert not load_status(live_studio, "p").can_redo
    undo_last(studio, "p")
    change(studio, "flag", "b", ids=("u0",), n=1)
    assert not load_status(live_studio, "p").can_redo


class Counting:
    """Starts nothing, and counts how often it was asked to."""

    def __init__(self) -> None:
        self.asked = 0

    def ensure_running(self) -> None:
        self.asked += 1


def test_a_project_at_a_glance(studio: Studio, ids, monkeypatch: pytest.MonkeyPatch) -> None:
    may_load, load = threading.Event(), LiveModels.get
    monkeypatch.setattr(LiveModels, "get", lambda self, key: may_load.wait() and load(self, key))
    executor = Counting()
    live_studio = open_live_studio(replace(studio, executor=executor))
    view = load_status(live_studio, "p")
    assert executor.asked == 0
    assert (view.champion, view.model, view.candidate, view.job) == (None, "none", None, None)
    assert (view.unlabelled, view.revision, view.accuracy, view.hot) == (6, 8, None, 0)
    with studio.database.write() as connection:
        waiting = jobs.enqueue(connection, "train", {}, 1)
        other = projects.create(connection, "other")
        jobs.enqueue(connection, "train", {}, other.id)
    assert load_status(live_studio, "p").job.id == waiting.id
    assert executor.asked == 1  # after a power cut it had been "training 7 %" for ever
    with studio.database.write() as connection:
        values = {"project_id": 1, "tree_sha256": "x", "dataset_version_id": None, "job_id": None}
        values |= {"lineage": {}, "pins": {}, "metrics": {"accuracy": 0.5, "judged_on": "n texts"}}
        versions.cut(connection, projects.get(connection, 1), "first")
        first, _ = models.add(connection, values), models.add(connection, values)
    view = load_status(live_studio, "p")
    assert (view.champion, view.candidate, view.model) == (None, 2, "none")  # held back, both
    with studio.database.write() as connection:
        models.point(connection, first, "local")
    view = load_status(live_studio, "p")
    assert (view.champion, view.candidate, view.model) == (1, 2, "loading")
    assert (view.accuracy, view.judged_on) == (0.5, "n texts")
    may_load.set()
    assert live_studio.pools.wait(1) is None  # its files are not there
    with pytest.raises(NotFound):
        load_status(live_studio, "nobody")
