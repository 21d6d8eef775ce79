"""Decisions at the card: each once, none overwritten, every refusal in words."""

import subprocess
import sys
import threading
import uuid
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.services.data.intents import change_intent
from app.services.data.projects import create_project
from app.services.labelling import decisions
from app.services.labelling.decisions import Operation, Outcome
from app.services.studio import Studio
from core.errors import Conflict, NotFound
from storage.log import edits, events, versions
from storage.log.events import Action
from storage.queries import dataset
from storage.records import ProjectRecord, UtteranceRecord

SAVED = ("saved", "", "")


def fill(studio: Studio, task: str = "single-label") -> dict[str, str]:
    """Make project "p" with intents a, b, c and six unlabelled texts; return intent ids by name."""
    project = create_project(studio, "p", task)
    made = {name: edits.create_intent(name, position=at) for at, name in enumerate("abc")}
    rows = [edits.create_utterance(f"u{i}", f"text {i}", "pool", "f", None) for i in range(6)]
    with studio.database.write() as connection:
        events.record(connection, project.id, Action("import", "local"), [*made.values(), *rows])
    return {name: change.subject_id for name, change in made.items()}


@pytest.fixture
def ids(studio: Studio) -> dict[str, str]:
    return fill(studio)


def decide(studio: Studio, *operations: Operation) -> list[tuple[str, str, str]]:
    return [(o.state, o.message, o.hint) for o in decisions.decide(studio, "p", operations)]


def label(key: str, row: str, *intents: str, seen: tuple[str, ...] | None = None) -> Operation:
    return Operation(key, "label", row, intents=intents, seen=seen)


def undo(key: str, of: str) -> Operation:
    return Operation(key, "undo", of=of)


def row(studio: Studio, key: str) -> UtteranceRecord:
    with studio.database.read() as connection:
        return dataset.utterance_by_id(connection, 1, key)


def verbs(studio: Studio) -> list[str]:
    with studio.database.read() as connection:
        return [batch.verb for batch in reversed(events.history(connection, 1))]


def names(studio: Studio) -> list[str]:
    with studio.database.read() as connection:
        return [i.name for i in dataset.intents(connection, 1) if not i.archived]


def test_a_label_teaches_and_ends_a_skip(studio: Studio, ids) -> None:
    assert decide(studio, Operation("k1", "skip", "u0")) == [SAVED]
    assert row(studio, "u0").skipped
    assert decide(studio, label("k2", "u0", ids["a"])) == [SAVED]
    now = row(studio, "u0")
    assert (now.labels, now.split, now.skipped) == ((ids["a"],), "train", False)
    assert decide(studio, undo("k3", "k2")) == [SAVED]
    before = row(studio, "u0")
    assert (before.labels, before.split, before.skipped) == (None, "pool", True)


def test_what_was_answered_as_saved_is_never_done_later(studio: Studio, ids) -> None:
    """Who decides the same as another saves nothing, yet the same key, sent again after the other
    has taken theirs back, had put the label back."""
    assert decide(studio, label("mine", "u0", ids["a"])) == [SAVED]
    same = label("same", "u0", ids["a"])
    assert decide(studio, same) == [SAVED]
    assert decide(studio, undo("undo-mine", "mine")) == [SAVED]
    assert decide(studio, same) == [SAVED]
    assert row(studio, "u0").labels is None
    assert verbs(studio) == ["import", "label", "undo"]


def test_undoing_what_another_had_decided_before_says_so(studio: Studio, ids) -> None:
    decide(studio, label("mine", "u0", ids["a"]), label("same", "u0", ids["a"]))
    [(state, message, hint)] = decide(studio, undo("k", "same"))
    assert (state, "had decided the same" in message) == ("conflict", True)
    assert hint.startswith("What they decided stays.")
    assert row(studio, "u0").labels == (ids["a"],)


@pytest.mark.parametrize("of", ["", "never sent", "k2"])
def test_an_undo_of_nothing_is_not_called_saved(studio: Studio, ids, of: str) -> None:
    """It had been, and the label that overtook it stayed without a word."""
    decide(studio, label("k1", "u0", ids["a"]), undo("k2", "k1"))
    [(state, message, hint)] = decide(studio, undo("k3", of))
    assert state == "conflict"
    assert message == "That decision was not saved, so there is nothing to take back."
    assert hint


def test_one_decision_is_undone_though_others_came_after(studio: Studio, ids) -> None:
    decide(
        studio,
        label("k0", "u0", ids["a"]),
        label("k1", "u1", ids["b"]),
        Operation("k2", "flag", "u0", note="odd"),
    )
    assert decide(studio, undo("x", "k0"), undo("x", "k0"), undo("y", "k0")) == [SAVED] * 3
    assert (row(studio, "u0").labels, row(studio, "u0").flagged) == (None, "odd")
    assert not row(studio, "u0").skipped  # it had a label when it was flagged
    assert row(studio, "u1").labels == (ids["b"],)


def test_a_flag_without_a_note_keeps_the_one_that_is_there(studio: Studio, ids) -> None:
    for key, note in (("k0", ""), ("k1", "odd"), ("k2", "")):
        assert decide(studio, Operation(key, "flag", "u0", note=note)) == [SAVED]
    assert row(studio, "u0").flagged == "odd"


def test_an_undo_stops_before_what_was_decided_since(studio: Studio, ids) -> None:
    a, b = ids["a"], ids["b"]
    decide(studio, label("k0", "u0", a), label("k1", "u0", b, seen=(a,)))
    [(state, message, hint)] = decide(studio, undo("x", "k0"))
    assert (state, message) == ("conflict", "Somebody has labelled “text 0” as b since.")
    assert hint.startswith("Nothing was taken back.")
    assert row(studio, "u0").labels == (b,)


def test_undo_leaves_an_intent_that_others_use_by_now(studio: Studio, ids) -> None:
    """It had been deleted under their labels, and the next training failed."""
    made = Operation("k0", "label", "u0", create=("new",))
    decide(studio, made, replace(made, key="k1", id="u1"))
    assert decide(studio, undo("x", "k0")) == [SAVED]
    with studio.database.write() as connection:
        state = versions.state_at(connection, 1, events.head(connection, 1))
        known = {intent.id for intent in state.intent_records()}
        assert {k for r in state.utterance_records() for k in r.labels or ()} <= known
    assert decide(studio, undo("y", "k1")) == [SAVED]
    assert row(studio, "u1").labels is None


def test_an_intent_is_made_once_and_found_by_any_spelling(studio: Studio, ids) -> None:
    create = (" caf\u00e9", "cafe\u0301 ")
    assert decide(studio, Operation("k0", "label", "u0", create=create)) == [SAVED]
    assert decide(studio, Operation("k1", "label", "u1", create=("cafe\u0301",))) == [SAVED]
    assert names(studio) == ["a", "b", "c", "caf\u00e9"]
    assert row(studio, "u0").labels == row(studio, "u1").labels


def test_naming_an_archived_intent_brings_it_back(studio: Studio, ids) -> None:
    change_intent(studio, "p", ids["a"], {"archived": True})
    [(state, message, _)] = decide(studio, label("k0", "u0", ids["a"]))
    assert (state, message) == ("conflict", "The intent 'a' was archived meanwhile.")
    assert decide(studio, Operation("k1", "label", "u0", create=("a",))) == [SAVED]
    assert (row(studio, "u0").labels, names(studio)) == ((ids["a"],), ["a", "b", "c"])


@pytest.mark.parametrize(
    ("operation", "state", "says"),
    [
        (Operation("k", "label", "u0"), "refused", "A label needs an intent."),
        (Operation("k", "label", "u0", create=(" ",)), "refused", "cannot name an intent"),
        (Operation("k", "label", "u0", create=("x" * 201,)), "refused", "cannot name an intent"),
        (Operation("k", "label", "u0", create=("a\0b",)), "refused", "cannot name an intent"),
        (Operation("k", "label", "u0", create=("\ud800",)), "refused", "cannot name an intent"),
        (Operation("k", "label", "u0", create=("x", "y")), "refused", "takes one intent"),
        (Operation("k", "label", "u0", intents=("?" * 10**7,)), "conflict", "There is no intent ?"),
        (Operation("k", "label", "nobody", intents=("?",)), "conflict", "There is no text"),
        (Operation("k", "skip", "?" * 10**7), "conflict", "There is no text '???"),
        (Operation("k", "flag", "u0", note="n" * 10**7), "refused", "cannot be a note"),
        (Operation("k", "flag", "u0", note="\udfff"), "refused", "cannot be a note"),
        (Operation("k", "approve", "u0"), "refused", "'approve' is no decision."),
    ],
)
def test_a_refusal_says_what_and_what_next(studio: Studio, ids, operation, state, says) -> None:
    [(found, message, hint)] = decide(studio, operation)
    assert found == state
    assert says in message
    assert hint
    assert len(message) < 500
    assert verbs(studio) == ["import"]
    assert names(studio) == ["a", "b", "c"]


def test_a_project_that_is_not_there_is_said_to_be_so(studio: Studio) -> None:
    with pytest.raises(NotFound):
        decisions.decide(studio, "p", [])


def test_labels_in_any_order_are_the_same_label(studio: Studio) -> None:
    ids = fill(studio, "multi-label")
    a, b, c = sorted(ids.values())
    assert decide(studio, label("k0", "u0", b, a, b)) == [SAVED]
    assert row(studio, "u0").labels == (a, b)
    assert decide(studio, label("k1", "u0", c, seen=(b, a))) == [SAVED]
    assert row(studio, "u0").labels == (c,)


def test_long_and_foreign_texts_are_labelled_like_any(studio: Studio, ids) -> None:
    texts = ["x" * 10**7, "👩‍👩‍👧 ﷽ \u202e", "ß\u0301", "'; DROP TABLE event; --"]
    rows = [edits.create_utterance(f"t{i}", t, "pool", "f", None) for i, t in enumerate(texts)]
    with studio.database.write() as connection:
        events.record(connection, 1, Action("import", "local"), rows)
    for i, text in enumerate(texts):
        assert decide(studio, label(f"k{i}", f"t{i}", ids["a"])) == [SAVED]
        assert (row(studio, f"t{i}").labels, row(studio, f"t{i}").text) == ((ids["a"],), text)
    [(state, message, _)] = decide(studio, label("other", "t0", ids["b"]))
    assert (state, len(message) < 200) == ("conflict", True)


Plans = st.lists(
    st.tuples(
        st.sampled_from(["label", "unlabel", "skip", "out-of-scope", "undo"]),
        st.integers(0, 2),
        st.integers(0, 2),
        st.integers(1, 3),
    ),
    min_size=1,
    max_size=8,
)


def three_texts(studio: Studio) -> tuple[ProjectRecord, list[str]]:
    """Make a project of unlabelled texts u0 to u2; return it and the ids of three intents."""
    project = create_project(studio, uuid.uuid4().hex)
    made = [edits.create_intent(name) for name in "abc"]
    rows = [edits.create_utterance(f"u{i}", f"text {i}", "pool", "f", None) for i in range(3)]
    with studio.database.write() as connection:
        events.record(connection, project.id, Action("import", "local"), [*made, *rows])
    return project, [change.subject_id for change in made]


@settings(deadline=None, max_examples=10, suppress_health_check=list(HealthCheck))
@given(plan=Plans, random=st.randoms(use_true_random=False))
def test_repeated_and_late_copies_change_nothing(studio, plan, random) -> None:
    """Whatever is sent again, in any order, leaves the data as the first sending made them."""
    project, intents = three_texts(studio)
    sent: list[Operation] = []
    outcomes: dict[str, Outcome] = {}
    for at, (kind, place, intent, _) in enumerate(plan):
        with studio.database.read() as connection:
            seen = dataset.utterance_by_id(connection, project.id, f"u{place}").labels
        chosen = (intents[intent],) if kind == "label" else ()
        of = sent[place % len(sent)].key if sent else ""
        sent.append(Operation(f"k{at}", kind, f"u{place}", chosen, seen=seen, of=of))
        outcomes[f"k{at}"] = decisions.decide(studio, project.name, sent[-1:])[0]
    with studio.database.read() as connection:
        before = list(dataset.utterances(connection, project.id))
        head = events.head(connection, project.id)
    saved = [o for o in sent if outcomes[o.key].state == "saved"]
    copies = [o for o, (_, _, _, times) in zip(sent, plan, strict=True) for _ in range(times)]
    copies = [o for o in copies if o in saved]
    random.shuffle(copies)
    again = decisions.decide(studio, project.name, copies)
    assert {o.state for o in again} <= {"saved"}
    with studio.database.read() as connection:
        assert list(dataset.utterances(connection, project.id)) == before
        assert events.head(connection, project.id) == head


def test_threads_that_send_the_same_and_others_save_each_once(studio: Studio, ids) -> None:
    """Two clients of four threads each send six decisions three times; one label wins a text."""
    outcomes: list[Outcome] = []

    def send(client: str) -> None:
        for _ in range(3):
            for i in range(6):
                operation = label(f"{client}-{i}", f"u{i}", ids[client])
                outcomes.extend(decisions.decide(studio, "p", [operation]))

    threads = [threading.Thread(target=send, args=("ab"[i % 2],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert verbs(studio) == ["import"] + ["label"] * 6
    for i in range(6):
        [winner] = {o.key for o in outcomes if o.key[-1] == str(i) and o.state == "saved"}
        assert row(studio, f"u{i}").labels == (ids[winner[0]],)
        lost = [o for o in outcomes if o.key[-1] == str(i) and o.key != winner]
        assert {o.state for o in lost} == {"conflict"}
        assert f"as {winner[0]} meanwhile" in lost[0].message


def test_a_crash_between_decisions_leaves_all_or_none(studio: Studio, ids) -> None:
    home = studio.places.home
    script = f"""
import os, signal
from pathlib import Path
from app.bootstrap import open_studio
from app.services.labelling import decisions
from app.services.labelling.decisions import Operation
from app.settings import Settings
studio = open_studio(Settings(home=Path({str(home)!r})))
apply, done = decisions._apply, []
def dying(*arguments):
    apply(*arguments)
    done.append(1)
    if len(done) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
decisions._apply = dying
decisions.decide(studio, "p", [Operation(f"k{{i}}", "label", f"u{{i}}", create=("new",))
                               for i in range(6)])
"""
    ended = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True)
    assert ended.returncode == -9, ended.stderr
    assert (verbs(studio), names(studio)) == (["import"], ["a", "b", "c"])
    again = [Operation(f"k{i}", "label", f"u{i}", create=("new",)) for i in range(6)]
    assert decide(studio, *again) == [SAVED] * 6
    assert names(studio) == ["a", "b", "c", "new"]


@pytest.mark.parametrize("beside", [0, 1], ids=["alone", "with another"])
def test_a_decision_refused_half_way_leaves_nothing(studio, ids, monkeypatch, beside) -> None:
    def refused(*_: object) -> None:
        raise Conflict("Changed meanwhile.", "Reload.")

    monkeypatch.setattr(events, "bring_up", refused)  # the act and its event are written by then
    sent = [label(f"k{n}", f"u{n}", ids["a"]) for n in range(1 + beside)]
    assert {state for state, *_ in decide(studio, *sent)} == {"conflict"}
    monkeypatch.undo()
    assert verbs(studio) == ["import"]
    assert decide(studio, *sent) == [SAVED] * len(sent)


def test_an_unforeseen_fault_saves_nothing_of_its_request(studio, ids, monkeypatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(decisions, "_changes", broken)
    with pytest.raises(ZeroDivisionError):
        decisions.decide(studio, "p", [label("k0", "u0", ids["a"])])
    monkeypatch.undo()
    assert decide(studio, label("k0", "u0", ids["a"])) == [SAVED]


@settings(deadline=None, max_examples=25, suppress_health_check=list(HealthCheck))
@given(plan=Plans)
def test_decisions_together_do_what_they_do_one_by_one(studio, plan) -> None:
    """Decisions that wait at the same time are saved by a few statements for all of them."""
    assert effects_of(studio, plan, together=True) == effects_of(studio, plan, together=False)


def effects_of(studio, plan, *, together: bool):
    """Decide as planned in a new project; return outcomes, utterances and history by names."""
    project, intents = three_texts(studio)
    sent = [
        Operation(
            f"k{at - (times == 3)}",  # at times the key of the decision before
            kind,
            f"u{place}",
            (intents[intent],) if (kind, times) in (("label", 1), ("label", 3)) else (),
            create=("new",) if (kind, times) == ("label", 2) else (),
            of=f"k{at - 1}",
        )
        for at, (kind, place, intent, times) in enumerate(plan)
    ]
    parts = [sent] if together else [[one] for one in sent]
    outcomes = [o for part in parts for o in decisions.decide(studio, project.name, part)]
    with studio.database.read() as connection:
        names = dataset.intent_names(connection, project.id)
        utterances = list(dataset.utterances(connection, project.id))
        history = events.history(connection, project.id)
    labels = [one.labels and tuple(names[key] for key in one.labels) for one in utterances]
    return (
        [(o.state, o.message) for o in outcomes],
        [replace(one, labels=None) for one in utterances],
        labels,
        [
            (one.verb, one.last_revision, one.undoes is None, one.undone_by is None)
            for one in history
        ],
    )
