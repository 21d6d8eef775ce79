import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from core.vectors import cosines, nearest, unit_rows


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 10_000), size=st.floats(1e-5, 1e5))
def test_scaling_to_length_one_twice_equals_scaling_once(seed: int, size: float) -> None:
    rows = (np.random.default_rng(seed).normal(size=(20, 33)) * size).astype(np.float32)
    unit = unit_rows(rows)
    np.testing.assert_allclose(np.linalg.norm(unit.astype(np.float64), axis=1), 1.0, atol=1e-6)
    np.testing.assert_array_equal(unit_rows(unit), unit)
    assert unit.dtype == np.float32


def test_a_zero_row_stays_zero() -> None:
    np.testing.assert_array_equal(unit_rows(np.zeros((2, 3), np.float32)), np.zeros((2, 3)))


def test_cosines_do_not_depend_on_how_many_rows_are_compared() -> None:
    rows = unit_rows(np.random.default_rng(0).normal(size=(300, 384)).astype(np.float32))
    alone = np.concatenate([cosines(rows[row : row + 1], rows) for row in range(0, 300, 50)])
    np.testing.assert_allclose(alone, cosines(rows, rows)[::50], atol=1e-14)


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 10_000), k=st.integers(0, 12))
def test_nearest_sorts_by_value_and_equal_values_by_column(seed: int, k: int) -> None:
    values = np.random.default_rng(seed).integers(0, 4, (7, 9)).astype(np.float64)
    expected = np.argsort(-values, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(nearest(values, k), expected)


def test_nearest_of_nothing_is_nothing() -> None:
    assert nearest(np.zeros((3, 0)), 5).shape == (3, 0)
    assert nearest(np.zeros((0, 4)), 2).shape == (0, 2)
