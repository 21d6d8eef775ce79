"""Losses of utterances against names, by hand and by numeric gradient."""

import math

import pytest
import torch

from core.losses.naming import name_cross_entropy, name_squared_error, similarities

UTTERANCES = torch.tensor([[3.0, 4.0], [0.0, 2.0]], dtype=torch.float64)
NAMES = torch.tensor([[1.0, 0.0], [0.0, 5.0], [3.0, 4.0]], dtype=torch.float64)


def test_a_dot_product_sees_lengths_and_a_cosine_does_not() -> None:
    expected = torch.tensor([[3.0, 20.0, 25.0], [0.0, 10.0, 8.0]], dtype=torch.float64)
    torch.testing.assert_close(similarities(UTTERANCES, NAMES, "dot"), expected)
    cosines = torch.tensor([[0.6, 0.8, 1.0], [0.0, 1.0, 0.8]], dtype=torch.float64)
    torch.testing.assert_close(similarities(UTTERANCES, NAMES, "cosine"), cosines)


def test_cross_entropy_by_hand() -> None:
    scores = torch.tensor([[0.6, 0.8], [0.0, 1.0]], dtype=torch.float64)
    first = math.log(1 + math.exp((0.8 - 0.6) / 0.5))
    second = math.log(1 + math.exp((0.0 - 1.0) / 0.5))
    loss = name_cross_entropy(scores, torch.tensor([0, 1]), temperature=0.5)
    assert loss.item() == pytest.approx((first + second) / 2)


@pytest.mark.parametrize(
    ("negatives", "expected"),
    [
        (0, (0.4**2 + 0.0**2) / 2),  # right names alone
        (2, (0.4**2 + 0.8**2 + 1.0**2 + 0.0**2 + 0.0**2 + 0.8**2) / 6),  # all of the batch
        (1, (0.4**2 + 0.5 * (0.8**2 + 1.0**2 + 0.0**2 + 0.8**2)) / 4),  # each counts half
    ],
)
def test_squared_error_by_hand(negatives: int, expected: float) -> None:
    scores = similarities(UTTERANCES, NAMES, "cosine")  # [[.6, .8, 1], [0, 1, .8]]
    loss = name_squared_error(scores, torch.tensor([0, 1]), negatives)
    assert loss.item() == pytest.approx(expected)


def test_squared_error_of_one_name_has_nothing_to_push_apart() -> None:
    loss = name_squared_error(torch.tensor([[0.5]]), torch.tensor([0]), negatives=3)
    assert loss.item() == pytest.approx(0.25)


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
@pytest.mark.parametrize("negatives", [None, 0, 1])
def test_gradients_are_those_of_differences(similarity: str, negatives: int | None) -> None:
    generator = torch.Generator().manual_seed(0)
    both = [
        torch.randn(n, 3, dtype=torch.float64, generator=generator).requires_grad_() for n in (4, 3)
    ]
    right = torch.tensor([0, 2, 1, 0])

    def loss(utterances: torch.Tensor, names: torch.Tensor) -> torch.Tensor:
        scores = similarities(utterances, names, similarity)
        if negatives is None:
            return name_cross_entropy(scores, right, 0.3)
        return name_squared_error(scores, right, negatives)

    assert torch.autograd.gradcheck(loss, both)
