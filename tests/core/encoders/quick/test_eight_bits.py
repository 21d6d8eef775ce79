"""Encoding in 8 bits: near float32, never under its fingerprint."""

import time

import numpy as np
import pytest
import torch
from torch import nn

from core.encoders.loading import load_encoder
from core.encoders.packed.encoder import TransformerEncoder
from core.encoders.quick import eight_bits
from core.encoders.quick.eight_bits import EightBitLinear, in_eight_bits
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


def test_batches_side_by_side_give_the_bits_of_one_after_the_other(
    monkeypatch, tiny: TransformerEncoder
) -> None:
    monkeypatch.setattr(eight_bits, "has_eight_bits", lambda: True)
    small = in_eight_bits(tiny)
    assert isinstance(small, TransformerEncoder)
    assert small.bert.words is tiny.bert.words  # tables are not copied
    assert isinstance(tiny.bert.layers[0].qkv, nn.Linear)
    texts = [f"{text} {number}" for text in TEXTS for number in range(40)]
    before, told = torch.get_num_threads(), list[int]()
    embedded = []
    for threads in (1, 3):
        torch.set_num_threads(threads)
        embedded.append(small.encode(texts, lambda done, total: told.append(done)))
        assert torch.get_num_threads() == threads
    torch.set_num_threads(before)
    np.testing.assert_array_equal(*embedded)
    assert told[-1] == len(texts)
    assert len(told) > 2  # several batches


def test_an_encoding_that_is_stopped_leaves_its_other_batches(
    monkeypatch, tiny: TransformerEncoder
) -> None:
    monkeypatch.setattr(eight_bits, "has_eight_bits", lambda: True)
    small = in_eight_bits(tiny)
    assert isinstance(small, TransformerEncoder)
    begun = list[int]()
    encode = TransformerEncoder._encode_equal

    def counted(self: TransformerEncoder, ids: list[list[int]]) -> np.ndarray:
        begun.append(len(ids))
        time.sleep(0.02)
        return encode(self, ids)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(TransformerEncoder, "_encode_equal", counted)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    with pytest.raises(KeyboardInterrupt):
        small.encode(["word " * length for length in range(1, 60)], stop)
    torch.set_num_threads(before)
    assert len(begun) < 59


def test_without_instructions_the_encoder_itself_is_taken(
    monkeypatch, tiny: TransformerEncoder
) -> None:
    monkeypatch.setattr(eight_bits, "has_eight_bits", lambda: False)
    assert in_eight_bits(tiny) is tiny
