"""TaDSE's losses against values computed by hand and numeric gradients."""

from math import exp, log

import pytest
import torch

from core.losses.template import (
    TemplateWeights,
    Views,
    compress,
    in_batch_contrast,
    template_loss,
)

T = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
U = torch.tensor([[3.0, 0.0], [1.0, 0.0]])


def test_the_contrast_is_a_softmax_of_cosines_over_the_batch() -> None:
    by_hand = (-log(exp(2) / (2 * exp(2))) - log(1 / 2)) / 2
    assert in_batch_contrast(T, U, 0.5).item() == pytest.approx(by_hand, abs=1e-6)
    by_hand = (-log(exp(4) / (exp(4) + 1)) - log(exp(4) / (exp(4) + 1))) / 2
    assert in_batch_contrast(T, T, 0.25).item() == pytest.approx(by_hand, abs=1e-6)


def test_twins_are_no_negatives() -> None:
    twins = torch.tensor([[True, True], [False, True]])
    by_hand = (0 - log(1 / 2)) / 2
    assert in_batch_contrast(T, U, 0.5, twins).item() == pytest.approx(by_hand, abs=1e-6)


def test_the_loss_is_the_weighted_sum_and_pairs_ask_templates_for_utterances() -> None:
    views = Views(T, T, U, U.flip(1))
    weights = TemplateWeights(1.0, 0.5, 2.0, 0.25, 1.0, 0.5)
    template = in_batch_contrast(T, T, 0.25)
    utterance = in_batch_contrast(U, U.flip(1), 1.0)
    pair = in_batch_contrast(T, U, 0.5)
    expected = template + 0.5 * utterance + 2.0 * pair
    assert template_loss(views, weights).item() == pytest.approx(expected.item(), abs=1e-6)
    alone = template_loss(views, TemplateWeights(0, 0, 1, 1, 1, 0.5))
    assert alone.item() == pytest.approx(pair.item())


def test_gradients_are_those_of_differences() -> None:
    torch.manual_seed(0)
    given = [torch.randn(5, 4, dtype=torch.double, requires_grad=True) for _ in range(4)]
    same = torch.rand(5, 5) > 0.6
    weights = TemplateWeights(0.7, 0.5, 1.5, 0.3, 0.4, 0.5)
    assert torch.autograd.gradcheck(
        lambda *views: template_loss(Views(*views), weights, same), given
    )


def test_compression_moves_utterances_towards_templates() -> None:
    assert torch.equal(compress(T, U, 0.0), U)
    assert torch.equal(compress(T, U, 1.0), T)
    assert compress(T, U, 0.25).tolist() == [[2.5, 0.0], [0.75, 0.5]]
