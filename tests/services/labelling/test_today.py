"""The day at the card is counted from the log, and the goal stays in the project."""

from datetime import UTC, datetime, timedelta

import pytest

from app.services.data.bulk import Allowed, BulkAct, Edit
from app.services.data.history import undo_action
from app.services.data.projects import create_project
from app.services.data.utterances import change_many
from app.services.labelling.decisions import Operation, decide
from app.services.labelling.today import load_today, pace, set_goal
from app.services.studio import Studio
from app.services.what_if.repairs import Repair, apply_repair
from storage.log import edits, events
from storage.log.events import Action
from storage.queries.utterances import Filter

ALL = Allowed(labelled=True)
MIDNIGHT = datetime.now(UTC) - timedelta(hours=1)


@pytest.fixture
def intent(studio: Studio) -> str:
    """Fifteen unlabelled texts and an intent."""
    project = create_project(studio, "p")
    made = edits.create_intent("a")
    rows = [edits.create_utterance(f"u{i}", f"text {i}", "pool", "f", None) for i in range(15)]
    with studio.database.write() as connection:
        events.record(connection, project.id, Action("import", "local"), [made, *rows])
    return made.subject_id


def act(studio: Studio, key: str, kind: str, row: str, **more) -> None:
    assert decide(studio, "p", [Operation(key, kind, row, **more)])[0].state == "saved"


def test_the_last_ten_decisions_are_named_with_what_undoes_them(studio: Studio, intent) -> None:
    for i in range(12):
        act(studio, f"k{i}", "label", f"u{i}", intents=(intent,))
    act(studio, "k12", "skip", "u12")
    act(studio, "k13", "out-of-scope", "u13")
    act(studio, "k14", "undo", "", of="k11")
    today = load_today(studio, "p", MIDNIGHT)
    assert today.decided == 12  # a skipped text stood as “2 of 100” beside “1 label”
    assert [one.key for one in today.last] == ["k13", "k12", *(f"k{i}" for i in range(10, 2, -1))]
    assert [one.labels for one in today.last[:3]] == [(), None, (intent,)]
    assert today.last[0].text == "text 13"
    act(studio, "k15", "undo", "", of=today.last[2].key)
    again = load_today(studio, "p", MIDNIGHT)
    assert "k10" not in [one.key for one in again.last]
    assert again.decided == 11


def test_all_texts_count_that_this_person_labelled_those_labelled_at_once_too(
    studio: Studio, intent
) -> None:
    """Beside “1,065 labels since training” the day had nine, for most were accepted at once."""
    act(studio, "mine", "label", "u0", intents=(intent,))
    change_many(studio, "p", Filter(ids=("u1", "u2")), Edit("label", intent), BulkAct(2))
    with studio.database.write() as connection:
        other = Action("label", "somebody else", "page", "theirs")
        row = edits.edit(_row(studio, "u3"), "labels", [intent])
        events.record(connection, 1, other, [row])
    today = load_today(studio, "p", MIDNIGHT)
    assert (today.decided, len(today.last)) == (3, 1)
    later = datetime.now(UTC) + timedelta(hours=1)
    tomorrow = load_today(studio, "p", later)
    assert (tomorrow.decided, len(tomorrow.last)) == (0, 1)


def test_labels_of_other_pages_count_and_a_text_counts_once(studio: Studio, intent) -> None:
    """Labels given on Review and at a border were none of today's, and a changed one was two."""
    act(studio, "card", "label", "u0", intents=(intent,))
    apply_repair(studio, "p", Repair("relabel", ("u0",), ()), "changed")
    apply_repair(studio, "p", Repair("relabel", ("u1",), (intent,)), "border")
    apply_repair(studio, "p", Repair("relabel", ("u2",), (intent,)), "found", "next:u2")
    apply_repair(studio, "p", Repair("add", intents=(intent,), value="a new one"), "added")
    apply_repair(studio, "p", Repair("delete", ("u3",)), "gone")
    assert load_today(studio, "p", MIDNIGHT).decided == 4
    undo_action(studio, "p", "found")
    assert load_today(studio, "p", MIDNIGHT).decided == 3
    change_many(studio, "p", Filter(ids=("u1",)), Edit("unlabel"), BulkAct(1, ALL))
    assert load_today(studio, "p", MIDNIGHT).decided == 3  # a label was given all the same


def _row(studio: Studio, key: str):
    from app.services.data.utterances import load_utterances

    return load_utterances(studio, "p", [key])[0]


def test_the_goal_is_kept(studio: Studio, intent) -> None:
    assert load_today(studio, "p", MIDNIGHT).goal is None  # nobody had set the 100 of the page
    set_goal(studio, "p", 40)
    set_goal(studio, "p", 60)
    assert load_today(studio, "p", MIDNIGHT.replace(tzinfo=None)).goal == 60
    set_goal(studio, "p", None)
    assert load_today(studio, "p", MIDNIGHT).goal is None


def test_a_break_is_no_part_of_the_pace() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    seconds = [0, 6, 12, 18, 4000, 4006, 4012]
    assert pace([start + timedelta(seconds=s) for s in seconds]) == pytest.approx(10.0)
    assert pace([start]) is None
    assert pace([start] * 5) is None


@pytest.mark.parametrize(
    ("since", "decisions"),
    [("0001-01-01T00:00:00+00:01", 1), ("9999-12-31T23:59:59-00:01", 0)],
)
def test_a_day_may_begin_at_the_ends_of_time(
    studio: Studio, intent, since: str, decisions: int
) -> None:
    """Neither time exists in UTC, and the page of a person with such a clock got an error."""
    act(studio, "k", "label", "u0", intents=(intent,))
    assert load_today(studio, "p", datetime.fromisoformat(since)).decided == decisions
