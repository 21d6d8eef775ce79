"""A group is known where labels are near, or a chain of similar texts leads to one."""

import numpy as np
import pytest

from core.discover import known
from core.discover.grouping import founded
from core.discover.known import chances, known_groups, least_known_first, walked
from tests.builders.toy_embeddings import clusters


def test_the_groups_without_a_label_are_known_least() -> None:
    toy = clusters(10, 60, 0.4, seed=1, dim=24)
    grouping = founded(toy.rows, toy.columns)
    labelled = toy.rows[(toy.columns < 8) & (np.arange(600) % 60 < 3)]
    found = known_groups(grouping, toy.rows, labelled)
    assert found.shape == (10,)
    assert ((found >= 0) & (found <= 1)).all()
    assert set(least_known_first(found, grouping.sizes)[:2].tolist()) == {8, 9}
    assert chances(grouping, labelled)[8:].max() < 0.1 < chances(grouping, labelled)[:8].min()
    walks = walked(grouping, toy.rows, labelled)
    assert walks[8:].max() < 0.5 * walks[:8].min()


def test_few_labels_say_less_of_a_small_group_than_of_a_large_one() -> None:
    """Small groups of known subjects, which no label happens to reach, stood before new ones."""
    of = np.repeat([0, 1, 2], [80, 10, 110])
    rows = np.eye(8, dtype=np.float32)[of]
    grouping = founded(rows, of)
    found = chances(grouping, np.repeat(rows[-1:], 20, 0))
    assert found.tolist() == pytest.approx([np.exp(-8.0), np.exp(-1.0), 0.9953], abs=1e-3)
    assert chances(grouping, rows[::10])[0] == pytest.approx(0.5925, abs=1e-3)  # 8 of 8 expected


def test_a_chain_of_similar_texts_makes_its_far_end_known() -> None:
    turns = np.linspace(0, np.pi / 2, 60)
    chain = np.stack([np.cos(turns), np.sin(turns), np.zeros(60)], axis=1)
    island = chain[-20:] * [0, 0.1, 0] + [0, 0, 1]
    rows = np.concatenate([chain, island]).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    of = np.repeat([0, 1, 2], [30, 30, 20])
    near, end, apart = walked(founded(rows, of), rows, rows[:1])
    assert near > end > apart == pytest.approx(0.0)


def test_without_labels_nothing_is_known_and_a_sample_knows_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    toy = clusters(4, 50, 0.3, seed=2)
    grouping = founded(toy.rows, toy.columns)
    assert known_groups(grouping, toy.rows, toy.rows[:0]).tolist() == [0.0] * 4
    labelled = toy.rows[toy.columns < 3][::10]
    every = known_groups(grouping, toy.rows, labelled)
    monkeypatch.setattr(known, "_MOST", 60)
    some = known_groups(grouping, toy.rows, labelled)
    assert int(every.argmin()) == int(some.argmin()) == 3
    monkeypatch.setattr(known, "_MOST", 1)
    assert np.isfinite(known_groups(grouping, toy.rows, labelled)).all()


def test_of_equally_known_groups_the_largest_comes_first() -> None:
    order = least_known_first(np.array([0.5, 0.1, 0.5], np.float32), np.array([3, 9, 7]))
    assert order.tolist() == [1, 2, 0]
