"""Eight bits with a moving range, sixteen for the rest."""

import pytest
import torch

from core.encoders.convert.quantisation import (
    HalfLinear,
    QuantisedEmbedding,
    from_codes,
    grown_range,
    read_weights,
    settle,
    stored_weights,
    straight_through,
    to_codes,
)


def table(values: list[list[float]]) -> QuantisedEmbedding:
    made = QuantisedEmbedding(len(values), len(values[0]), quantised=True)
    made.weight.data = torch.tensor(values)
    return made


def test_the_range_leaves_a_tenth_or_a_hundredth_whichever_is_larger() -> None:
    assert grown_range(-1.0, 3.0) == pytest.approx((-1.4, 3.4))
    assert grown_range(0.0, 0.05) == pytest.approx((-0.01, 0.06))
    assert grown_range(0.2, 0.2) == pytest.approx((0.19, 0.21))


def test_codes_are_256_levels_of_the_range() -> None:
    span = torch.tensor([-1.0, 1.55])
    values = torch.tensor([-1.0, 1.55, 0.0, 0.004, 9.0, -9.0])
    codes = to_codes(values, span)
    assert codes.tolist() == [0, 255, 100, 100, 255, 0]
    back = from_codes(codes, span)
    assert back[:4].tolist() == pytest.approx([-1.0, 1.55, 0.0, 0.0], abs=1e-6)
    assert torch.equal(to_codes(back, span), codes)


def test_the_range_follows_the_values_and_settling_moves_it_only_where_it_must() -> None:
    embedding = table([[0.0, 1.0]])
    embedding.follow_values()
    assert embedding.span.tolist() == pytest.approx([-0.1, 1.1])
    embedding.weight.data[0, 1] = 1.05
    embedding.settle()
    assert embedding.span.tolist() == pytest.approx([-0.1, 1.1])
    assert embedding.weight[0, 1].item() == pytest.approx(1.05, abs=1.2 / 255)
    embedding.weight.data[0, 1] = 2.0
    embedding.settle()
    assert embedding.span[1].item() > 2.0


def test_training_computes_with_what_is_stored_and_gradients_pass() -> None:
    embedding = table([[0.001, 0.5], [0.25, -0.5]])
    embedding.follow_values()
    embedding.train()
    rows = embedding(torch.tensor([0, 0]))
    stored = from_codes(to_codes(embedding.weight, embedding.span), embedding.span)
    assert torch.equal(rows[0], stored[0])
    assert not torch.equal(rows[0], embedding.weight[0])
    rows.sum().backward()
    assert embedding.weight.grad.tolist() == [[2.0, 2.0], [0.0, 0.0]]
    embedding.eval()
    assert torch.equal(embedding(torch.tensor([0]))[0], embedding.weight[0])


def test_linear_layers_train_in_sixteen_bits() -> None:
    layer = HalfLinear(1, 1, quantised=True)
    layer.weight.data.fill_(1 + 2**-12)  # halves end at 2^-10 there
    layer.bias.data.zero_()
    layer.train()
    assert layer(torch.ones(1, 1)).item() == 1.0
    layer.eval()
    assert layer(torch.ones(1, 1)).item() > 1.0
    exact = torch.tensor([0.3], requires_grad=True)
    straight_through(exact, exact.round()).backward()
    assert exact.grad.tolist() == [1.0]


def test_what_is_settled_is_stored_without_loss() -> None:
    torch.manual_seed(0)
    module = torch.nn.ModuleDict(
        {"a": table(torch.randn(5, 4).tolist()), "b": HalfLinear(4, 3, quantised=True)}
    )
    settle(module, quantised=True)
    stored = stored_weights(module, quantised=True)
    kinds = {name: value.dtype for name, value in stored.items()}
    assert kinds["a.weight"] == torch.uint8
    assert kinds["a.span"] == torch.float32
    assert kinds["b.weight"] == kinds["b.bias"] == torch.float16
    other = torch.nn.ModuleDict(
        {"a": table([[0.0] * 4] * 5), "b": HalfLinear(4, 3, quantised=True)}
    )
    read_weights(other, stored)
    for name, value in module.state_dict().items():
        assert torch.equal(other.state_dict()[name], value)
    again = stored_weights(other, quantised=True)
    assert all(torch.equal(again[name], stored[name]) for name in stored)


def test_full_precision_is_stored_as_it_is() -> None:
    module = torch.nn.ModuleDict({"a": QuantisedEmbedding(2, 2, quantised=False)})
    module["a"].weight.data = torch.tensor([[0.123456, 1.0], [2.0, 3.0]])
    settle(module, quantised=False)
    stored = stored_weights(module, quantised=False)
    assert stored["a.weight"].dtype == torch.float32
    assert stored["a.weight"][0, 0].item() == pytest.approx(0.123456, abs=1e-7)
