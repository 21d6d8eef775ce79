import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.heads.build import head_from_arrays, head_to_arrays, with_inverse
from core.heads.kernel import kernel
from core.heads.selection import best_settings
from core.heads.votes import (
    VoteHead,
    add,
    fit_subset_votes,
    fit_votes,
    leave_one_out,
    relabel,
    remove,
    votes,
)
from core.vectors import unit_rows

seeds = st.integers(0, 2**31 - 1)
few = settings(deadline=None, max_examples=25)


def problem(seed: int, n: int = 24, c: int = 3, d: int = 8):
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, c, n)
    centres = generator.normal(size=(c, d))
    x = (centres[labels] + 0.7 * generator.normal(size=(n, d))).astype(np.float32)
    return x, np.eye(c)[labels], [f"i{j}" for j in range(c)]


def same(left: VoteHead, right: VoteHead) -> bool:
    return bool(
        np.allclose(left.weights, right.weights, atol=1e-8)
        and np.allclose(left.prior, right.prior, atol=1e-12)
        and np.allclose(left.inverse, right.inverse, atol=1e-8)
    )


def test_a_hand_computed_score() -> None:
    """Two exemplars at right angles: k(x, x) = 1, k(x, y) = exp(-1 / tau)."""
    x = np.array([[1, 0], [0, 1]], dtype=np.float32)
    head = fit_votes(x, np.eye(2), ["a", "b"], tau=0.5, ridge=0.1)
    far = np.exp(-2.0)
    # By symmetry (K + 0.1 I) A = Y - 0.5 has A = 0.5 / (1.1 - far) on the right side of the sign.
    expected = 0.5 / (1.1 - far)
    assert head.weights == pytest.approx(np.array([[expected, -expected], [-expected, expected]]))
    assert head.scores(x)[0] == pytest.approx(
        [0.5 + expected * (1 - far), 0.5 - expected * (1 - far)]
    )


@few
@given(seeds)
def test_votes_and_prior_add_up_to_the_score(seed: int) -> None:
    x, y, names = problem(seed)
    head = fit_votes(x, y, names, 0.3, 0.1)
    asked = np.random.default_rng(seed + 1).normal(size=(5, x.shape[1])).astype(np.float32)
    for column in range(3):
        total = votes(head, asked, column).sum(1) + head.prior[column]
        assert total == pytest.approx(head.scores(asked)[:, column], abs=1e-9)


@few
@given(seeds)
def test_leave_one_out_equals_fitting_without_the_exemplar_at_the_same_prior(seed: int) -> None:
    x, y, names = problem(seed, n=14)
    head = fit_votes(x, y, names, 0.3, 0.1)
    closed = leave_one_out(head)
    unit = unit_rows(x)
    for i in range(len(x)):
        rest = np.delete(np.arange(len(x)), i)
        matrix = kernel(unit[rest], unit[rest], 0.3) + 0.1 * np.eye(len(rest))
        weights = np.linalg.solve(matrix, y[rest] - head.prior)
        score = kernel(unit[i : i + 1], unit[rest], 0.3) @ weights + head.prior
        assert closed[i] == pytest.approx(score[0], abs=1e-6)


@few
@given(seeds)
def test_adding_equals_fitting_again(seed: int) -> None:
    x, y, names = problem(seed)
    grown = add(fit_votes(x[:20], y[:20], names, 0.3, 0.1), x[20:], y[20:])
    assert same(grown, fit_votes(x, y, names, 0.3, 0.1))


@few
@given(seeds)
def test_removing_equals_fitting_again(seed: int) -> None:
    x, y, names = problem(seed)
    left = remove(fit_votes(x, y, names, 0.3, 0.1), [3, 7, 11])
    rest = np.delete(np.arange(len(x)), [3, 7, 11])
    assert same(left, fit_votes(x[rest], y[rest], names, 0.3, 0.1))


@few
@given(seeds)
def test_relabelling_equals_fitting_again(seed: int) -> None:
    x, y, names = problem(seed)
    changed = y.copy()
    changed[5] = [0.0, 0.5, 0.5]
    moved = relabel(fit_votes(x, y, names, 0.3, 0.1), 5, changed[5])
    assert same(moved, fit_votes(x, changed, names, 0.3, 0.1))


def test_a_subset_of_all_exemplars_is_the_full_solution() -> None:
    x, y, names = problem(1, n=40)
    whole = fit_votes(x, y, names, 0.3, 0.1)
    subset = fit_subset_votes(x, y, names, (0.3, 0.1), list(range(40)))
    assert subset.scores(x) == pytest.approx(whole.scores(x), abs=1e-4)


def test_a_subset_learns_from_labels_of_exemplars_that_do_not_vote() -> None:
    x, y, names = problem(2, n=300)
    subset = fit_subset_votes(x, y, names, (0.3, 0.1), list(range(0, 300, 10)))
    alone = fit_votes(x[::10], y[::10], names, 0.3, 0.1)
    right = [(h.scores(x).argmax(1) == y.argmax(1)).mean() for h in (subset, alone)]
    assert right[0] >= right[1]
    assert len(subset.exemplars) == 30


def test_the_chosen_settings_have_the_least_leave_one_out_loss() -> None:
    x, y, names = problem(3, n=60)

    def loss(tau: float, ridge: float) -> float:
        scores = 10.0 * leave_one_out(fit_votes(x, y, names, tau, ridge))
        shares = np.exp(scores - scores.max(1, keepdims=True))
        shares /= shares.sum(1, keepdims=True)
        return float(-np.log(shares[np.arange(60), y.argmax(1)]).mean())

    best = best_settings(x, y, None, None)
    every = {(t, r): loss(t, r) for t in (0.2, 0.3, 0.4) for r in (0.05, 0.1, 0.2)}
    assert every[best] == pytest.approx(min(every.values()), abs=1e-6)


def test_a_stored_head_scores_bit_for_bit_the_same() -> None:
    x, y, names = problem(4)
    head = fit_votes(x, y, names, 0.3, 0.1)
    again = head_from_arrays(*head_to_arrays(head))
    assert np.array_equal(again.scores(x), head.scores(x))
    assert isinstance(again, VoteHead)
    assert same(with_inverse(again), head)
