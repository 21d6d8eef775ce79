"""The three-way rule, against a plain reading of it, for any interleaving of changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InvalidInput
from core.sync.driver import merge_files
from core.sync.lines import UTTERANCE, UTTERANCE_PARTS, written
from core.sync.merge import Row, merge, merged

KEYS = ("a1", "b2", "c3", "d4")
LABELS = (None, (), ("1",), ("2",), ("3",))


def utterance(key: str, labels: tuple[str, ...] | None = None, **changes: object) -> Row:
    row = {
        "id": key,
        "text": f"text {key}",
        "labels": None if labels is None else list(labels),
        "split": "train",
        "source": "",
        "skipped": False,
        "flagged": "",
        "slots": [],
        "synthetic": "",
        "beside": "",
    }
    return row | changes


START = {key: utterance(key) for key in KEYS}
people = st.sampled_from(("anna", "ben"))
relabels = st.tuples(people, st.sampled_from(KEYS), st.sampled_from(LABELS))
merges = st.tuples(people, st.just(""), st.none())


def labels_of(rows: dict[str, Row]) -> dict[str, object]:
    return {key: row["labels"] for key, row in rows.items()}


@given(st.lists(relabels | merges, max_size=30))
def test_any_interleaving_of_label_changes_merges_by_the_rule(
    steps: list[tuple[str, str, tuple[str, ...] | None]],
) -> None:
    """Each person labels, or merges the other's branch; then both have the merged state."""
    rows = {"anna": dict(START), "ben": dict(START)}
    base: dict[str, Row] = dict(START)
    for who, key, labels in steps:
        if key:
            rows[who][key] = utterance(key, labels)
            continue
        mine, theirs = rows[who], rows["ben" if who == "anna" else "anna"]
        expected, undecided = {}, set()
        for one in KEYS:
            was, ours, others = (of[one]["labels"] for of in (base, mine, theirs))
            expected[one] = others if ours == was else ours
            if ours != was and others not in (was, ours):
                undecided.add(one)
        found = merge(base, mine, theirs, UTTERANCE_PARTS)
        assert set(found.conflicts) == undecided
        after = merged(mine, found.to_project)
        assert labels_of(after) == {
            one: mine[one]["labels"] if one in undecided else expected[one] for one in KEYS
        }
        over = merged(theirs, found.to_folder)
        assert {k: v for k, v in labels_of(over).items() if k not in undecided} == {
            k: v for k, v in labels_of(after).items() if k not in undecided
        }
        in_git, n = merge_files(
            *(written(of, UTTERANCE) for of in (base, mine, theirs)), "utterances.jsonl"
        )
        assert n == len(undecided)
        if n:
            assert in_git.count(b"<<<<<<<") == n
        else:
            assert in_git == written(after, UTTERANCE)
        # Whoever merges decides, and the other takes it over.
        rows = {"anna": dict(after), "ben": dict(after)}
        base = dict(after)


def test_a_row_that_one_side_removed_and_the_other_changed_is_a_conflict() -> None:
    base = {"a1": utterance("a1", ("1",))}
    found = merge(base, {}, {"a1": utterance("a1", ("2",))}, UTTERANCE_PARTS)
    assert (found.conflicts, found.to_project, found.to_folder) == (("a1",), {}, {})
    assert merge(base, {}, base, UTTERANCE_PARTS).to_folder == {"a1": None}
    assert merge(base, base, {}, UTTERANCE_PARTS).to_project == {"a1": None}


def test_changes_of_different_parts_are_both_taken_and_slots_go_with_their_text() -> None:
    base = {"a1": utterance("a1", ("1",))}
    mine, theirs = utterance("a1", ("2",)), utterance("a1", ("1",), split="test")
    found = merge(base, {"a1": mine}, {"a1": theirs}, UTTERANCE_PARTS)
    both = utterance("a1", ("2",), split="test")
    assert (found.to_project, found.to_folder) == ({"a1": both}, {"a1": both})
    moved = utterance("a1", ("1",), text="a text")
    marked = utterance("a1", ("1",), slots=[[0, 4, "x"]])
    assert merge(base, {"a1": moved}, {"a1": marked}, UTTERANCE_PARTS).conflicts == ("a1",)


def test_git_is_told_of_broken_lines_and_of_files_that_are_none_of_a_project() -> None:
    with pytest.raises(InvalidInput, match=r"utterances\.jsonl, line 1: this is no JSON"):
        merge_files(b"{", b"", b"", "utterances.jsonl")
    with pytest.raises(InvalidInput, match="no file of a project"):
        merge_files(b"", b"", b"", "notes.jsonl")
