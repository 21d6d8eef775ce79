"""A ConveRT as an encoder: its sides, its tuning, and its life in other programs."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from core.encoders.base import TuningOptions
from core.encoders.convert.encoder import ConvertEncoder, load_convert
from core.encoders.convert.source import module_source
from core.encoders.convert.tuning import ConvertTuning
from core.encoders.opening import open_tuning
from core.errors import ArtifactDamaged, InvalidInput
from core.recipes.labels import ConvfitRecipe
from core.training.events import CheckpointReady
from core.training.loop import FitOptions, fit
from tests.builders.tiny_encoder import tiny_convert
from tests.builders.unpacked_bundle import Elsewhere
from tests.conftest import SENTENCES

TEXTS = [text for texts in SENTENCES.values() for text in texts]
LABELS = [place for place, texts in enumerate(SENTENCES.values()) for _ in texts]
RECIPE = ConvfitRecipe(epochs=2, frozen_layers=1, learning_rate=1e-3, interpolation=1.0)


@pytest.fixture(scope="module", params=["float-r", "8-bit-h"])
def base(request, tmp_path_factory) -> ConvertEncoder:
    precision, _, embedding = request.param.rpartition("-")
    folder = tmp_path_factory.mktemp("convert") / "encoder"
    return load_convert(tiny_convert(folder, quantised=precision == "8-bit", embedding=embedding))


def opened(base: ConvertEncoder, frozen: int = 1, **options) -> ConvertTuning:
    return open_tuning(base, TEXTS, TuningOptions(frozen_layers=frozen, **options))


def weights(encoder: ConvertEncoder) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in encoder.model.named_parameters()}


_ELSEWHERE = """
import json, sys
from sentence_transformers import SentenceTransformer
model = SentenceTransformer(sys.argv[1], device="cpu", trust_remote_code=True)
texts = json.loads(sys.argv[2])
found = {"plain": model.encode(texts).tolist(), "response": model.encode_document(texts).tolist()}
model.save(sys.argv[3])
again = SentenceTransformer(sys.argv[3], device="cpu", trust_remote_code=True)
found["again"] = again.encode(texts).tolist()
print(json.dumps(found))
"""


@pytest.mark.slow
def test_plain_sentence_transformers_loads_it_where_this_project_is_not(
    base: ConvertEncoder, tmp_path: Path, elsewhere: Elsewhere
) -> None:
    base.save(tmp_path / "saved")
    found = json.loads(elsewhere.run(tmp_path, _ELSEWHERE, "saved", json.dumps(TEXTS[:4]), "again"))
    assert np.array(found["plain"]) == pytest.approx(base.encode(TEXTS[:4]), abs=1e-5)
    assert np.array(found["again"]) == pytest.approx(base.encode(TEXTS[:4]), abs=1e-5)
    responses = base.encode_side(TEXTS[:4], "response")
    assert np.array(found["response"]) == pytest.approx(responses, abs=1e-5)


def test_the_code_in_the_folder_is_whole() -> None:
    source = module_source().decode()
    assert "core." not in source
    compile(source, "modeling_convert.py", "exec")


def test_sides_give_vectors_of_length_one_that_differ(base: ConvertEncoder) -> None:
    rows = [base.encode_side(TEXTS, side) for side in ("context", "response", "history")]
    for row in rows:
        assert row.shape == (len(TEXTS), 16)
        assert np.linalg.norm(row, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)
    assert np.abs(rows[0] - rows[1]).max() > 0.1


def test_a_context_with_history_is_the_mean_of_both(base: ConvertEncoder) -> None:
    context, history = base.encode_side(["a"], "context"), base.encode_side(["0 b"], "history")
    both = base.encode_contexts(["a", "a"], ["0 b", ""])
    mean = (context + history)[0]
    assert both[0] == pytest.approx(mean / np.linalg.norm(mean), abs=1e-5)
    assert both[1] == pytest.approx(context[0], abs=1e-5)


def test_an_encoder_without_history_says_so(base: ConvertEncoder, monkeypatch) -> None:
    monkeypatch.setitem(base.model.network.__dict__, "sizes", base.model.network.sizes)
    from dataclasses import replace

    single = replace(base.model.network.sizes, sides=("context", "response"))
    monkeypatch.setattr(base.model.network, "sizes", single)
    with pytest.raises(InvalidInput, match="without earlier turns"):
        base.encode_side(["a"], "history")
    alone = base.encode_contexts(["a"], ["0 b"])
    assert np.array_equal(alone, base.encode_side(["a"], "context"))


@pytest.mark.parametrize("name", ["vocabulary.json", "model.safetensors"])
def test_a_damaged_folder_is_refused(base: ConvertEncoder, tmp_path: Path, name: str) -> None:
    base.save(tmp_path)
    (tmp_path / name).write_bytes(b"{")
    with pytest.raises(ArtifactDamaged):
        load_convert(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(ArtifactDamaged):
        load_convert(tmp_path)


@pytest.mark.parametrize("frozen", [0, 1, 9])
def test_an_opened_encoder_embeds_as_the_closed_one(base: ConvertEncoder, frozen: int) -> None:
    tuning = opened(base, frozen)
    tuning.eval()
    found = tuning(torch.tensor([5, 0, 17])).detach().numpy()
    assert found == pytest.approx(base.encode([TEXTS[row] for row in (5, 0, 17)]), abs=1e-5)
    other = tuning.alongside(["hello there"])
    assert other(torch.tensor([0])).shape == (1, base.dim)


def test_tuning_changes_upper_blocks_and_not_the_base(base: ConvertEncoder) -> None:
    before, fingerprint = weights(base), base.fingerprint
    tuning = opened(base)
    list(fit(tuning, LABELS, RECIPE, FitOptions()))
    finished = tuning.finish()
    after = weights(finished)
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert any("blocks.1" in name for name in changed)
    assert not any("blocks.0" in name or "words" in name for name in changed)
    assert base.fingerprint == fingerprint != finished.fingerprint
    assert tuning.finish(0.0).fingerprint == fingerprint
    assert not any(p.requires_grad for p in finished.model.parameters())


def test_what_was_tuned_is_what_is_saved(base: ConvertEncoder, tmp_path: Path) -> None:
    tuning = opened(base, frozen=0)
    list(fit(tuning, LABELS, RECIPE, FitOptions()))
    finished = tuning.finish(0.5)
    finished.save(tmp_path)
    again = load_convert(tmp_path)
    assert again.fingerprint == finished.fingerprint
    assert np.array_equal(again.encode(TEXTS), finished.encode(TEXTS))


def test_a_resumed_tuning_ends_the_same(base: ConvertEncoder) -> None:
    whole = opened(base, 0)
    events = list(fit(whole, LABELS, RECIPE, FitOptions(checkpoint_every=2)))
    kept = next(e.checkpoint for e in events if isinstance(e, CheckpointReady))
    resumed = opened(base, 0)
    torch.manual_seed(99)
    list(fit(resumed, LABELS, RECIPE, FitOptions(resume=kept)))
    assert resumed.finish().fingerprint == whole.finish().fingerprint


def test_a_projection_cannot_be_kept(base: ConvertEncoder) -> None:
    with pytest.raises(InvalidInput, match="no place"):
        opened(base, projection="keep")
    assert opened(base, projection="train", projection_size=16)(torch.tensor([0])).shape == (1, 16)
