from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from storage import projects
from storage.database import open_database
from storage.log import edits, events, versions
from storage.log.diff import DatasetDiff, diff_states
from storage.log.events import Action
from storage.log.replay import State
from storage.queries import dataset


def intent(name: str, **other: Any) -> dict[str, Any]:
    row = {"name": name, "description": "", "color": "", "position": 0, "archived": 0}
    return {**row, **other}


def row(text: str, labels: list[str] | None, **other: Any) -> dict[str, Any]:
    base = {"split": "train", "source": "f", "skipped": 0, "flagged": ""}
    return {"text": text, "labels": labels, **base, **other}


def start() -> State:
    intents = {"A": intent("refund"), "B": intent("parcel"), "C": intent("greeting")}
    rows = {f"u{i}": row(f"text {i}", ["ABC"[i % 3]]) for i in range(6)}
    return State(intents, {**rows, "u6": row("text 6", None, split="pool")})


def changed(**rows: dict[str, Any] | None) -> DatasetDiff:
    """What replacing rows of the start (None: without them) is said to be."""
    old, new = start(), start()
    for key, value in rows.items():
        where = new.intents if key in "ABCD" else new.utterances
        if value is None:
            del where[key]
        else:
            where[key] = value
    return diff_states(old, new)


def test_equal_states_differ_in_nothing() -> None:
    assert diff_states(start(), start()) == DatasetDiff((), (), ("nothing changed",))


@pytest.mark.parametrize(
    ("key", "after", "kind", "values", "words"),
    [
        ("u7", row("new", ["B"]), "added", (None, ("parcel",)), "1 added"),
        ("u0", None, "removed", (("refund",), None), "1 removed"),
        ("u6", row("text 6", [], split="pool"), "labelled", (None, ()), "1 labelled"),
        # Its label took it to the training set: nobody moved it.
        ("u6", row("text 6", ["A"], split="train"), "labelled", (None, ("refund",)), "1 labelled"),
        ("u0", row("text 0", ["B"]), "relabelled", (("refund",), ("parcel",)), "1 relabelled"),
        ("u0", row("text 0", None), "unlabelled", (("refund",), None), "1 no longer labelled"),
        ("u0", row("other", ["A"]), "edited", ("text 0", "other"), "1 edited"),
        (
            "u0",
            row("text 0", ["A"], split="test"),
            "moved",
            ("train", "test"),
            "1 moved between training and test set",
        ),
        ("u0", row("text 0", ["A"], flagged="odd"), "flagged", ("", "odd"), "1 flagged"),
        ("u0", row("text 0", ["A"], skipped=1), "skipped", (None, None), "1 skipped"),
        # An import that only completed texts was said to change nothing.
        (
            "u0",
            row("text 0", ["A"], beside='{"language": "de"}'),
            "completed",
            (None, None),
            "1 with other fields of a file",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_change_of_an_utterance_is_one_row_with_before_and_after(
    key: str, after: dict[str, Any] | None, kind: str, values: tuple, words: str
) -> None:
    found = changed(**{key: after})
    assert [(c.kind, c.id, c.before, c.after) for c in found.utterances] == [(kind, key, *values)]
    assert found.words == (words,)
    back = diff_states(
        State(start().intents, {key: after} if after else {}),
        State(start().intents, {key: start().utterances[key]} if key != "u7" else {}),
    )
    assert [(c.before, c.after) for c in back.utterances] == [values[::-1]]


def test_a_row_that_changed_twice_over_counts_twice_and_shows_its_newest_text() -> None:
    found = changed(u0=row("other", ["B"], split="test"), u1=row("text 1", ["C"]))
    kinds = [(c.kind, c.id) for c in found.utterances]
    assert kinds == [("relabelled", "u0"), ("relabelled", "u1"), ("edited", "u0"), ("moved", "u0")]
    assert {c.text for c in found.utterances if c.id == "u0"} == {"other"}
    assert found.words == ("2 relabelled", "1 edited", "1 moved between training and test set")


@pytest.mark.parametrize(
    ("key", "after", "kind", "values", "words"),
    [
        ("A", intent("refunds"), "renamed", ("refund", "refunds"), "renamed to 'refunds'"),
        ("A", intent("refund", archived=1), "archived", ("refund", None), "archived"),
        ("A", intent("refund", description="x"), "described", ("", "x"), "described anew"),
        ("A", intent("refund", color="red"), "recoloured", ("", "red"), "recoloured"),
        ("A", intent("refund", position=3), "reordered", ("0", "3"), "reordered"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_change_of_an_intent_is_one_row_and_touches_no_utterance(
    key: str, after: dict[str, Any], kind: str, values: tuple, words: str
) -> None:
    found = changed(**{key: after})
    assert found.utterances == ()
    assert [(c.kind, c.id, c.before, c.after) for c in found.intents] == [(kind, key, *values)]
    assert found.words == (f"intent 'refund' {words}",)


def test_an_archived_intent_whose_utterances_went_to_another_was_merged_into_it() -> None:
    moved = {"u0": row("text 0", ["B"]), "u3": row("text 3", ["B"])}
    found = changed(A=intent("refund", archived=1), **moved)
    assert found.words == ("2 relabelled", "intent 'refund' merged into 'parcel'")
    assert [(c.kind, c.after) for c in found.intents] == [("merged", "parcel")]
    expected = [("relabelled", ("parcel",)), ("relabelled", ("parcel",))]
    assert [(c.kind, c.after) for c in found.utterances] == expected
    split = {"u0": row("text 0", ["B"]), "u3": row("text 3", ["C"])}
    assert changed(A=intent("refund", archived=1), **split).words[1] == "intent 'refund' archived"


def test_several_intents_are_counted_and_the_first_are_named() -> None:
    old, new = State(), State({str(i): intent(f"i{i}") for i in range(5)})
    assert diff_states(old, new).words == ("5 intents created: 'i0', 'i1', 'i2' and 2 more",)
    assert diff_states(new, old).words == ("5 intents removed: 'i0', 'i1', 'i2' and 2 more",)
    renamed = State({str(i): intent(f"j{i}") for i in range(5)})
    assert diff_states(new, renamed).words == ("5 intents renamed",)
    few = State({"0": intent("i0"), "1": intent("i1")})
    assert diff_states(old, few).words == ("2 intents created: 'i0', 'i1'",)


def test_what_versions_changed_is_the_same_from_whole_states_and_in_one_pass(
    tmp_path: Path,
) -> None:
    database = open_database(tmp_path / "studio.db")
    with database.write() as connection:
        project = projects.create(connection, "p")
        made = [edits.create_intent(name) for name in "ab"]
        rows = [
            edits.create_utterance(f"u{i}", f"t{i}", "train", "f", [made[i % 2].subject_id])
            for i in range(4)
        ]

        def act(*changes) -> None:
            events.record(connection, project.id, Action("x", "local"), changes)
            versions.cut(connection, project, "x")

        act(*made, *rows)
        act(*edits.merge_intents(connection, project.id, "a", "b"))
        act(edits.rename_intent(connection, project.id, "b", "c"))
        act(edits.delete_utterance(dataset.utterance_by_id(connection, project.id, "u3")))
        revisions = [0] + [v.revision for v in versions.list_all(connection, project.id)]
        whole = [
            diff_states(*versions.states_between(connection, project.id, *pair))
            for pair in pairwise(revisions)
        ]
        assert versions.successive_diffs(connection, project.id) == whole
        back = versions.states_between(connection, project.id, revisions[4], revisions[3])
        assert diff_states(*back).words == ("1 added",)
    database.close()
    assert [d.words for d in whole] == [
        ("4 added", "2 intents created: 'a', 'b'"),
        ("2 relabelled", "intent 'a' merged into 'b'"),
        ("intent 'b' renamed to 'c'",),
        ("1 removed",),
    ]


def test_ten_thousand_rows_are_summed_up_in_words() -> None:
    intents = {str(i): intent(f"i{i}") for i in range(77)}
    old = State(intents, {f"u{i}": row(f"t{i}", [str(i % 77)]) for i in range(10_000)})
    new = State(intents, {f"u{i}": row(f"t{i}", [str(i % 76)]) for i in range(10_000)})
    found = diff_states(old, new)
    assert found.words == (f"{sum(i % 77 != i % 76 for i in range(10_000)):,} relabelled",)
