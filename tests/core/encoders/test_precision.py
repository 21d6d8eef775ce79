"""The number format of a tuning: chosen by the machine, near float32 in what it makes."""

import pytest
import torch
from torch.nn.functional import cosine_similarity

from core.encoders import precision
from core.encoders.base import TuningOptions
from core.encoders.opening import open_tuning
from core.encoders.packed.encoder import TransformerEncoder
from core.recipes.labels import ConvfitRecipe, InstantRecipe
from core.training.devices import precision_of, tuning_options
from core.types import Precision

TEXTS = ["hello there", "where is my parcel, please?", "good morning", "word " * 30]


@pytest.mark.parametrize(
    ("has", "gain", "settled"),
    [(True, 4.0, "bfloat16"), (True, 1.1, "float32"), (False, 4.0, "float32")],
)
def test_bfloat16_needs_instructions_and_must_be_quicker(
    monkeypatch, *, has: bool, gain: float, settled: Precision
) -> None:
    monkeypatch.setattr(precision, "has_bfloat16", lambda: has)
    monkeypatch.setattr(precision, "bfloat16_gain", lambda: gain)
    assert precision.settled_precision("auto", "cpu") == settled
    assert precision.settled_precision("float32", "cpu") == "float32"
    assert precision.settled_precision("bfloat16", "cpu") == "bfloat16"
    assert tuning_options(ConvfitRecipe(), "cpu").precision == settled
    assert precision_of(ConvfitRecipe(), "cpu") == settled
    assert precision_of(InstantRecipe(), "cpu") == ""


@pytest.mark.parametrize("frozen", [0, 1])
def test_bfloat16_embeds_nearly_as_float32(tiny: TransformerEncoder, frozen: int) -> None:
    rows = torch.arange(len(TEXTS))
    embedded = {}
    for name in ("float32", "bfloat16"):
        options = TuningOptions(frozen_layers=frozen, precision=name)  # type: ignore[arg-type]
        tuning = open_tuning(tiny, TEXTS, options)
        tuning.eval()
        embedded[name] = tuning(rows).detach()
        assert embedded[name].dtype == torch.float32
    assert not torch.equal(embedded["float32"], embedded["bfloat16"])
    assert float(cosine_similarity(*embedded.values()).min()) > 0.999


def test_weights_and_gradients_stay_in_float32(tiny: TransformerEncoder) -> None:
    tuning = open_tuning(tiny, TEXTS, TuningOptions(frozen_layers=1, precision="bfloat16"))
    tuning(torch.arange(len(TEXTS))).sum().backward()
    for name, weight in tuning.trainable():
        assert weight.dtype == torch.float32, name
        assert weight.grad is not None, name
        assert weight.grad.dtype == torch.float32, name
