import numpy as np
import pytest
from scipy.linalg import cho_factor

from core.heads.votes.fit import fit_votes, leave_one_out, votes
from core.heads.votes.kernel import kernel
from core.heads.votes.subset import (
    fit_subset_votes,
    spread_choice,
    subset_leave_fold_out,
    subset_leave_one_out,
)
from tests.builders.toy_embeddings import clusters

SETTINGS = (0.3, 0.1)


def test_with_every_exemplar_a_carrier_it_is_the_full_solution() -> None:
    toy = clusters(4, 8, spread=0.9, seed=0)
    full = fit_votes(toy.rows, toy.targets, toy.intents, *SETTINGS)
    carried = fit_subset_votes(toy.rows, toy.targets, toy.intents, SETTINGS, np.arange(32))
    np.testing.assert_allclose(carried.weights, full.weights, atol=1e-6)
    texts = clusters(4, 20, spread=0.9, seed=1).rows
    np.testing.assert_allclose(carried.scores(texts), full.scores(texts), atol=1e-7)
    honest = subset_leave_one_out(carried, toy.rows, toy.targets)
    np.testing.assert_allclose(honest, leave_one_out(full), atol=1e-6)


def test_weights_solve_the_normal_equations_of_subset_of_regressors() -> None:
    toy = clusters(3, 40, spread=0.9, seed=3)
    carriers = np.arange(0, 120, 5)
    head = fit_subset_votes(toy.rows, toy.targets, toy.intents, SETTINGS, carriers)
    cross = kernel(toy.rows, toy.rows[carriers], SETTINGS[0])
    square = kernel(toy.rows[carriers], toy.rows[carriers], SETTINGS[0])
    left = (cross.T @ cross + SETTINGS[1] * square) @ head.weights
    np.testing.assert_allclose(left, cross.T @ (toy.targets - toy.targets.mean(0)), atol=1e-6)


def test_votes_of_the_carriers_and_the_prior_sum_to_the_score() -> None:
    toy = clusters(5, 50, spread=0.9, seed=2)
    head = fit_subset_votes(
        toy.rows, toy.targets, toy.intents, SETTINGS, spread_choice(toy.targets, 40)
    )
    assert head.exemplars.shape == (40, 12)
    for text in clusters(5, 3, spread=1.0, seed=9).rows:
        signed = votes(head, text)
        assert signed.shape == (40, 5)
        np.testing.assert_allclose(
            signed.sum(0) + head.prior, head.scores(text[None])[0], atol=1e-10
        )


def test_a_fifth_of_the_exemplars_carries_nearly_the_full_accuracy() -> None:
    toy, texts = (clusters(6, 60, spread=1.2, seed=seed) for seed in (0, 1))
    full = fit_votes(toy.rows, toy.targets, toy.intents, *SETTINGS)
    head = fit_subset_votes(
        toy.rows, toy.targets, toy.intents, SETTINGS, spread_choice(toy.targets, 72)
    )
    alone = fit_votes(head.exemplars, head.targets, toy.intents, *SETTINGS)

    def accuracy(one: object) -> float:
        return float((one.scores(texts.rows).argmax(1) == texts.columns).mean())

    assert accuracy(full) > 0.8
    assert accuracy(head) >= accuracy(full) - 0.02
    assert accuracy(head) >= accuracy(alone)  # labels of those that do not vote count too


def test_leave_one_out_equals_fitting_again_without_the_label() -> None:
    toy = clusters(3, 12, spread=1.0, seed=5)
    carriers = np.arange(0, 36, 3)
    head = fit_subset_votes(toy.rows, toy.targets, toy.intents, SETTINGS, carriers)
    honest = subset_leave_one_out(head, toy.rows, toy.targets)
    tau, ridge = SETTINGS
    cross = kernel(toy.rows, toy.rows[carriers], tau)
    square = kernel(toy.rows[carriers], toy.rows[carriers], tau)
    for row in range(36):
        others = np.delete(np.arange(36), row)
        gram = cross[others].T @ cross[others] + ridge * square
        weights = np.linalg.solve(gram, cross[others].T @ (toy.targets[others] - head.prior))
        np.testing.assert_allclose(honest[row], head.prior + cross[row] @ weights, atol=1e-7)


def test_leave_one_out_of_a_subset_is_refused_where_all_vote() -> None:
    toy = clusters(2, 4, spread=0.5, seed=0)
    head = fit_votes(toy.rows, toy.targets, toy.intents, *SETTINGS)
    with pytest.raises(ValueError, match="no subset"):
        subset_leave_one_out(head, toy.rows, toy.targets)


def test_two_carriers_of_one_text_do_not_break_the_solution() -> None:
    toy = clusters(3, 5, spread=0.8, seed=6)
    rows, targets = np.repeat(toy.rows, 2, axis=0), np.repeat(toy.targets, 2, axis=0)
    carried = fit_subset_votes(rows, targets, toy.intents, SETTINGS, np.arange(30))
    full = fit_votes(rows, targets, toy.intents, *SETTINGS)
    np.testing.assert_allclose(carried.scores(rows), full.scores(rows), atol=1e-6)


def test_the_choice_keeps_small_intents_whole_and_repeats_itself() -> None:
    targets = np.eye(3)[np.repeat([0, 1, 2], [2, 50, 100])]
    chosen = spread_choice(targets, 22)
    assert np.bincount(targets[chosen].argmax(1)).tolist() == [2, 10, 10]
    assert len(set(chosen.tolist())) == 22
    np.testing.assert_array_equal(chosen, spread_choice(targets, 22))
    np.testing.assert_array_equal(spread_choice(targets, 1_000), np.arange(152))


def test_chunks_of_rows_do_not_change_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    toy = clusters(3, 30, spread=0.9, seed=7)
    carriers = np.arange(0, 90, 4)
    whole = fit_subset_votes(toy.rows, toy.targets, toy.intents, SETTINGS, carriers)
    monkeypatch.setattr("core.heads.votes.subset._CHUNK", 7)
    parts = fit_subset_votes(toy.rows, toy.targets, toy.intents, SETTINGS, carriers)
    np.testing.assert_allclose(parts.weights, whole.weights, atol=1e-6)
    np.testing.assert_allclose(
        subset_leave_one_out(parts, toy.rows, toy.targets),
        subset_leave_one_out(whole, toy.rows, toy.targets),
        atol=1e-8,
    )


def test_a_fold_is_scored_by_the_labels_of_the_others() -> None:
    """By hand: the normal equations of the other rows, with all carriers and the same prior."""
    toy = clusters(3, 20, spread=0.9, seed=5)
    carriers = np.arange(0, 60, 4)
    head = fit_subset_votes(toy.rows, toy.targets, toy.intents, SETTINGS, carriers)
    folds = [np.arange(start, 60, 5) for start in range(5)]
    told: list[float] = []
    found = subset_leave_fold_out(head, toy.rows, toy.targets, folds, told.append)
    cross = kernel(toy.rows, toy.rows[carriers], SETTINGS[0])
    square = kernel(toy.rows[carriers], toy.rows[carriers], SETTINGS[0])
    for fold in folds:
        seen = np.setdiff1d(np.arange(60), fold)
        left = cross[seen].T @ cross[seen] + SETTINGS[1] * square
        weights = np.linalg.solve(left, cross[seen].T @ (toy.targets[seen] - head.prior))
        by_hand = cross[fold] @ weights + head.prior
        np.testing.assert_allclose(found[fold], by_hand, atol=1e-6)
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_folds_of_one_row_equal_leave_one_out() -> None:
    toy = clusters(3, 10, spread=0.9, seed=6)
    head = fit_subset_votes(toy.rows, toy.targets, toy.intents, SETTINGS, np.arange(0, 30, 2))
    np.testing.assert_allclose(
        subset_leave_fold_out(head, toy.rows, toy.targets, [np.array([row]) for row in range(30)]),
        subset_leave_one_out(head, toy.rows, toy.targets),
        atol=1e-8,
    )


def test_the_scipy_factor_and_ours_agree() -> None:
    from core.heads.votes.fit import cholesky

    matrix = kernel(*[clusters(2, 5, 0.9, 1).rows] * 2, 0.3) + 0.1 * np.eye(10)
    np.testing.assert_allclose(cholesky(matrix.copy()), np.tril(cho_factor(matrix, lower=True)[0]))
