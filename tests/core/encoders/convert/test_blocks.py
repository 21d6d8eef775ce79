"""Each part of ConveRT against values computed by hand."""

import math

import pytest
import torch

from core.encoders.convert.blocks import (
    FeedForward2,
    Reduction,
    RelativeAttention,
    attention_weights,
    fast_gelu,
)
from core.encoders.convert.network import ConvertNetwork, new_network, pad
from core.encoders.convert.quantisation import stored_weights
from core.encoders.convert.sizes import PAPER, SMALL, Sizes, named_sizes

TINY = Sizes(
    pieces=20, buckets=5, width=8, projection=4, reach=(1, 3), inner=16, layers=2, output=4
)


def n_weights(module: torch.nn.Module) -> int:
    return sum(weight.numel() for weight in module.parameters())


def test_the_activation_is_the_papers() -> None:
    values = torch.tensor([0.0, 1.0, -2.0])
    expected = [0.0, 1 / (1 + math.exp(-1.702)), -2 / (1 + math.exp(2 * 1.702))]
    assert fast_gelu(values).tolist() == pytest.approx(expected, abs=1e-6)


def test_a_position_is_the_sum_of_its_remainders_by_47_and_11() -> None:
    sizes = named_sizes("small", 30, history=False)
    network = new_network(sizes, seed=0, quantised=True).eval()
    first, second = (table.weight for table in network.positions)
    assert (len(first), len(second)) == (47, 11)
    found = network.embed(torch.zeros(1, 520, dtype=torch.long))[0]
    word = network.words.weight[0]
    for step in (0, 46, 47, 100, 516, 517, 519):
        expected = word + first[step % 47] + second[step % 11]
        assert torch.allclose(found[step], expected, atol=1e-7)
    assert torch.equal(found[517], found[0])  # 47 and 11 share no divisor: 517 different ones
    assert len({tuple(row.tolist()) for row in found[:517]}) == 517


def test_attention_ends_at_its_reach_and_at_the_text() -> None:
    attention = RelativeAttention(TINY, reach=1, quantised=False)
    present = torch.tensor([[True, True, True, False]])
    query = torch.zeros(1, 4, 4)
    weights = attention.weights(query, query, present)[0]
    half, third = 0.5, pytest.approx(1 / 3)
    assert weights[0].tolist() == [half, half, 0, 0]
    assert weights[1].tolist() == [third, third, third, 0]
    assert weights[2].tolist() == [0, half, half, 0]


def test_the_bias_depends_on_the_relative_position_alone() -> None:
    attention = RelativeAttention(TINY, reach=1, quantised=False)
    attention.bias.data = torch.tensor([0.0, math.log(2), math.log(5)])  # before, itself, after
    query = torch.zeros(1, 3, 4)
    weights = attention.weights(query, query, torch.ones(1, 3, dtype=torch.bool))[0]
    assert weights[0].tolist() == pytest.approx([2 / 7, 5 / 7, 0])
    assert weights[1].tolist() == pytest.approx([1 / 8, 2 / 8, 5 / 8])
    assert weights[2].tolist() == pytest.approx([0, 1 / 3, 2 / 3])


def test_scores_are_divided_by_the_root_of_the_projection() -> None:
    query = torch.tensor([[[2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]])
    key = torch.tensor([[[3.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]])
    weights = attention_weights(query, key, None, torch.ones(1, 1, 2, dtype=torch.bool))
    assert weights[0, 0, 0].item() == pytest.approx(1 / (1 + math.exp(-3)))


def test_the_reduction_sums_attention_over_the_root_of_the_length() -> None:
    reduction = Reduction(TINY, quantised=False)
    for weight in reduction.parameters():
        weight.data.zero_()  # so that each token attends to all alike
    tokens = torch.arange(24.0).view(1, 3, 8)
    present = torch.tensor([[True, True, False]])
    reduced = reduction(tokens, present)[0]
    expected = (tokens[0, 0] + tokens[0, 1]) / math.sqrt(2)
    assert reduced.shape == (16,)
    assert torch.allclose(reduced[:8], expected)
    assert torch.allclose(reduced[8:], expected)


def test_the_fused_reduction_equals_attending_first_and_reducing_then() -> None:
    torch.manual_seed(0)
    reduction = Reduction(TINY, quantised=False)
    tokens, present = torch.randn(2, 5, 8), torch.ones(2, 5, dtype=torch.bool)
    parts = reduction.queries_keys(tokens).split(4, dim=-1)
    attended = [
        attention_weights(parts[2 * head], parts[2 * head + 1], None, present[:, None]) @ tokens
        for head in range(2)
    ]
    expected = torch.cat([part.sum(1) / math.sqrt(5) for part in attended], dim=-1)
    assert torch.allclose(reduction(tokens, present), expected, atol=1e-5)


def test_feed_forward_2_starts_orthogonal_skips_and_ends_with_length_one() -> None:
    block = FeedForward2(TINY, quantised=False)
    for layer in block.layers:
        product = layer.weight @ layer.weight.T
        assert torch.allclose(product, torch.eye(16), atol=1e-5)
    for layer in block.layers:
        layer.weight.data.zero_()
    block.final.weight.data = torch.eye(16)[:4]
    values = torch.tensor([[1.0, 2.0, 3.0, 4.0] * 4])
    skipped = torch.nn.functional.layer_norm(values, (16,))
    expected = torch.nn.functional.normalize(skipped[:, :4], dim=1)
    assert torch.allclose(block(values), expected, atol=1e-4)


def test_padding_changes_nothing() -> None:
    network = new_network(TINY, seed=0, quantised=False).eval()
    texts = [[1, 2, 3, 4, 5, 6, 7], [3], [5, 6]]
    together, present = pad(texts, torch.device("cpu"))
    padded = network(together, present)
    for row, ids in enumerate(texts):
        alone = network(*pad([ids], torch.device("cpu")))
        assert torch.allclose(padded[row], alone[0], atol=1e-5)
    assert torch.allclose(network.reduce(texts), padded, atol=1e-5)


def test_the_paper_size_has_the_papers_parameters_and_its_file_fits() -> None:
    """Table 2 counts 16 M of embeddings and 13 M of network: what both sides share."""
    network = ConvertNetwork(PAPER, quantised=True)
    embeddings = n_weights(network.words) + n_weights(network.positions)
    assert embeddings == (31_476 + 1_000 + 47 + 11) * 512
    assert round(embeddings / 1e6, 1) == 16.7
    shared = n_weights(network.blocks) + n_weights(network.reduction)
    assert 13.0e6 < shared < 13.99e6
    per_side = 3 * (1024 * 1024 + 3 * 1024) + 1024 * 512 + 512
    assert [n_weights(side) for side in network.sides.values()] == [per_side] * 2
    size = sum(value.nbytes for value in stored_weights(network, quantised=True).values())
    assert size < 59e6
    assert size + 2 * per_side < 73e6  # one more side for earlier turns


def test_the_small_size_differs_in_numbers_alone() -> None:
    assert SMALL.sides == PAPER.sides
    assert named_sizes("small", 9, history=True).sides == ("context", "response", "history")
    assert n_weights(ConvertNetwork(SMALL, quantised=True)) < 6e6


def test_one_seed_makes_one_network_and_leaves_other_randomness_alone() -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    one, same, other = (new_network(TINY, seed, quantised=True) for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(one.words.weight, same.words.weight)
    assert not torch.equal(one.words.weight, other.words.weight)
