import time

import numpy as np
import pytest

from core.heads.votes.fit import fit_votes, leave_one_out
from core.heads.votes.settings import DEFAULT, RIDGES, TAUS, best_settings, choose_votes, settle
from core.recipes.heads import NamesConfig, VotesConfig
from tests.builders.toy_embeddings import Toy, clusters


def press(toy: Toy, targets: np.ndarray, tau: float, ridge: float) -> float:
    head = fit_votes(toy.rows, targets, toy.intents, tau, ridge)
    return float(((targets - leave_one_out(head)) ** 2).sum(1).mean())


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_settings_chosen_have_the_smallest_squared_leave_one_out_error(seed: int) -> None:
    toy = clusters(4, 10, spread=1.2, seed=seed)
    chosen = best_settings(toy.rows, toy.targets, None, None)
    errors = {(t, r): press(toy, toy.targets, t, r) for t in TAUS for r in RIDGES}
    assert errors[chosen] == pytest.approx(min(errors.values()), abs=1e-12)


def test_texts_with_several_intents_are_chosen_for_by_the_same_error() -> None:
    toy = clusters(4, 10, spread=0.8, seed=0)
    several = np.clip(toy.targets + np.roll(toy.targets, 1, axis=1), 0, 1)
    chosen = best_settings(toy.rows, several, None, None)
    errors = {(t, r): press(toy, several, t, r) for t in TAUS for r in RIDGES}
    assert errors[chosen] == pytest.approx(min(errors.values()), abs=1e-12)


def test_wrong_labels_ask_for_more_smoothing() -> None:
    toy = clusters(4, 20, spread=0.5, seed=0)
    wrong = toy.targets.copy()
    wrong[::5] = np.roll(wrong[::5], 1, axis=1)
    _, clean_ridge = best_settings(toy.rows, toy.targets, 0.3, None)
    _, noisy_ridge = best_settings(toy.rows, wrong, 0.3, None)
    assert noisy_ridge > clean_ridge


def test_what_the_recipe_gives_is_kept() -> None:
    toy = clusters(3, 6, spread=0.8, seed=0)
    assert best_settings(toy.rows, toy.targets, 0.17, 0.07) == (0.17, 0.07)
    assert best_settings(toy.rows, toy.targets, 0.17, None)[0] == 0.17
    assert best_settings(toy.rows, toy.targets, None, 0.07)[1] == 0.07
    head = choose_votes(toy.rows, toy.targets, toy.intents, VotesConfig(tau=0.17, ridge=0.07))
    assert (head.tau, head.ridge, head.carriers) == (0.17, 0.07, None)


def test_a_single_exemplar_is_enough_to_choose_and_fit() -> None:
    head = choose_votes(np.ones((1, 3), np.float32), np.ones((1, 1)), ("only",), VotesConfig())
    np.testing.assert_allclose(head.scores(np.ones((2, 3), np.float32)), [[1.0], [1.0]])


def test_above_the_limit_a_subset_carries_the_votes() -> None:
    toy = clusters(3, 30, spread=0.8, seed=0)
    at = choose_votes(toy.rows, toy.targets, toy.intents, VotesConfig(max_exemplars=90))
    above = choose_votes(toy.rows, toy.targets, toy.intents, VotesConfig(max_exemplars=30))
    assert at.carriers is None
    assert above.carriers is not None
    assert np.bincount(toy.columns[above.carriers]).tolist() == [10, 10, 10]
    np.testing.assert_allclose(above.exemplars, toy.rows[above.carriers])
    np.testing.assert_allclose(above.prior, toy.targets.mean(0))


def test_a_tuned_encoder_gets_the_fixed_settings_where_none_were_given() -> None:
    assert settle(VotesConfig()) == VotesConfig(tau=DEFAULT[0], ridge=DEFAULT[1])
    assert settle(VotesConfig(tau=0.2)) == VotesConfig(tau=0.2, ridge=DEFAULT[1])
    assert settle(NamesConfig()) == NamesConfig()


@pytest.mark.benchmark
def test_the_whole_grid_for_1500_exemplars_takes_less_than_two_seconds_of_one_core() -> None:
    toy = clusters(150, 10, spread=0.8, seed=0, dim=384)
    began = time.process_time()
    best_settings(toy.rows, toy.targets, None, None)
    assert time.process_time() - began < 2.0
