"""Response ranking by hand-computed values."""

import math

import pytest
import torch

from core.losses.ranking import annealed_scale, ranking_loss, same_responses, scaled_cosines

SCORES = torch.tensor([[2.0, 1.0, 0.0], [0.0, 3.0, 1.0], [1.0, 1.0, 1.0]])


def log_sum(*values: float) -> float:
    return math.log(sum(math.exp(value) for value in values))


def test_the_usual_denominator_holds_the_own_response() -> None:
    losses = [log_sum(2, 1, 0) - 2, log_sum(0, 3, 1) - 3, log_sum(1, 1, 1) - 1]
    assert ranking_loss(SCORES).item() == pytest.approx(sum(losses) / 3, abs=1e-6)
    cross_entropy = torch.nn.functional.cross_entropy(SCORES, torch.arange(3))
    assert ranking_loss(SCORES).item() == pytest.approx(cross_entropy.item(), abs=1e-6)


def test_equation_1_leaves_the_own_response_out() -> None:
    losses = [log_sum(1, 0) - 2, log_sum(0, 1) - 3, log_sum(1, 1) - 1]
    assert ranking_loss(SCORES, "others").item() == pytest.approx(sum(losses) / 3, abs=1e-6)
    far = 100.0 * torch.eye(3)
    assert ranking_loss(far, "others").item() == pytest.approx(math.log(2) - 100, abs=1e-4)


def test_smoothing_gives_the_negatives_a_fifth_between_them() -> None:
    first = log_sum(2, 1, 0) - 0.8 * 2 - 0.1 * (1 + 0)
    second = log_sum(0, 3, 1) - 0.8 * 3 - 0.1 * (0 + 1)
    third = log_sum(1, 1, 1) - 1
    found = ranking_loss(SCORES, smoothing=0.2).item()
    assert found == pytest.approx((first + second + third) / 3, abs=1e-6)
    with pytest.raises(ValueError, match="smoothing"):
        ranking_loss(SCORES, "others", smoothing=0.2)


def test_responses_of_the_same_wording_are_no_negatives() -> None:
    excluded = same_responses(["Bye.", "bye. ", "Hello."])
    assert excluded.tolist() == [[True, True, False], [True, True, False], [False, False, True]]
    losses = [log_sum(2, 0) - 2, log_sum(3, 1) - 3, log_sum(1, 1, 1) - 1]
    found = ranking_loss(SCORES, excluded=excluded).item()
    assert found == pytest.approx(sum(losses) / 3, abs=1e-6)


@pytest.mark.parametrize("denominator", ["all", "others"])
def test_a_batch_without_negatives_gives_zero(denominator) -> None:
    scores = torch.ones(2, 2, requires_grad=True)
    loss = ranking_loss(scores, denominator, excluded=torch.ones(2, 2, dtype=torch.bool))
    loss.backward()
    assert loss.item() == 0.0
    assert scores.grad.abs().sum() == 0.0


def test_cosines_are_scaled_and_do_not_see_lengths() -> None:
    contexts = torch.tensor([[3.0, 0.0], [1.0, 1.0]])
    responses = torch.tensor([[0.0, 5.0], [2.0, 0.0]])
    found = scaled_cosines(contexts, responses, 20.0)
    assert found.flatten().tolist() == pytest.approx([0, 20, 200**0.5, 200**0.5], abs=1e-4)


def test_the_scale_rises_from_one_to_the_root_of_the_width() -> None:
    root = math.sqrt(512)
    assert annealed_scale(0, 10_000, 512) == 1.0
    assert annealed_scale(5_000, 10_000, 512) == pytest.approx((1 + root) / 2)
    assert annealed_scale(10_000, 10_000, 512) == annealed_scale(99_999, 10_000, 512) == root
    assert annealed_scale(0, 0, 512) == root
