import json

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from core.calibration.calibration import (
    Calibration,
    calibration_from_json,
    calibration_to_json,
    fit_calibration,
    probabilities,
)
from core.errors import ArtifactDamaged
from core.metrics.calibration import expected_calibration_error


def drawn(temperature: float, n: int = 4_000) -> tuple[np.ndarray, np.ndarray]:
    """Scores, and labels drawn from softmax(scores / temperature)."""
    generator = np.random.default_rng(0)
    scores = generator.normal(size=(n, 4))
    noise = generator.gumbel(size=scores.shape)
    return scores, np.eye(4)[(scores / temperature + noise).argmax(1)]


@pytest.mark.parametrize("temperature", [0.05, 0.3, 2.0])
def test_the_temperature_that_made_the_labels_is_found_again(temperature: float) -> None:
    scores, targets = drawn(temperature)
    calibration = fit_calibration(scores, targets, 0.05)
    assert calibration.temperature == pytest.approx(temperature, rel=0.1)
    shares = probabilities(scores, calibration)
    right = shares.argmax(1) == targets.argmax(1)
    np.testing.assert_allclose(shares.sum(1), 1.0)
    assert expected_calibration_error(shares.max(1), right) < 0.03


def test_the_temperature_minimises_the_log_loss() -> None:
    scores, targets = drawn(0.5, n=3_000)

    def loss(temperature: float) -> float:
        return float(-np.log((probabilities(scores, Calibration(temperature, 0, 0)) * targets)
                             .sum(1)).mean())  # fmt: skip

    best = minimize_scalar(loss, bounds=(0.01, 5), method="bounded").fun
    assert loss(fit_calibration(scores, targets, 0.05).temperature) == pytest.approx(best, abs=1e-4)


@pytest.mark.parametrize("rejection", [0.0, 0.05, 0.3])
def test_the_threshold_sends_away_the_share_of_honest_texts_asked_for(rejection: float) -> None:
    scores, targets = drawn(0.5)
    calibration = fit_calibration(scores, targets, rejection)
    assert (scores.max(1) < calibration.threshold).mean() == pytest.approx(rejection, abs=1e-3)


def test_scores_that_are_always_right_give_a_finite_temperature() -> None:
    """Without a doubt the best temperature of perfect scores would be zero."""
    targets = np.eye(3)[np.arange(30) % 3]
    calibration = fit_calibration(targets, targets, 0.05)
    shares = probabilities(targets, calibration)
    assert 0.01 < calibration.temperature < 1.0
    assert 0.9 < shares.max() < 1.0


def test_more_texts_that_are_all_right_make_it_surer() -> None:
    few, many = (np.eye(3)[np.arange(n) % 3] for n in (6, 600))
    assert fit_calibration(many, many, 0.0).temperature < fit_calibration(few, few, 0.0).temperature


@pytest.mark.parametrize("scores", [np.zeros((5, 3)), np.full((5, 1), 0.7)])
def test_scores_that_tell_nothing_apart_are_calibrated_to_equal_shares(scores: np.ndarray) -> None:
    targets = np.eye(scores.shape[1])[np.zeros(5, int)]
    calibration = fit_calibration(scores, targets, 0.05)
    assert calibration.temperature == 1.0
    np.testing.assert_allclose(probabilities(scores, calibration), 1 / scores.shape[1])


def test_a_text_with_two_intents_asks_for_half_of_each() -> None:
    scores = np.array([[1.0, 1.0, 0.0]] * 50)
    calibration = fit_calibration(scores, np.array([[1.0, 1.0, 0.0]] * 50), 0.05)
    np.testing.assert_allclose(probabilities(scores, calibration)[0], [0.5, 0.5, 0.0], atol=0.02)


def test_a_text_without_an_intent_counts_for_the_threshold_alone() -> None:
    scores, targets = drawn(0.5, n=500)
    with_none = fit_calibration(np.vstack([scores, [[9.0, 0, 0, 0]]]),
                                np.vstack([targets, np.zeros(4)]), 0.05)  # fmt: skip
    assert with_none.temperature == fit_calibration(scores, targets, 0.05).temperature


def test_very_large_scores_do_not_overflow() -> None:
    shares = probabilities(np.array([[1e6, -1e6, 0.0]]), Calibration(1e-3, 0.0, 0.05))
    np.testing.assert_allclose(shares, [[1.0, 0.0, 0.0]])


def test_no_scores_and_shapes_that_differ_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot calibrate"):
        fit_calibration(np.zeros((0, 3)), np.zeros((0, 3)), 0.05)
    with pytest.raises(ValueError, match="cannot calibrate"):
        fit_calibration(np.zeros((2, 3)), np.zeros((2, 4)), 0.05)


def test_a_calibration_survives_json_exactly() -> None:
    calibration = fit_calibration(*drawn(0.3, n=50), 0.05)
    written = json.dumps(calibration_to_json(calibration))
    assert calibration_from_json(json.loads(written)) == calibration


@pytest.mark.parametrize(
    "change", [{"temperature": 0}, {"threshold": "high"}, {"temperature": float("nan")}]
)
def test_an_unusable_stored_calibration_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ArtifactDamaged):
        calibration_from_json({"temperature": 1, "threshold": 0.1, "rejection": 0.05} | change)
    with pytest.raises(ArtifactDamaged):
        calibration_from_json({})
