"""Quick copies of an encoder: near it, chosen by the machine, never under its fingerprint."""

import time

import numpy as np
import pytest
import torch
from torch import nn

from core.encoders.adapter.encoder import AdaptedEncoder
from core.encoders.base import AdapterOptions, Encoder, TuningOptions
from core.encoders.loading import load_encoder
from core.encoders.opening import open_tuning
from core.encoders.packed.encoder import TransformerEncoder
from core.encoders.quick import copies
from core.encoders.quick.copies import fingerprint_of_copy, quick_copy, settled_encoding
from core.types import AskedEncodingPrecision, EncodingPrecision
from tests.builders.nearly_equal import computes_right
from tests.conftest import SENTENCES

TEXTS = [text for texts in SENTENCES.values() for text in texts]
QUICK: tuple[EncodingPrecision, ...] = ("bfloat16", "int8")


@pytest.fixture(autouse=True)
def able(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Let the processor pass for one with all instructions, where torch is then slow, not wrong.

    Without AVX-512 torch refuses bfloat16, and its sums of 8-bit products overflow.
    """
    case = getattr(request.node, "callspec", None)
    asked = None if case is None else case.params.get("precision")
    if asked in QUICK and not computes_right(asked):
        pytest.skip(f"this processor computes no {asked}")
    monkeypatch.setattr(copies, "has_bfloat16", lambda: True)
    monkeypatch.setattr(copies, "has_eight_bits", lambda: True)


@pytest.mark.parametrize(
    ("asked", "tuned_in", "narrow", "small", "settled"),
    [
        ("auto", "bfloat16", True, True, "bfloat16"),
        ("auto", "float32", True, True, "int8"),
        ("auto", "float32", False, False, "float32"),
        ("float32", "bfloat16", True, True, "float32"),
        ("bfloat16", "float32", True, True, "bfloat16"),
        ("bfloat16", "float32", False, True, "float32"),
        ("int8", "bfloat16", True, True, "int8"),
        ("int8", "bfloat16", True, False, "float32"),
    ],
)
def test_a_format_needs_its_instructions_and_auto_prefers_bfloat16(
    monkeypatch: pytest.MonkeyPatch,
    *,
    asked: AskedEncodingPrecision,
    tuned_in: EncodingPrecision,
    narrow: bool,
    small: bool,
    settled: EncodingPrecision,
) -> None:
    monkeypatch.setattr(copies, "settled_precision", lambda asked, device: tuned_in)
    monkeypatch.setattr(copies, "has_bfloat16", lambda: narrow)
    monkeypatch.setattr(copies, "has_eight_bits", lambda: small)
    assert settled_encoding(asked) == settled


@pytest.mark.parametrize(("precision", "least"), [("bfloat16", 0.9998), ("int8", 0.98)])
def test_embeddings_are_near_those_of_the_encoder(
    precision: EncodingPrecision, least: float
) -> None:
    encoder = load_encoder("bundled")
    copy = quick_copy(encoder, precision)
    assert copy.fingerprint == fingerprint_of_copy(encoder.fingerprint, precision)
    assert copy.fingerprint != encoder.fingerprint
    exact, found = encoder.encode(TEXTS), copy.encode(TEXTS)
    assert found.dtype == np.float32
    assert not np.array_equal(exact, found)
    assert float((exact * found).sum(1).min()) > least
    np.testing.assert_array_equal(encoder.encode(TEXTS), exact)  # the encoder is as it was


@pytest.mark.parametrize("kind", ["lora", "bottleneck"])
@pytest.mark.parametrize("precision", QUICK)
def test_an_adapter_is_part_of_the_copy(
    tiny: TransformerEncoder, kind: str, precision: EncodingPrecision
) -> None:
    options = TuningOptions(frozen_layers=0, adapter=AdapterOptions(kind=kind))  # type: ignore[arg-type]
    tuning = open_tuning(tiny, TEXTS, options)
    with torch.no_grad():
        for _, weight in tuning.trainable():
            weight.add_(0.2 * torch.randn(weight.shape, generator=torch.manual_seed(0)))
    adapted: Encoder = tuning.finish()
    assert isinstance(adapted, AdaptedEncoder)
    exact, plain = adapted.encode(TEXTS), tiny.encode(TEXTS)
    found = quick_copy(adapted, precision).encode(TEXTS)
    assert float(np.abs(found - exact).max()) < 0.1 * float(np.abs(exact - plain).max())


@pytest.mark.parametrize("precision", QUICK)
def test_batches_side_by_side_give_the_bits_of_one_after_the_other(
    tiny: TransformerEncoder, precision: EncodingPrecision, two_threads: None
) -> None:
    copy = quick_copy(tiny, precision)
    assert isinstance(copy, TransformerEncoder)
    assert copy.bert.words is tiny.bert.words  # tables are not copied
    assert isinstance(tiny.bert.layers[0].qkv, nn.Linear)
    texts, told = [f"{text} {number}" for text in TEXTS for number in range(90)], list[int]()
    side_by_side = copy.encode(texts, lambda done, total: told.append(done))
    assert torch.get_num_threads() == 2
    assert told[-1] == len(texts)
    assert len(told) > 2  # several batches
    torch.set_num_threads(1)
    np.testing.assert_array_equal(copy.encode(texts), side_by_side)


def test_an_encoding_that_is_stopped_leaves_its_other_batches(
    monkeypatch: pytest.MonkeyPatch, tiny: TransformerEncoder, two_threads: None
) -> None:
    copy, begun = quick_copy(tiny, "int8"), list[int]()
    encode = TransformerEncoder._encode_equal

    def counted(self: TransformerEncoder, ids: list[list[int]]) -> np.ndarray:
        begun.append(len(ids))
        time.sleep(0.02)
        return encode(self, ids)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(TransformerEncoder, "_encode_equal", counted)
    with pytest.raises(KeyboardInterrupt):
        copy.encode(["word " * length for length in range(1, 60)], stop)
    assert len(begun) < 59


def test_without_instructions_the_encoder_itself_is_taken(
    monkeypatch: pytest.MonkeyPatch, tiny: TransformerEncoder
) -> None:
    monkeypatch.setattr(copies, "has_eight_bits", lambda: False)
    assert quick_copy(tiny, "int8") is tiny
    assert quick_copy(tiny, "float32") is tiny
