"""Dividing labelled rows: folds that are fair, and the few-shot draw of the literature."""

import hashlib
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InvalidInput
from core.splits import drawn_rows, few_shot, stratified_folds

labelled = st.lists(st.sampled_from(["card", "transfer", "greet", "oos"]), min_size=5, max_size=60)


@settings(deadline=None, max_examples=50)
@given(labelled, st.integers(2, 5), st.integers(0, 9))
def test_each_row_is_in_one_fold(labels: list[str], n_folds: int, seed: int) -> None:
    folds = stratified_folds(labels, n_folds, seed)
    assert len(folds) == n_folds
    assert sorted(np.concatenate(folds).tolist()) == list(range(len(labels)))
    assert all(fold.dtype == np.int64 for fold in folds)


@settings(deadline=None, max_examples=50)
@given(labelled, st.integers(2, 5), st.integers(0, 9))
def test_folds_differ_by_one_row_at_most_in_all_and_in_each_intent(
    labels: list[str], n_folds: int, seed: int
) -> None:
    folds = stratified_folds(labels, n_folds, seed)
    assert max(map(len, folds)) - min(map(len, folds)) <= 1
    counts = [Counter(labels[row] for row in fold) for fold in folds]
    for label in set(labels):
        held = [count[label] for count in counts]
        assert max(held) - min(held) <= 1


def test_a_seed_gives_its_folds_again_and_another_gives_others() -> None:
    labels = ["a", "b"] * 20
    first, again, other = (stratified_folds(labels, 4, seed) for seed in (3, 3, 4))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))


@pytest.mark.parametrize(("n_rows", "n_folds"), [(1, 2), (4, 5), (5, 1), (0, 2)])
def test_too_few_rows_or_folds_are_refused(n_rows: int, n_folds: int) -> None:
    with pytest.raises(InvalidInput, match=f"{n_rows} labelled utterances"):
        stratified_folds(["a"] * n_rows, n_folds, 0)


def test_few_shot_takes_n_rows_of_each_intent_in_sorted_order() -> None:
    labels = ["b"] * 5 + ["a"] * 3
    picks = few_shot(labels, 2)
    assert [labels[row] for row in picks] == ["a", "a", "b", "b"]
    assert len(set(picks.tolist())) == 4


def test_few_shot_names_the_intent_that_is_too_small() -> None:
    with pytest.raises(InvalidInput, match="'a' has 1 utterances; a 2-shot draw needs 2"):
        few_shot(["a", "b", "b"], 2)


BANKING77 = """
162 159 110 126 87 127 171 181 156 157 129 59 153 112 139 112 187 168 167 61 177 160 122 86 35 129
153 173 133 182 121 121 121 112 118 166 137 126 97 106 129 98 82 121 120 105 159 143 149 148 115 95
169 161 129 108 111 114 114 145 97 146 103 175 172 113 171 128 102 104 113 126 41 135 121 180 163
"""
"""How many training texts each intent has, by its name in sorted order."""
SIZES = {"banking77": [int(size) for size in BANKING77.split()], "clinc150": [100] * 150}
PUBLISHED = [
    ("banking77", 10, "ca69971ab30a9e1371e91dfeae35070031fbdbb44e1d876cab167d78a10076e5"),
    ("banking77", 30, "66903d1a49767469d385cda23e9f71329ad3c20b7e3b2972d5b4fea1af40367c"),
    ("clinc150", 10, "bd35748f938749e64036c8075faee3c2bfddbaacd2a1726f5d92b4ed24bf103c"),
    ("clinc150", 30, "11cdee8fb45ef45e1e4fa3578c2bfa94ec7c5da6450d5d3a0a92c274985f1a77"),
]
"""SHA-256 of the rows of DialoGLUE's few-shot files, where training texts go by their intent."""


@pytest.mark.parametrize(("name", "n", "digest"), PUBLISHED)
def test_few_shot_repeats_the_published_draw_row_by_row(name: str, n: int, digest: str) -> None:
    """It was compared only where the data lay beside the project: on its author's machine."""
    labels = np.repeat([f"{number:03}" for number in range(len(SIZES[name]))], SIZES[name])
    picks = few_shot(labels.tolist(), n, seed=0)
    assert hashlib.sha256(picks.astype("<i8").tobytes()).hexdigest() == digest


def test_a_draw_takes_at_most_as_many_rows_in_order_and_again_by_its_seed() -> None:
    first, again, other = (drawn_rows(50, 20, seed) for seed in (3, 3, 4))
    assert (len(set(first)), first.tolist()) == (20, sorted(first))
    assert first.tolist() == again.tolist() != other.tolist()
    assert drawn_rows(5, 20, 0).tolist() == drawn_rows(5, None, 0).tolist() == [0, 1, 2, 3, 4]
