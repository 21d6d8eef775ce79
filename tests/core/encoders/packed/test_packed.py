"""Packed batches: attention in groups, quick masks, and quick exact products."""

import copy

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from core.encoders.base import TuningOptions
from core.encoders.opening import open_tuning
from core.encoders.packed import linear
from core.encoders.packed.dropout import QuickDropout
from core.encoders.packed.encoder import TransformerEncoder
from core.encoders.packed.layout import lay_out, pool_mean
from core.types import Precision

TEXTS = ["a", "hello there", "where is my parcel, please?", "word " * 30, "ok", "good morning"]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(1, 48), min_size=1, max_size=40))
def test_groups_cover_each_token_once_with_little_padding(counts: list[int]) -> None:
    layout = lay_out(torch.tensor(sorted(counts)))
    places = [place for group in layout.groups for place in range(group.first, group.last)]
    assert places == list(range(sum(counts)))
    assert sum(group.n_texts for group in layout.groups) == len(counts)
    for group in layout.groups:
        cells, tokens = group.n_texts * group.longest, group.last - group.first
        assert tokens <= cells <= 1.2 * tokens
        assert (group.mask is None) == (cells == tokens)


def test_a_tokens_step_counts_from_the_start_of_its_text() -> None:
    assert lay_out(torch.tensor([2, 3, 1])).steps().tolist() == [0, 1, 0, 1, 2, 0]


def test_the_mean_of_a_text_takes_its_own_tokens_alone() -> None:
    tokens = torch.tensor([[1.0], [3.0], [10.0]])
    assert pool_mean(tokens, lay_out(torch.tensor([2, 1]))).tolist() == [[2.0], [10.0]]


def test_a_text_embeds_alike_wherever_it_stands_in_a_batch(tiny: TransformerEncoder) -> None:
    tuning = open_tuning(tiny, TEXTS, TuningOptions(frozen_layers=0))
    tuning.eval()
    with torch.no_grad():
        alone = torch.cat([tuning(torch.tensor([row])) for row in range(len(TEXTS))])
        shuffled = torch.tensor([3, 0, 5, 1, 4, 2])
        assert torch.allclose(tuning(shuffled), alone[shuffled], atol=1e-5)


def test_rows_without_a_text_change_neither_embeddings_nor_gradients(
    tiny: TransformerEncoder,
) -> None:
    """Every batch had another number of tokens, and oneDNN compiled its products anew."""
    lengths = torch.tensor([2, 2, 3, 7, 7])
    exact, stepped = lay_out(lengths), lay_out(lengths, 16)
    assert (exact.spare, stepped.spare) == (0, 11)
    bert = copy.deepcopy(tiny.bert).eval().requires_grad_(requires_grad=True)
    tokens = torch.randn(21, bert.shape.hidden_size)
    found = []
    for layout in (exact, stepped):
        rows = F.pad(tokens, (0, 0, 0, layout.spare))
        pooled = pool_mean(bert.run_layers(rows, layout, 0, len(bert.layers)), layout)
        bert.zero_grad()
        pooled.square().sum().backward()
        grads = [p.grad for p in bert.layers.parameters()]
        found.append((pooled.detach(), torch.cat([g.flatten() for g in grads if g is not None])))
    assert torch.allclose(found[0][0], found[1][0], atol=1e-6)
    assert torch.allclose(found[0][1], found[1][1], atol=1e-5)


def test_a_tuning_in_bfloat16_has_few_numbers_of_rows(tiny: TransformerEncoder) -> None:
    def rows_of(precision: Precision) -> list[int]:
        tuning = open_tuning(tiny, TEXTS, TuningOptions(frozen_layers=1, precision=precision))
        seen: list[int] = []
        tuning.bert.layers[-1].up.register_forward_hook(lambda *call: seen.append(len(call[2])))
        for chosen in ([0, 1, 2], [0, 2, 4, 5]):
            tuning(torch.tensor(chosen))
        return seen

    assert rows_of("bfloat16") == [128, 128]
    assert len(set(rows_of("float32"))) == 2


def test_dropout_keeps_its_share_and_scales_it_up() -> None:
    torch.manual_seed(0)
    drop = QuickDropout(0.1)
    rows = torch.ones(1000, 384, requires_grad=True)
    dropped = drop(rows)
    dropped.sum().backward()
    kept = dropped != 0
    assert float(kept.float().mean()) == pytest.approx(0.9, abs=0.002)
    assert dropped[kept].unique().tolist() == pytest.approx([1 / 0.9], abs=1e-4)
    assert rows.grad is not None
    assert torch.equal(rows.grad, dropped.detach())  # the gradient passes where the value does
    assert torch.equal(drop.eval()(rows), rows)


def test_the_same_state_of_torch_gives_the_same_masks() -> None:
    drop, rows = QuickDropout(0.5), torch.ones(64, 64)
    torch.manual_seed(3)
    state = torch.get_rng_state()
    first, second = drop(rows), drop(rows)
    torch.set_rng_state(state)
    assert torch.equal(drop(rows), first)
    assert not torch.equal(first, second)


def test_products_without_gradients_equal_torchs_to_rounding(monkeypatch) -> None:
    if not hasattr(torch.ops.mkldnn, "_linear_pointwise"):
        pytest.skip("this build of torch has no oneDNN")
    torch.manual_seed(0)
    layer = linear.LoadedLinear(384, 96)
    nn.init.normal_(layer.weight, std=0.05)
    nn.init.zeros_(layer.bias)
    monkeypatch.setattr(linear, "onednn_is_quicker", lambda: True)
    for count in (1, 16, 50, 129):
        rows = torch.randn(count, 384)
        with torch.no_grad():
            quick = layer(rows)
        trained = layer(rows)
        assert trained.requires_grad  # a tuning keeps the usual library, which has gradients
        assert np.allclose(quick.numpy(), trained.detach().numpy(), atol=1e-5)


def test_few_numbers_of_rows_reach_onednn(monkeypatch) -> None:
    """It keeps half a megabyte for each: a server grew by 200 MB while it embedded texts."""
    seen: set[int] = set()

    def multiply(rows: torch.Tensor, weight: torch.Tensor, *_: object) -> torch.Tensor:
        seen.add(len(rows))
        return rows @ weight.T

    monkeypatch.setattr(torch.ops.mkldnn, "_linear_pointwise", multiply, raising=False)
    weight = torch.randn(4, 8)
    for count in range(1, 1025):
        rows = torch.ones(count, 8)
        assert linear._by_onednn(rows, weight, torch.zeros(4)).shape == (count, 4)
    assert len(seen) == 15
    assert {16, 128, 256, 1024} <= seen
