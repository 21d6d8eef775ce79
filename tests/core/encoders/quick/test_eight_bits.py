"""A product in 8 bits is that of rounded numbers."""

import time

import pytest
import torch
from torch import nn

from core.encoders.quick.eight_bits import EightBitLinear
from tests.builders.nearly_equal import computes_right


def test_a_product_is_that_of_rounded_numbers() -> None:
    layer = nn.Linear(2, 1)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[1.27, -0.5]]))
        layer.bias.fill_(10.0)
    small = EightBitLinear(layer)
    assert small.step.tolist() == pytest.approx([0.01])  # so the weights are 127 and -50
    # The row's step is 2.54 / 127 = 0.02: (127, 1.0 / 0.02 = 50), summed to 127 * 127 - 50 * 50.
    expected = 10.0 + (127 * 127 - 50 * 50) * 0.02 * 0.01
    assert float(small(torch.tensor([[2.54, 1.0]]))) == pytest.approx(expected, abs=1e-5)
    assert float(small(torch.zeros(1, 2))) == pytest.approx(10.0)


@pytest.mark.skipif(not computes_right("int8"), reason="sums of 8-bit products overflow here")
def test_every_product_is_exact_in_whole_numbers_below_and_above_zero() -> None:
    """Tokens are unsigned for the processor: what stands for zero is taken out of every sum."""
    torch.manual_seed(0)
    layer, rows = nn.Linear(96, 40), torch.randn(50, 96)
    small = EightBitLinear(layer)
    step = rows.abs().amax(1, keepdim=True) / 127
    weights = (layer.weight / small.step[:, None]).round().double()
    sums = (rows / step).round().double() @ weights.T
    expected = sums * small.step.double() * step.double() + layer.bias.double()
    assert torch.allclose(small(rows).double(), expected, atol=1e-5)


def test_a_product_in_eight_bits_is_not_that_of_the_reference() -> None:
    """Without AMX oneDNN has no quick routine for signed tokens: one product took 1.6 seconds."""
    layer, rows = nn.Linear(384, 1536), torch.randn(112, 384)
    small = EightBitLinear(layer)

    def best(product: nn.Module) -> float:
        seconds = []
        for _ in range(5):
            began = time.perf_counter()
            product(rows)
            seconds.append(time.perf_counter() - began)
        return min(seconds)

    with torch.inference_mode():
        assert best(small) < 50 * best(layer)  # about 0.5 times where it is quick, 1,000 where not
