"""Encoding in 8 bits: near float32, never under its fingerprint."""

import numpy as np
import pytest
import torch
from torch import nn

from core.encoders import eight_bits
from core.encoders.eight_bits import EightBitLinear, in_eight_bits
from core.encoders.loading import load_encoder
from core.encoders.packed.encoder import TransformerEncoder
from tests.conftest import SENTENCES

TEXTS = [text for texts in SENTENCES.values() for text in texts]


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


def test_embeddings_are_near_those_of_the_encoder(monkeypatch) -> None:
    monkeypatch.setattr(eight_bits, "has_eight_bits", lambda: True)
    encoder = load_encoder("bundled")
    small = in_eight_bits(encoder)
    assert small.fingerprint != encoder.fingerprint
    assert in_eight_bits(encoder).fingerprint == small.fingerprint
    cosines = (encoder.encode(TEXTS) * small.encode(TEXTS)).sum(1)
    assert float(cosines.min()) > 0.98
    assert float(np.mean(cosines)) > 0.99


def test_without_instructions_the_encoder_itself_is_taken(
    monkeypatch, tiny: TransformerEncoder
) -> None:
    monkeypatch.setattr(eight_bits, "has_eight_bits", lambda: False)
    assert in_eight_bits(tiny) is tiny
