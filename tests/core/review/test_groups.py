"""Groups within an intent's texts are found, and other texts join the one they resemble."""

import numpy as np
import pytest

from core.review.groups import find_groups


def bundles(sizes: list[int], noise: float = 0.05) -> np.ndarray:
    """Rows around as many orthogonal directions as there are sizes."""
    generator = np.random.default_rng(0)
    rows = [np.eye(8)[axis] + noise * generator.normal(size=8) for axis in _axes(sizes)]
    return np.array(rows, dtype=np.float32)


def _axes(sizes: list[int]) -> list[int]:
    return [axis for axis, size in enumerate(sizes) for _ in range(size)]


@pytest.mark.parametrize("sizes", [[9, 5], [8, 6, 4], [7, 6, 5, 4]])
def test_as_many_groups_are_found_as_there_are_the_largest_first(sizes: list[int]) -> None:
    groups = find_groups(bundles(sizes))
    assert groups is not None
    assert groups.of.tolist() == _axes(sizes)
    assert groups.silhouette > 0.8
    assert groups.nearest(np.eye(8, dtype=np.float32)[: len(sizes)]).tolist() == list(
        range(len(sizes))
    )


def test_the_typical_texts_of_a_group_lie_next_to_its_centre() -> None:
    rows = bundles([6, 4])
    groups = find_groups(rows)
    assert groups is not None
    order = groups.typical(0, rows)
    closeness = (rows[order] / np.linalg.norm(rows[order], axis=1, keepdims=True)) @ groups.centres[
        0
    ]
    assert sorted(order.tolist()) == list(range(6))
    assert np.all(np.diff(closeness) <= 1e-6)


def test_there_are_always_two_groups_to_propose_even_where_nothing_parts_them() -> None:
    generator = np.random.default_rng(1)
    groups = find_groups(generator.normal(size=(12, 8)).astype(np.float32))
    assert groups is not None
    assert len(groups.centres) >= 2


def test_a_single_odd_text_is_no_group_and_joins_what_it_resembles_most() -> None:
    """The second of two proposed groups had been one text that was unlike all others."""
    odd = np.eye(8, dtype=np.float32)[7:] + 0.1 * np.eye(8, dtype=np.float32)[1:2]
    groups = find_groups(np.concatenate([bundles([7, 6]), odd]), 2)
    assert groups is not None
    assert sorted(np.bincount(groups.of).tolist()) in ([6, 8], [7, 7])


def test_many_equal_texts_among_a_few_others_still_divide() -> None:
    rows = np.concatenate([np.repeat(bundles([1]), 30, axis=0), bundles([2, 2, 2])])
    groups = find_groups(rows)
    assert groups is not None
    assert len(groups.of) == len(rows)


@pytest.mark.parametrize("rows", [bundles([3]), np.ones((9, 8), np.float32), bundles([])[:0]])
def test_too_few_or_equal_texts_have_no_groups(rows: np.ndarray) -> None:
    assert find_groups(rows.reshape(-1, 8)) is None
