"""A product in 8 bits is that of rounded numbers."""

import pytest
import torch
from torch import nn

from core.encoders.quick.eight_bits import EightBitLinear


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
