"""Dividing labelled rows: folds that are fair, and the few-shot draw of the literature."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InvalidInput
from core.formats.reading import read_rows
from core.formats.rows import ImportedRow
from core.splits import drawn_rows, few_shot, stratified_folds

DATA = Path(__file__).parents[3] / "shared" / "data"

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


@pytest.mark.parametrize("name", ["banking77", "clinc150"])
@pytest.mark.parametrize("n", [10, 30])
def test_few_shot_repeats_the_published_draw_row_by_row(name: str, n: int) -> None:
    folder = DATA / name
    if not folder.is_dir():
        pytest.skip(f"the evaluation data are not at {folder}")
    train, published = (_read(folder / file) for file in ("train.csv", f"train_{n}.csv"))
    picks = few_shot([label for _, label in train], n, seed=0)
    assert [train[row] for row in picks] == published


def _read(path: Path) -> list[tuple[str, str]]:
    rows = [row for row in read_rows(path) if isinstance(row, ImportedRow)]
    return [(row.text, row.intents[0]) for row in rows if row.intents]


def test_a_draw_takes_at_most_as_many_rows_in_order_and_again_by_its_seed() -> None:
    first, again, other = (drawn_rows(50, 20, seed) for seed in (3, 3, 4))
    assert (len(set(first)), first.tolist()) == (20, sorted(first))
    assert first.tolist() == again.tolist() != other.tolist()
    assert drawn_rows(5, 20, 0).tolist() == drawn_rows(5, None, 0).tolist() == [0, 1, 2, 3, 4]
