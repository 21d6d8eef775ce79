import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from core.losses.contrastive import (
    cosine_targets,
    online_contrastive,
    pair_cosines,
    supervised_contrastive,
)
from core.losses.prototype import prototype_cross_entropy
from core.losses.softmax import pair_softmax

LABELS = torch.tensor([0, 0, 1, 1, 2, 2, 2, 0])
seeds = st.integers(0, 2**31 - 1)


def batch(seed: int = 0, n: int = 8, d: int = 6) -> Tensor:
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


LOSSES = {
    "ocl": online_contrastive,
    "cos": cosine_targets,
    "smax": lambda x, y: pair_softmax(x, y, batch(9, 18, 2)),
    "supcon": lambda x, y: supervised_contrastive(x, y, 0.1),
    "prototype": lambda x, y: prototype_cross_entropy(x, y, batch(8, 3), 0.1),
}


class GivenEmbeddings(nn.Module):
    """Stands where the reference losses expect an encoder, and returns what it is given."""

    def forward(self, features: dict[str, Tensor]) -> dict[str, Tensor]:
        return {"sentence_embedding": features["x"]}

    def get_sentence_embedding_dimension(self) -> int:
        return 6

    def get_embedding_dimension(self) -> int:
        return 6


def pairs(x: Tensor) -> tuple[list[dict[str, Tensor]], Tensor]:
    first, second = torch.triu_indices(len(x), len(x), 1)
    return [{"x": x[first]}, {"x": x[second]}], (LABELS[first] == LABELS[second])


def test_ocl_equals_sentence_transformers_up_to_the_number_of_pairs_counted() -> None:
    from sentence_transformers.sentence_transformer.losses import OnlineContrastiveLoss

    for seed in range(5):
        x = batch(seed)
        features, same = pairs(x)
        theirs = OnlineContrastiveLoss(GivenEmbeddings(), margin=0.5)(features, same)
        cosines, _ = pair_cosines(x, LABELS)
        distance = 1 - cosines
        far = distance[same] > distance[~same].min()
        near = distance[~same] < distance[same].max()
        assert online_contrastive(x, LABELS) == pytest.approx(
            float(theirs) / int(far.sum() + near.sum()), rel=1e-9
        )


def test_cos_equals_sentence_transformers_when_all_pairs_weigh_the_same() -> None:
    from sentence_transformers.sentence_transformer.losses import CosineSimilarityLoss

    x = batch()
    features, same = pairs(x)
    targets = torch.where(same, 0.8, 0.3).double()
    theirs = CosineSimilarityLoss(GivenEmbeddings())(features, targets)
    assert cosine_targets(x, LABELS, negatives_per_positive=1e9) == pytest.approx(float(theirs))


def test_smax_equals_a_softmax_over_the_concatenation() -> None:
    x, weight = batch(), batch(9, 18, 2)
    first, second = torch.triu_indices(8, 8, 1)
    u, v = x[first], x[second]
    logits = torch.cat([u, v, (u - v).abs()], 1) @ weight
    same = (LABELS[first] == LABELS[second]).long()
    naive = nn.functional.cross_entropy(logits, same)
    assert pair_softmax(x, LABELS, weight, 1e9) == pytest.approx(float(naive))


def test_supcon_equals_a_double_loop() -> None:
    x = batch()
    unit = (x / x.norm(dim=1, keepdim=True)).numpy()
    total, rows = 0.0, 0
    for i in range(8):
        others = [j for j in range(8) if j != i]
        positives = [j for j in others if LABELS[j] == LABELS[i]]
        below = np.log(sum(np.exp(unit[i] @ unit[j] / 0.1) for j in others))
        total -= np.mean([unit[i] @ unit[p] / 0.1 - below for p in positives])
        rows += 1
    assert supervised_contrastive(x, LABELS, 0.1) == pytest.approx(total / rows)


def test_supcon_leaves_out_a_row_without_a_positive_and_stays_finite() -> None:
    x = batch()
    labels = torch.tensor([0, 0, 1, 1, 2, 2, 2, 9])
    assert torch.isfinite(supervised_contrastive(x, labels, 0.07))
    assert supervised_contrastive(x[:1], labels[:1], 0.07) == 0.0


def test_prototype_cross_entropy_of_right_angles_by_hand() -> None:
    """Own prototype at cosine 1, the other at 0: -log(e^2 / (e^2 + 1)) at temperature 0.5."""
    x = torch.tensor([[3.0, 0.0]])
    found = prototype_cross_entropy(x, torch.tensor([0]), torch.eye(2), 0.5)
    assert found == pytest.approx(np.log1p(np.exp(-2.0)))


@pytest.mark.parametrize("name", LOSSES)
@settings(deadline=None, max_examples=15)
@given(seed=seeds)
def test_the_order_of_the_batch_does_not_matter(name: str, seed: int) -> None:
    x, order = batch(seed), torch.randperm(8, generator=torch.Generator().manual_seed(seed))
    if name == "smax":  # the lower row is u: only a symmetric weight makes the order free
        weight = batch(9, 18, 2)
        weight[6:12] = weight[:6]
        left, right = pair_softmax(x, LABELS, weight), pair_softmax(x[order], LABELS[order], weight)
    else:
        left, right = LOSSES[name](x, LABELS), LOSSES[name](x[order], LABELS[order])
    assert left == pytest.approx(float(right), rel=1e-9)


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_equal_numeric_ones(name: str) -> None:
    x = batch(3).requires_grad_()
    assert torch.autograd.gradcheck(lambda z: LOSSES[name](z, LABELS), (x,), eps=1e-6, atol=1e-5)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize(
    "labels", [[0], [0, 1], [1, 1], [0, 0, 0, 0], [0, 1, 2, 0]], ids=lambda x: str(x)
)
@pytest.mark.parametrize("equal", [False, True], ids=["spread", "equal"])
def test_degenerate_batches_give_finite_losses_and_gradients(name, labels, equal) -> None:
    x = torch.ones(len(labels), 6, dtype=torch.float64) if equal else batch(1, len(labels))
    x = x.requires_grad_()
    loss = LOSSES[name](x, torch.tensor(labels))
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(x.grad).all()
