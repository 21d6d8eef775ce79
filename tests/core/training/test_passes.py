"""A step's way through the encoder in two parts: the same gradients, the same bits each time."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from core.encoders.base import AdapterOptions, PartedTuning, Tuning, TuningOptions
from core.encoders.opening import open_tuning
from core.encoders.packed.encoder import TransformerEncoder
from core.recipes.labels import AdapterRecipe, ConvfitRecipe, TunedRecipe
from core.training.checkpoints import Checkpoint
from core.training.devices import Share
from core.training.events import CheckpointReady
from core.training.loop import FitOptions, fit
from core.training.passes import open_pass
from core.types import AskedPrecision
from tests.conftest import SENTENCES

pytestmark = pytest.mark.usefixtures("two_threads")

TEXTS = [text for texts in SENTENCES.values() for text in texts]
LABELS = [place for place, texts in enumerate(SENTENCES.values()) for _ in texts]
OPTIONS = TuningOptions(frozen_layers=1)


def gradients(tuning: Tuning, threads: int) -> tuple[float, Tensor, list[Tensor]]:
    """The loss, the embeddings, and the weights' gradients of one batch."""
    torch.set_num_threads(threads)
    for _, weight in tuning.trainable():
        weight.grad = None
    rows = torch.tensor([7, 0, 3, 5, 1, 6, 2])
    with open_pass(tuning, Share()) as take:
        loss, embedded = take(rows, lambda embeddings: (embeddings @ embeddings.T).sigmoid().sum())
    return float(loss), embedded, [p.grad for _, p in tuning.trainable() if p.grad is not None]


@pytest.mark.parametrize("adapter", [None, AdapterOptions("bottleneck"), AdapterOptions("lora")])
@pytest.mark.parametrize("frozen", [0, 1])
def test_two_threads_find_the_gradients_of_one(
    tiny: TransformerEncoder, frozen: int, adapter: AdapterOptions | None
) -> None:
    options = replace(OPTIONS, frozen_layers=frozen, adapter=adapter, projection="keep")
    tuning = open_tuning(tiny, TEXTS, options)
    tuning.eval()  # no masks, which differ
    whole, parted = gradients(tuning, 1), gradients(tuning, 2)
    assert parted[0] == pytest.approx(whole[0], rel=1e-5)
    torch.testing.assert_close(parted[1], whole[1], atol=1e-5, rtol=1e-5)
    assert len(whole[2]) > 1
    torch.testing.assert_close(parted[2], whole[2], atol=1e-4, rtol=1e-3)


def test_a_part_is_computed_by_one_thread_in_both_directions(
    monkeypatch: pytest.MonkeyPatch, tiny: TransformerEncoder
) -> None:
    """Two threads inside the operations of each part would be four on two cores."""
    tuning, seen = open_tuning(tiny, TEXTS, OPTIONS), list[int]()
    layer = tuning.bert.layers[-1]
    layer.register_forward_hook(lambda *call: seen.append(torch.get_num_threads()))
    layer.up.weight.register_hook(lambda grad: seen.append(torch.get_num_threads()))
    gradients(tuning, 2)
    assert seen == [1] * 4
    assert torch.get_num_threads() == 2


def test_each_text_is_in_one_part_and_parts_have_as_many_tokens(tiny: TransformerEncoder) -> None:
    texts = [("word " * count).strip() for count in range(1, 9)] * 4
    tuning = open_tuning(tiny, texts, OPTIONS)
    assert isinstance(tuning, PartedTuning)
    network, rows = tuning.in_parts(), torch.arange(len(texts))
    first, second = network.deal(rows, 2)
    assert sorted([*first.tolist(), *second.tolist()]) == rows.tolist()
    tokens = [int(tuning.prefix.lengths[rows[part]].sum()) for part in (first, second)]
    assert max(tokens) < 1.2 * min(tokens)
    assert [len(part) for part in network.deal(torch.tensor([3]), 2)] == [1]


@pytest.mark.parametrize("threads", [1, 4])
def test_other_numbers_of_threads_take_the_batch_as_a_whole(
    monkeypatch: pytest.MonkeyPatch, tiny: TransformerEncoder, threads: int
) -> None:
    tuning, seen = open_tuning(tiny, TEXTS, OPTIONS), list[int]()
    monkeypatch.setattr(type(tuning), "in_parts", lambda *_: seen.append(1))
    gradients(tuning, threads)
    assert seen == []


def weights_after(
    tiny: TransformerEncoder, recipe: TunedRecipe, resume: Checkpoint | None = None
) -> tuple[dict[str, Tensor], list[Checkpoint]]:
    adapter = AdapterOptions() if isinstance(recipe, AdapterRecipe) else None
    options = replace(OPTIONS, adapter=adapter, precision=recipe.precision)  # type: ignore[arg-type]
    tuning = open_tuning(tiny, TEXTS, options)
    events = list(fit(tuning, LABELS, recipe, FitOptions(resume=resume, checkpoint_every=2)))
    kept = [event.checkpoint for event in events if isinstance(event, CheckpointReady)]
    return {name: weight.detach().clone() for name, weight in tuning.trainable()}, kept


@pytest.mark.parametrize("kind", [ConvfitRecipe, AdapterRecipe])
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_two_threads_repeat_and_resume_bit_for_bit(
    tiny: TransformerEncoder, precision: AskedPrecision, kind: type[TunedRecipe]
) -> None:
    """Masks are drawn and gradients summed in an order that no thread can change."""
    recipe = kind(epochs=6, frozen_layers=1, learning_rate=1e-3, precision=precision)
    whole, kept = weights_after(tiny, recipe)
    again, _ = weights_after(tiny, recipe)
    torch.manual_seed(12345)  # whatever else has drawn random numbers meanwhile
    np.random.seed(1)  # noqa: NPY002 - the same
    resumed, rest = weights_after(tiny, recipe, kept[0])
    assert len(rest) < len(kept)
    for name, weight in whole.items():
        assert torch.equal(weight, again[name]), name
        assert torch.equal(weight, resumed[name]), name


def test_a_tuned_encoder_computes_batches_side_by_side_with_the_bits_of_one_thread(
    tiny: TransformerEncoder,
) -> None:
    """Two threads inside each operation took twice the processor time, and rounded otherwise."""
    tuned = open_tuning(tiny, TEXTS, OPTIONS).finish(0.5)
    assert isinstance(tuned, TransformerEncoder)
    texts = [f"{text} {number}" for text in TEXTS for number in range(400)]
    assert tuned._threads(tuned.token_ids(texts, 64)) == torch.get_num_threads()
    found = tuned.encode(texts)
    torch.set_num_threads(1)
    np.testing.assert_array_equal(tuned.encode(texts), found)
