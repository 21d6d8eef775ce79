"""Pairs and objectives of utterances that carry several intents or none."""

import math

import pytest
import torch
from torch import Tensor

from core.losses.contrastive import (
    cosine_targets,
    online_contrastive,
    pair_cosines,
    supervised_contrastive,
)
from core.losses.overlap import jaccard, overlap_targets, shares_intent
from core.losses.prototype import prototype_binary_cross_entropy
from core.losses.softmax import pair_softmax

X, Y, XY, NOTHING = [1.0, 0, 0], [0, 1.0, 0], [1.0, 1.0, 0], [0.0, 0, 0]
LABELS = torch.tensor([X, Y, XY, NOTHING, NOTHING])
NUMBERS = torch.tensor([0, 0, 1, 1, 2, 2, 2, 0])


def batch(n: int = 8, d: int = 6) -> Tensor:
    return torch.randn(n, d, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def test_a_pair_is_positive_when_it_shares_at_least_one_intent() -> None:
    assert shares_intent(LABELS).tolist() == [
        [True, False, True, False, False],
        [False, True, True, False, False],
        [True, True, True, False, False],
        [False, False, False, False, False],
        [False, False, False, False, False],
    ]
    _, positive = pair_cosines(torch.eye(5), LABELS)
    assert positive.tolist() == [False, True, False, False, True] + [False] * 5


def test_overlap_is_shared_intents_by_all_intents() -> None:
    expected = [
        [1, 0, 0.5, 0, 0],
        [0, 1, 0.5, 0, 0],
        [0.5, 0.5, 1, 0, 0],
        [0, 0, 0, 1, 1],
        [0, 0, 0, 1, 1],
    ]
    torch.testing.assert_close(jaccard(LABELS), torch.tensor(expected))
    both = jaccard(torch.tensor([[1.0, 1, 1, 0], [0, 1, 1, 1]]))
    assert both[0, 1].item() == pytest.approx(2 / 4)


@pytest.mark.parametrize(
    "loss",
    [
        online_contrastive,
        cosine_targets,
        lambda x, y: pair_softmax(x, y, batch(18, 2)),
        lambda x, y: supervised_contrastive(x, y, 0.1),
        overlap_targets,
    ],
)
def test_one_intent_each_is_the_same_as_numbers_or_as_multi_hot_rows(loss) -> None:
    hot = torch.nn.functional.one_hot(NUMBERS).double()
    assert loss(batch(), hot).item() == pytest.approx(loss(batch(), NUMBERS).item(), abs=1e-12)


def test_the_overlap_objective_by_hand() -> None:
    angles = torch.tensor([0.0, math.pi / 2, math.pi / 4], dtype=torch.float64)
    rows = torch.stack([angles.cos(), angles.sin()], 1)
    # x with y: cosine 0, target 0; each with x+y: cosine 0.7071, target 0.45.
    found = overlap_targets(rows, LABELS[:3])
    assert found.item() == pytest.approx(2 / 3 * (math.sqrt(0.5) - 0.45) ** 2)
    # Where nothing is shared, one positive pair makes six negatives count wholly.
    lonely = overlap_targets(torch.ones(2, 2), LABELS[:2])
    assert lonely.item() == pytest.approx(1.0)


def test_texts_of_two_intents_come_to_lie_between_those_of_one() -> None:
    """Descending from chance, x+y ends nearer to x and to y than these are to each other."""
    labels = torch.tensor([X, X, Y, Y, XY, XY, [0, 0, 1.0], [0, 0, 1.0]])
    rows = batch().clone().requires_grad_()
    optimizer = torch.optim.Adam([rows], lr=0.05)
    for _ in range(400):
        optimizer.zero_grad()
        overlap_targets(rows, labels).backward()
        optimizer.step()
    unit = torch.nn.functional.normalize(rows.detach(), dim=1)
    cosines = unit @ unit.T
    assert cosines[0, 1] == pytest.approx(0.9, abs=0.05)
    assert cosines[0, 4] == pytest.approx(0.45, abs=0.05)
    assert cosines[2, 4] == pytest.approx(0.45, abs=0.05)
    assert cosines[0, 2] == pytest.approx(0.0, abs=0.05)
    assert cosines[4, 6] == pytest.approx(0.0, abs=0.05)


def test_binary_cross_entropy_on_prototypes_by_hand() -> None:
    rows, points = torch.tensor([[2.0, 0.0]]), torch.tensor([[3.0, 0.0], [0.0, 1.0]])
    targets, offsets = torch.tensor([[1.0, 0.0]]), torch.tensor([0.5, 0.25])
    found = prototype_binary_cross_entropy(rows, targets, points, offsets, 0.5)
    yes, no = (1.0 - 0.5) / 0.5, (0.0 - 0.25) / 0.5
    assert found.item() == pytest.approx(math.log(1 + math.exp(-yes)) + math.log(1 + math.exp(no)))
    none = prototype_binary_cross_entropy(rows, torch.zeros(1, 2), points, offsets, 0.5)
    assert none.item() == pytest.approx(math.log(1 + math.exp(yes)) + math.log(1 + math.exp(no)))


def test_a_batch_without_any_intent_gives_no_pull_and_no_fault() -> None:
    rows = batch(3).requires_grad_()
    labels = torch.zeros(3, 4, dtype=torch.float64)
    supervised_contrastive(rows, labels, 0.1).backward()
    assert rows.grad.abs().sum() == 0
    assert torch.isfinite(overlap_targets(rows, labels))
    assert torch.isfinite(online_contrastive(rows, labels))
    assert overlap_targets(rows[:1], labels[:1]).item() == 0.0
