import numpy as np
import pytest
from sklearn.metrics import f1_score

from core.calibration.calibration import probabilities
from core.calibration.thresholds import (
    best_threshold,
    expected_threshold,
    fit_multi_label_calibration,
    own_thresholds,
)


def drawn(n: int, n_intents: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw scores whose probability of a label is sigmoid((score - 0.45) / 0.1)."""
    generator = np.random.default_rng(seed)
    scores = generator.beta(0.4, 1.2, size=(n, n_intents))
    chances = 1 / (1 + np.exp(-(scores - 0.45) / 0.1))
    return scores, (generator.random(scores.shape) < chances).astype(float)


def test_the_best_threshold_lies_midway_and_has_the_largest_f1() -> None:
    scores, marks = np.array([0.9, 0.8, 0.4, 0.2, 0.1]), np.array([1, 1, 0, 1, 0], dtype=bool)
    # From 0.8 on: F1 = 4/5; from 0.2 on: 6/7.
    assert best_threshold(scores, marks) == pytest.approx(0.15)
    assert best_threshold(scores, marks & (scores > 0.3)) == pytest.approx(0.6)
    many, labels = drawn(300, 1)
    limit = best_threshold(many[:, 0], labels[:, 0] > 0)
    best = f1_score(labels[:, 0], many[:, 0] >= limit)
    assert all(f1_score(labels[:, 0], many[:, 0] >= t) <= best for t in np.linspace(0, 1, 101))


def test_equal_scores_are_not_parted_and_no_positive_is_never_answered() -> None:
    scores = np.array([0.5, 0.5, 0.5, 0.1])
    limit = best_threshold(scores, np.array([True, False, False, False]))
    assert limit == pytest.approx(0.3)
    assert best_threshold(scores, np.zeros(4, dtype=bool)) > 0.5


def test_probabilities_are_found_again() -> None:
    found = fit_multi_label_calibration(*drawn(4_000))
    assert found.temperature == pytest.approx(0.1, abs=0.01)
    assert found.offset == pytest.approx(0.45, abs=0.01)
    scores, labels = drawn(2_000, seed=1)
    shares = probabilities(scores, found)
    for low in (0.2, 0.5, 0.8):
        near = (shares > low - 0.1) & (shares < low + 0.1)
        assert labels[near].mean() == pytest.approx(low, abs=0.06)


def test_the_common_threshold_gives_nearly_the_best_f1_of_other_texts() -> None:
    """Half the best F1 is the probability from which on an answer pays (Lipton et al. 2014)."""
    found = fit_multi_label_calibration(*drawn(60))
    scores, labels = drawn(5_000, seed=2)

    def f1(limit: float) -> float:
        return f1_score(labels.ravel(), scores.ravel() >= limit)

    assert f1(found.threshold) > max(f1(limit) for limit in np.linspace(0.1, 0.9, 81)) - 0.005
    share = probabilities(np.array([[found.threshold]]), found)[0, 0]
    assert share == pytest.approx(f1(found.threshold) / 2, abs=0.05)


def test_the_expected_threshold_of_certain_answers_is_an_even_chance() -> None:
    assert expected_threshold(np.array([0.0, 1.0]), 1e-3, 0.5) == pytest.approx(0.5)


def test_an_intent_of_few_texts_keeps_nearer_to_the_common_threshold() -> None:
    scores = np.tile(np.linspace(0, 1, 101)[:, None], (1, 3))
    marks = np.zeros((101, 3), dtype=bool)
    marks[80:, 0], marks[99:, 1] = True, True
    limits = own_thresholds(scores, marks, 0.4, 20.0)
    assert limits[0] == pytest.approx(0.4 + (0.795 - 0.4) * 21 / 41)
    assert limits[1] == pytest.approx(0.4 + (0.985 - 0.4) * 2 / 22)
    assert limits[2] == 0.4
    np.testing.assert_array_equal(own_thresholds(scores, marks, 0.4, np.inf), [0.4] * 3)


def test_intents_that_need_thresholds_of_their_own_get_them_and_others_do_not() -> None:
    scores, labels = drawn(2_000)
    same = fit_multi_label_calibration(scores, labels)
    assert np.ptp(same.thresholds) < 0.1
    apart = fit_multi_label_calibration(scores + np.array([0.0, 0.3, 0.0, 0.0]), labels)
    low = [apart.thresholds[column] for column in (0, 2, 3)]
    assert apart.thresholds[1] - np.mean(low) == pytest.approx(0.3, abs=0.1)


def test_a_given_theta_is_the_threshold_of_all() -> None:
    found = fit_multi_label_calibration(*drawn(200), 0.3)
    assert (found.task, found.threshold, found.thresholds) == ("multi-label", 0.3, ())
    np.testing.assert_array_equal(found.limits(4), [0.3] * 4)


def test_a_single_text_and_texts_without_any_intent_can_be_calibrated() -> None:
    one = fit_multi_label_calibration(np.array([[0.9, 0.1]]), np.array([[1.0, 0.0]]))
    none = fit_multi_label_calibration(np.full((5, 2), 0.1), np.zeros((5, 2)))
    assert np.isfinite([*one.thresholds, *none.thresholds, none.temperature]).all()
    assert 0.1 < one.threshold < 0.9
    assert none.threshold > 0.1
    with pytest.raises(ValueError, match="cannot calibrate"):
        fit_multi_label_calibration(np.zeros((0, 2)), np.zeros((0, 2)))
