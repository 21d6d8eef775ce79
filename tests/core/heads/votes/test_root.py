"""The inverse root is that of LAPACK, however many blocks it takes, and leaves others running."""

import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.heads.votes import root as rooting
from core.heads.votes.kernel import square_kernel
from core.heads.votes.root import (
    cholesky,
    inverse_columns,
    inverse_diagonal,
    inverse_factor,
    inverse_root,
)
from core.vectors import unit_rows

TAU, RIDGE = 0.3, 0.1


def rows(n: int, dim: int = 12, seed: int = 0) -> np.ndarray:
    return unit_rows(np.random.default_rng(seed).normal(size=(n, dim)).astype(np.float32))


@settings(deadline=None, max_examples=30)
@given(n=st.integers(1, 40), block=st.integers(1, 45), seed=st.integers(0, 99))
def test_blocks_of_any_size_give_the_inverse_of_the_factor(n: int, block: int, seed: int) -> None:
    unit = rows(n, seed=seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rooting, "_BLOCK", block)
        root = inverse_root(unit, TAU, RIDGE)
        matrix = square_kernel(unit, TAU, RIDGE)
        np.testing.assert_allclose(root, np.linalg.inv(np.linalg.cholesky(matrix)), atol=1e-10)
        right = np.random.default_rng(seed).normal(size=(n, 3))
        np.testing.assert_allclose(matrix @ inverse_columns(root, right), right, atol=1e-10)
    np.testing.assert_allclose(inverse_diagonal(root), np.diagonal(np.linalg.inv(matrix)))


def test_the_inverse_factor_of_a_matrix_is_its_root() -> None:
    unit = rows(30)
    matrix = square_kernel(unit, TAU, RIDGE)
    np.testing.assert_allclose(inverse_factor(matrix.copy()), inverse_root(unit, TAU, RIDGE))
    np.testing.assert_allclose(cholesky(matrix.copy()), np.linalg.cholesky(matrix), atol=1e-12)


def test_a_matrix_that_is_not_positive_definite_is_named() -> None:
    with pytest.raises(np.linalg.LinAlgError, match="row 2"):
        cholesky(np.array([[1.0, 2.0], [2.0, 1.0]]))


def test_other_threads_go_on_while_the_root_is_computed() -> None:
    """With 10,000 exemplars the whole server stood still for 20 s after a label."""
    unit = rows(2_500, dim=32)
    found: list[np.ndarray] = []
    worker = threading.Thread(target=lambda: found.append(inverse_root(unit, TAU, RIDGE)))
    turns = 0
    worker.start()
    while worker.is_alive():
        time.sleep(0.002)
        turns += 1
    assert turns > 20  # a thread that kept the lock left two
    identity = inverse_columns(found[0], square_kernel(unit, TAU, RIDGE))
    assert np.allclose(identity, np.eye(2_500), atol=1e-6)
