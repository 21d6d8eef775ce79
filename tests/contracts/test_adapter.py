"""What adapters promise in every encoder that can carry one."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from core.encoders.adapter.encoder import AdaptedEncoder, PlainEncoder
from core.encoders.adapter.tuning import AdapterTuning
from core.encoders.base import AdapterOptions, TuningOptions
from core.encoders.loading import load_folder
from core.encoders.opening import open_tuning
from core.errors import InvalidInput
from core.recipes.labels import AdapterRecipe
from core.training.checkpoints import Checkpoint
from core.training.events import CheckpointReady, StepDone
from core.training.loop import FitOptions, fit
from tests.builders.tiny_encoder import randomly_adapted, tiny_folder, tiny_transformer
from tests.conftest import SENTENCES

TEXTS = [text for texts in SENTENCES.values() for text in texts]
LABELS = [place for place, texts in enumerate(SENTENCES.values()) for _ in texts]
ROWS = torch.tensor([5, 0, 17, 2])
RECIPE = AdapterRecipe(epochs=2, learning_rate=1e-2)
KINDS = ("bottleneck", "lora")
WRITERS: dict[str, Callable[[Path], Path]] = {
    "packed-bert": tiny_folder,
    "bert-cls": lambda folder: tiny_transformer(folder, "bert", "cls_token"),
    "roberta": lambda folder: tiny_transformer(folder, "roberta"),
    "xlm-roberta": lambda folder: tiny_transformer(folder, "xlm-roberta"),
    "mpnet": lambda folder: tiny_transformer(folder, "mpnet"),
    "distilbert": lambda folder: tiny_transformer(folder, "distilbert"),
    "modernbert": lambda folder: tiny_transformer(folder, "modernbert", "cls_token"),
}


@pytest.fixture(scope="module", params=WRITERS)
def base(request, tmp_path_factory) -> PlainEncoder:
    return load_folder(WRITERS[request.param](tmp_path_factory.mktemp("bases") / request.param))


def opened(base, kind: str, frozen: int = 1, *, merge: bool = False) -> AdapterTuning:
    adapter = AdapterOptions(kind, rank=4, merge=merge)
    return open_tuning(base, TEXTS, TuningOptions(frozen_layers=frozen, adapter=adapter))


def tuned(base, kind: str, frozen: int = 1, resume: Checkpoint | None = None, **options):
    tuning = opened(base, kind, frozen, **options)
    events = list(fit(tuning, LABELS, RECIPE, FitOptions(resume=resume, checkpoint_every=3)))
    return tuning, events


def network(encoder: PlainEncoder) -> torch.nn.Module:
    return encoder.bert if hasattr(encoder, "bert") else encoder.model


def embedded(tuning: AdapterTuning) -> np.ndarray:
    tuning.eval()
    with torch.no_grad():
        return torch.nn.functional.normalize(tuning(ROWS), dim=1).numpy()


def unit(encoder) -> np.ndarray:
    rows = encoder.encode([TEXTS[row] for row in ROWS])
    return rows / np.linalg.norm(rows, axis=1)[:, None]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("frozen", [0, 1, 9])
def test_only_the_adapter_changes_and_the_base_keeps_every_bit(base, kind, frozen) -> None:
    before = {n: v.clone() for n, v in network(base).state_dict().items()}
    fingerprint, answers = base.fingerprint, base.encode(TEXTS)
    tuning = opened(base, kind, frozen)
    start = {name: value.detach().clone() for name, value in tuning.trainable()}
    list(fit(tuning, LABELS, RECIPE, FitOptions()))
    after = dict(tuning.trainable())
    assert all(not torch.equal(start[name], after[name]) for name in start)
    assert all(name.startswith("adapter.") for name in start)
    assert not any("norm" in name for name in start)  # such names would be spared from decay
    for name, value in network(base).state_dict().items():
        assert torch.equal(value, before[name])
    for value in network(base).parameters():
        assert value.grad is None
        assert not value.requires_grad
    assert base.fingerprint == fingerprint
    assert np.array_equal(base.encode(TEXTS), answers)


@pytest.mark.parametrize("kind", KINDS)
def test_lower_layers_get_no_adapter(base, kind) -> None:
    both, upper = (opened(base, kind, frozen).opened.adapter for frozen in (0, 1))
    assert set(upper.places) < set(both.places)
    assert upper.n_bytes * 2 == both.n_bytes


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_finished_answers_as_what_was_tuned_and_shares_the_base(base, kind) -> None:
    tuning = tuned(base, kind)[0]
    finished = tuning.finish()
    assert isinstance(finished, AdaptedEncoder)
    assert unit(finished) == pytest.approx(embedded(tuning), abs=1e-5)
    assert np.abs(unit(finished) - unit(base)).max() > 1e-3
    theirs = {value.data_ptr() for value in network(base).parameters()}
    own = {value.data_ptr() for value in network(finished.network).parameters()}
    assert theirs <= own
    assert not any(p.requires_grad for p in network(finished.network).parameters())


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_adapter_loads_bit_for_bit_and_saves_the_same_bytes(base, kind, tmp_path) -> None:
    finished = randomly_adapted(base, kind)
    finished.save(tmp_path / "a")
    again = load_folder(tmp_path / "a")
    again.save(tmp_path / "b")
    assert again.fingerprint == finished.fingerprint != base.fingerprint
    assert np.array_equal(again.encode(TEXTS), finished.encode(TEXTS))
    files = sorted(p.relative_to(tmp_path / "a") for p in (tmp_path / "a").rglob("*.*"))
    assert Path("adapter/model.safetensors") in files
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_one_seed_gives_one_adapter_resumed_or_not(base, kind) -> None:
    tuning, events = tuned(base, kind)
    again, _ = tuned(base, kind)
    kept = next(e.checkpoint for e in events if isinstance(e, CheckpointReady))
    weights = {n for n in kept.tensors if n.startswith("weight.") and "objective" not in n}
    assert weights == {f"weight.{name}" for name, _ in tuning.trainable()}
    torch.manual_seed(12345)
    resumed, rest = tuned(base, kind, resume=kept)
    assert 0 < len([e for e in rest if isinstance(e, StepDone)]) < len(events)
    assert len({t.finish().fingerprint for t in (tuning, again, resumed)}) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_half_of_an_adapter_lies_between_the_base_and_the_whole(base, kind) -> None:
    tuning = tuned(base, kind)[0]
    none, half, whole = (unit(tuning.finish(share)) for share in (0.0, 0.5, 1.0))
    assert none == pytest.approx(unit(base), abs=1e-6)
    assert 0 < np.linalg.norm(half - none) < np.linalg.norm(whole - none)


@pytest.mark.parametrize("kind", KINDS)
def test_an_adapter_goes_on_where_it_was(base, kind) -> None:
    first = tuned(base, kind, frozen=1)[0].finish()
    tuning = opened(first, kind, frozen=0)
    assert embedded(tuning) == pytest.approx(unit(first), abs=1e-5)
    assert set(tuning.opened.adapter.places) == set(first.adapter.places)
    list(fit(tuning, LABELS, RECIPE, FitOptions()))
    second = tuning.finish()
    assert second.base is base
    assert unit(tuning.finish(0.0)) == pytest.approx(unit(first), abs=1e-6)
    assert second.fingerprint != first.fingerprint
    other = "lora" if kind == "bottleneck" else "bottleneck"
    with pytest.raises(InvalidInput, match=f"has a {kind} adapter"):
        opened(first, other)


def test_merged_lora_is_an_encoder_like_any_other(base, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    kept = tuned(base, "lora")[0].finish()
    merged = tuned(base, "lora", merge=True)[0].finish()
    assert type(merged) is type(base)
    assert merged.encode(TEXTS) == pytest.approx(kept.encode(TEXTS), abs=1e-5)
    merged.save(tmp_path)
    theirs = SentenceTransformer(str(tmp_path), device="cpu").encode(TEXTS)
    assert theirs == pytest.approx(kept.encode(TEXTS), abs=1e-5)
    assert load_folder(tmp_path).fingerprint == merged.fingerprint
    again = open_tuning(kept, TEXTS, TuningOptions(frozen_layers=1))
    assert embedded(again) == pytest.approx(unit(kept), abs=1e-5)


def test_shared_weights_cannot_be_tuned_themselves(base) -> None:
    with pytest.raises(InvalidInput, match="only its adapter") as caught:
        open_tuning(randomly_adapted(base, "bottleneck"), TEXTS, TuningOptions())
    assert "adapter" in caught.value.hint


@pytest.mark.parametrize("kind", KINDS)
def test_an_adapter_opened_on_other_texts_too_goes_on_changing(base, kind) -> None:
    tuning = opened(base, kind)
    other = tuning.alongside(TEXTS[:3])
    list(fit(tuning, LABELS, RECIPE, FitOptions()))
    with torch.no_grad():
        assert other(torch.arange(3)) == pytest.approx(tuning(torch.arange(3)), abs=1e-5)
