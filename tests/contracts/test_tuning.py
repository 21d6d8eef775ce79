"""What every encoder promises once it is opened for tuning."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from core.encoders.base import Encoder, Tuning, TuningOptions
from core.encoders.loading import load_folder
from core.encoders.opening import open_tuning
from core.errors import InvalidInput
from core.recipes.labels import ConvfitRecipe
from core.training.checkpoints import Checkpoint
from core.training.events import CheckpointReady, StepDone
from core.training.loop import FitOptions, fit
from tests.builders.tiny_encoder import HashingEncoder, tiny_folder, tiny_transformer
from tests.conftest import SENTENCES

TEXTS = [text for texts in SENTENCES.values() for text in texts]
LABELS = [place for place, texts in enumerate(SENTENCES.values()) for _ in texts]
ROWS = torch.tensor([5, 0, 17, 2])
RECIPE = ConvfitRecipe(epochs=2, frozen_layers=1, learning_rate=1e-3, interpolation=1.0)
WRITERS: dict[str, Callable[[Path], Path]] = {
    "packed-bert": tiny_folder,
    "mpnet": lambda folder: tiny_transformer(folder, "mpnet"),
    "roberta": lambda folder: tiny_transformer(folder, "roberta"),
    "distilbert": lambda folder: tiny_transformer(folder, "distilbert"),
    "modernbert": lambda folder: tiny_transformer(folder, "modernbert", "cls_token"),
    "bert-cls": lambda folder: tiny_transformer(folder, "bert", "cls_token"),
}


@pytest.fixture(scope="module", params=WRITERS)
def base(request, tmp_path_factory) -> Encoder:
    return load_folder(WRITERS[request.param](tmp_path_factory.mktemp("bases") / request.param))


def opened(base: Encoder, frozen: int = 1, **options: object) -> Tuning:
    return open_tuning(base, TEXTS, TuningOptions(frozen_layers=frozen, **options))


def tuned(base: Encoder, frozen: int, resume: Checkpoint | None = None):
    tuning = opened(base, frozen)
    options = FitOptions(resume=resume, checkpoint_every=3)
    events = list(fit(tuning, LABELS, RECIPE, options))
    return tuning, events


def weights(encoder: Encoder) -> dict[str, torch.Tensor]:
    module = encoder.bert if hasattr(encoder, "bert") else encoder.model
    return {name: value.detach().clone() for name, value in module.named_parameters()}


def layer_of(name: str) -> str:
    return next((part for part in name.split(".")[1:] if part in {"0", "1"}), "below")


@pytest.mark.parametrize("frozen", [0, 1, 9])
def test_an_opened_encoder_embeds_as_the_closed_one(base: Encoder, frozen: int) -> None:
    tuning = opened(base, frozen)
    tuning.eval()
    with torch.no_grad():
        rows = torch.nn.functional.normalize(tuning(ROWS), dim=1).numpy()
    closed = base.encode([TEXTS[row] for row in ROWS])
    assert rows == pytest.approx(closed / np.linalg.norm(closed, axis=1)[:, None], abs=1e-5)
    assert tuning.device == torch.device("cpu")


def test_dropout_works_on_the_upper_layers_alone(base: Encoder) -> None:
    tuning = opened(base)
    tuning.train()
    frozen = getattr(tuning, "frozen", [])
    assert not any(module.training for part in frozen for module in part.modules())
    dropouts = [m for m in tuning.modules() if isinstance(m, torch.nn.Dropout) and m.training]
    assert dropouts


def test_longer_texts_are_cut_at_the_tokens_of_tuning(base: Encoder) -> None:
    options = TuningOptions(frozen_layers=1, max_tokens=6)
    tuning = open_tuning(base, ["a b c d", "a b c d e f g", "a"], options)
    tuning.eval()
    cut, whole, other = tuning(torch.tensor([1, 0, 2])).detach().numpy()
    assert cut == pytest.approx(whole, abs=1e-5)
    assert np.abs(cut - other).max() > 1e-3


def test_the_loss_falls(base: Encoder) -> None:
    recipe = RECIPE.model_copy(update={"epochs": 25, "learning_rate": 5e-3})
    steps = [e.loss for e in fit(opened(base), LABELS, recipe, FitOptions())]
    assert np.mean(steps[-5:]) < 0.9 * np.mean(steps[:5])


def test_upper_layers_change_and_lower_ones_and_the_base_do_not(base: Encoder) -> None:
    before, fingerprint = weights(base), base.fingerprint
    finished = tuned(base, 1)[0].finish()
    after = weights(finished)
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert any(layer_of(name) == "1" for name in changed)
    assert all(layer_of(name) == "1" or "final_norm" in name for name in changed)
    still = weights(base)
    assert all(torch.equal(still[name], before[name]) for name in before)
    assert base.fingerprint == fingerprint != finished.fingerprint
    assert not any(p.requires_grad for p in weights(finished).values())


def test_without_frozen_layers_the_token_tables_change_too(base: Encoder) -> None:
    before, after = weights(base), weights(tuned(base, 0)[0].finish())
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert {layer_of(name) for name in changed} == {"below", "0", "1"}


def test_interpolation_goes_half_the_way(base: Encoder) -> None:
    tuning = tuned(base, 1)[0]
    start, half, end = weights(base), weights(tuning.finish(0.5)), weights(tuning.finish())
    for name, value in half.items():
        assert torch.allclose(value, (start[name] + end[name]) / 2, atol=1e-6)
    assert tuning.finish(0.0).fingerprint == base.fingerprint


def test_one_seed_gives_one_encoder_resumed_or_not(base: Encoder) -> None:
    tuning, events = tuned(base, 0)
    again, _ = tuned(base, 0)
    kept = next(e.checkpoint for e in events if isinstance(e, CheckpointReady))
    torch.manual_seed(12345)  # whatever else has drawn random numbers meanwhile
    resumed, rest = tuned(base, 0, kept)
    steps = [e for e in rest if isinstance(e, StepDone)]
    assert 0 < len(steps) < len([e for e in events if isinstance(e, StepDone)])
    fingerprints = {t.finish().fingerprint for t in (tuning, again, resumed)}
    assert len(fingerprints) == 1


def test_the_kept_projection_is_saved_and_loaded(base: Encoder, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    finished = opened(base, projection="keep", projection_size=16).finish()
    finished.save(tmp_path)
    again = load_folder(tmp_path)
    assert finished.dim == again.dim == 16
    assert again.fingerprint == finished.fingerprint
    theirs = SentenceTransformer(str(tmp_path), device="cpu").encode(TEXTS)
    assert theirs == pytest.approx(finished.encode(TEXTS), abs=1e-5)
    assert np.array_equal(again.encode(TEXTS), finished.encode(TEXTS))
    dropped = opened(base, projection="train", projection_size=16)
    assert dropped(ROWS).shape == (4, 16)
    assert dropped.finish().fingerprint == base.fingerprint


def test_a_projection_of_the_base_is_tuned_as_the_rest(base: Encoder, tmp_path: Path) -> None:
    projected = opened(base, projection="keep", projection_size=16).finish()
    tuning = tuned(projected, 1)[0]
    names = {"base": projected, "start": tuning.finish(0.0), "end": tuning.finish()}
    dense = {}
    for name, encoder in names.items():
        encoder.save(tmp_path / name)
        dense[name] = (tmp_path / name / "2_Dense" / "model.safetensors").read_bytes()
    assert dense["base"] == dense["start"] != dense["end"]
    assert (tmp_path / "base" / "modules.json").read_text().count("Dense") == 2
    assert (tmp_path / "end" / "modules.json").read_text().count("Dense") == 2


def test_a_toy_encoder_cannot_be_tuned() -> None:
    with pytest.raises(InvalidInput, match="no weights to tune") as caught:
        open_tuning(HashingEncoder(), TEXTS, TuningOptions())
    assert "instant" in caught.value.hint


@pytest.mark.parametrize("frozen", [0, 1])
def test_weights_opened_on_other_texts_too_go_on_changing(base: Encoder, frozen: int) -> None:
    tuning = opened(base, frozen)
    other = tuning.alongside(TEXTS[:3])
    before = [value.detach().clone() for _, value in other.trainable()]
    list(fit(tuning, LABELS, RECIPE, FitOptions()))
    with torch.no_grad():
        assert other(torch.arange(3)) == pytest.approx(tuning(torch.arange(3)), abs=1e-5)
    after = [value for _, value in other.trainable()]
    assert not all(torch.equal(old, new) for old, new in zip(before, after, strict=True))
