import numpy as np
import pytest

from core.heads.votes.fit import (
    VoteHead,
    fit_votes,
    leave_fold_out,
    leave_one_out,
    root_of,
    votes,
    votes_for,
)
from core.heads.votes.kernel import kernel
from core.vectors import cosines, unit_rows
from tests.builders.toy_embeddings import clusters

TAU, RIDGE = 0.3, 0.1


def fitted(seed: int = 0, n_intents: int = 4, per_intent: int = 6) -> VoteHead:
    toy = clusters(n_intents, per_intent, spread=0.8, seed=seed)
    return fit_votes(toy.rows, toy.targets, toy.intents, TAU, RIDGE)


def test_two_exemplars_give_the_scores_worked_out_by_hand() -> None:
    """Two orthogonal texts: K = [[1, e], [e, 1]], e = exp(-2); A = +-0.5 / (1.1 - e)."""
    rows = np.eye(2, dtype=np.float32)
    head = fit_votes(rows, np.eye(2), ("a", "b"), tau=0.5, ridge=0.1)
    e = np.exp(-2.0)
    a = 0.5 / (1.1 - e)
    np.testing.assert_allclose(head.weights, [[a, -a], [-a, a]], atol=1e-12)
    np.testing.assert_allclose(head.prior, [0.5, 0.5])
    expected = 0.5 + a * (1 - e)
    np.testing.assert_allclose(head.scores(rows[:1]), [[expected, 1 - expected]], atol=1e-12)


def test_weights_solve_the_ridge_equations() -> None:
    head = fitted()
    matrix = kernel(head.exemplars, head.exemplars, TAU) + RIDGE * np.eye(len(head.exemplars))
    np.testing.assert_allclose(matrix @ head.weights, head.targets - head.prior, atol=1e-10)


def test_votes_and_prior_sum_to_the_score_of_every_intent() -> None:
    head = fitted()
    texts = clusters(4, 5, spread=1.0, seed=8).rows * 3
    for embedding, scores in zip(texts, head.scores(texts), strict=True):
        signed = votes(head, embedding)
        assert signed.shape == head.targets.shape
        np.testing.assert_allclose(signed.sum(0) + head.prior, scores, atol=1e-10)


def test_votes_for_one_intent_per_text_are_the_columns_of_all_votes() -> None:
    head = fitted()
    texts = clusters(4, 3, spread=1.0, seed=8).rows
    columns = np.arange(len(texts)) % 4
    chosen = votes_for(head, cosines(unit_rows(texts), head.exemplars), columns)
    for row, column in enumerate(columns):
        np.testing.assert_allclose(chosen[row], votes(head, texts[row])[:, column], atol=1e-12)


def test_scores_of_one_label_each_sum_to_one() -> None:
    head = fitted()
    np.testing.assert_allclose(head.scores(-head.exemplars).sum(1), 1.0, atol=1e-10)


def test_a_text_scores_the_same_alone_and_among_others() -> None:
    head = fitted()
    texts = clusters(4, 300, spread=1.0, seed=3).rows
    alone = np.concatenate([head.scores(texts[row : row + 1]) for row in range(0, 1_200, 97)])
    np.testing.assert_allclose(alone, head.scores(texts)[::97], atol=1e-12)


def test_the_length_of_an_embedding_does_not_count() -> None:
    toy = clusters(3, 5, spread=0.5, seed=1)
    lengths = np.linspace(0.1, 9, len(toy.rows), dtype=np.float32)[:, None]
    head = fit_votes(toy.rows, toy.targets, toy.intents, TAU, RIDGE)
    longer = fit_votes(toy.rows * lengths, toy.targets, toy.intents, TAU, RIDGE)
    np.testing.assert_allclose(longer.scores(toy.rows * 7), head.scores(toy.rows), atol=1e-5)


def test_a_narrow_kernel_answers_as_the_nearest_exemplar_does() -> None:
    toy = clusters(4, 6, spread=1.5, seed=2)
    head = fit_votes(toy.rows, toy.targets, toy.intents, tau=0.01, ridge=1e-6)
    texts = clusters(4, 40, spread=1.5, seed=7).rows
    near = cosines(unit_rows(texts), head.exemplars)
    second, first = np.sort(near, axis=1)[:, -2:].T
    clear = np.flatnonzero(first - second > 0.08)
    assert len(clear) > 20
    for row in clear:
        assert votes(head, texts[row]).sum(0).argmax() == toy.columns[near[row].argmax()]


def scores_without(head: VoteHead, rows: list[int]) -> np.ndarray:
    """Fit the other exemplars again, at the same prior, and let them score these."""
    others = np.delete(np.arange(len(head.exemplars)), rows)
    unit, labels = head.exemplars[others], head.targets[others]
    matrix = kernel(unit, unit, TAU) + RIDGE * np.eye(len(unit))
    weights = np.linalg.solve(matrix, labels - head.prior)
    return head.prior + kernel(head.exemplars[rows], unit, TAU) @ weights


def test_leave_one_out_equals_fitting_again_at_the_same_prior() -> None:
    head = fitted()
    brute = np.concatenate([scores_without(head, [row]) for row in range(len(head.exemplars))])
    np.testing.assert_allclose(leave_one_out(head), brute, atol=1e-8)


def test_leaving_folds_out_equals_fitting_again_at_the_same_prior() -> None:
    head = fitted()
    folds = [np.arange(len(head.exemplars))[start::3] for start in range(3)]
    scores = leave_fold_out(head, folds)
    for fold in folds:
        brute = scores_without(head, fold.tolist())
        np.testing.assert_allclose(scores[fold], brute, atol=1e-8)
    single = [np.array([row]) for row in range(len(head.exemplars))]
    np.testing.assert_allclose(leave_fold_out(head, single), leave_one_out(head), atol=1e-8)


def test_leave_one_out_finds_the_exemplar_with_the_wrong_label() -> None:
    toy = clusters(4, 8, spread=0.4, seed=4)
    wrong = toy.targets.copy()
    wrong[5] = np.eye(4)[2]
    residual = wrong - leave_one_out(fit_votes(toy.rows, wrong, toy.intents, TAU, RIDGE))
    assert (residual**2).sum(1).argmax() == 5


def test_leave_one_out_needs_all_exemplars_to_vote() -> None:
    head = fitted()
    carried = VoteHead(
        head.intents, TAU, RIDGE, head.exemplars, head.targets, head.prior, head.weights,
        carriers=np.arange(len(head.exemplars)),
    )  # fmt: skip
    for refused in (leave_one_out, root_of):
        with pytest.raises(ValueError, match="subset"):
            refused(carried)


def test_no_exemplar_and_shapes_that_differ_are_refused() -> None:
    with pytest.raises(ValueError, match="0 embeddings"):
        fit_votes(np.zeros((0, 3), np.float32), np.zeros((0, 2)), ("a", "b"), TAU, RIDGE)
    with pytest.raises(ValueError, match="2 embeddings, 1 intents"):
        fit_votes(np.eye(2, dtype=np.float32), np.eye(2), ("a",), TAU, RIDGE)


def test_an_empty_batch_has_no_scores() -> None:
    head = fitted()
    assert head.scores(np.zeros((0, 12), np.float32)).shape == (0, 4)
