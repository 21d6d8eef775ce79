import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from core.encoders import bundled
from core.encoders.loading import load_encoder, load_folder
from core.encoders.opening import TuningOptions, open_tuning
from core.encoders.packed.encoder import TransformerEncoder
from core.errors import ArtifactDamaged, InvalidInput, NotFound

TEXTS = [
    "hello there",
    "",
    "a",
    "hello there",
    "Größe, naïve café 你好 🙂",
    "word " * 300,
    "where is my parcel, please?",
    "  padded  ",
]


def reference(folder: Path, texts: list[str]) -> np.ndarray:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu")
    return model.encode(texts, show_progress_bar=False)


def test_the_bundled_encoder_equals_sentence_transformers() -> None:
    encoder = load_encoder("bundled")
    assert encoder.dim == 384
    assert encoder.encode(TEXTS) == pytest.approx(
        reference(bundled.bundled_folder(), TEXTS), abs=1e-5
    )


def test_a_batch_equals_its_rows_one_by_one(tiny: TransformerEncoder) -> None:
    one_by_one = np.concatenate([tiny.encode([text]) for text in TEXTS])
    assert tiny.encode(TEXTS) == pytest.approx(one_by_one, abs=1e-6)
    assert tiny.encode([]).shape == (0, 32)


def test_progress_ends_at_the_number_of_distinct_texts(tiny: TransformerEncoder) -> None:
    told: list[tuple[int, int]] = []
    tiny.encode(TEXTS, lambda done, total: told.append((done, total)))
    assert told[-1] == (7, 7)


def test_saving_gives_a_plain_folder_with_the_same_embeddings_and_fingerprint(
    tiny: TransformerEncoder, tmp_path: Path
) -> None:
    tiny.save(tmp_path / "a")
    again = load_folder(tmp_path / "a")
    again.save(tmp_path / "b")
    assert np.array_equal(again.encode(TEXTS), tiny.encode(TEXTS))
    assert again.fingerprint == tiny.fingerprint
    assert reference(tmp_path / "a", TEXTS) == pytest.approx(tiny.encode(TEXTS), abs=1e-5)
    for file in (p for p in (tmp_path / "a").rglob("*") if p.is_file()):
        twin = tmp_path / "b" / file.relative_to(tmp_path / "a")
        assert twin.read_bytes() == file.read_bytes(), file.name


def test_changed_weights_of_the_bundled_encoder_are_refused(monkeypatch, tmp_path: Path) -> None:
    package = tmp_path / bundled.BUNDLED_PACKAGE
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('its code must not run')")
    (package / "model" / "model.safetensors").write_bytes(b"not the weights")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ArtifactDamaged, match="SHA-256") as caught:
        bundled.bundled_folder()
    assert "Reinstall" in caught.value.hint


def test_a_pickle_is_refused_with_the_way_to_convert_it(tiny_path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pickled"
    shutil.copytree(tiny_path, folder)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(InvalidInput, match="pickle") as caught:
        load_folder(folder)
    assert "SentenceTransformer" in caught.value.hint


def test_code_of_a_model_is_never_run(tiny_path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "remote"
    shutil.copytree(tiny_path, folder)
    config = (folder / "config.json").read_text()
    (folder / "config.json").write_text(
        config.replace("{", '{"auto_map": {"AutoModel": "x.Y"},', 1)
    )
    with pytest.raises(InvalidInput, match="code of its own"):
        load_folder(folder)


def test_missing_weights_are_named(tiny_path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "short"
    shutil.copytree(tiny_path, folder)
    weights = load_file(folder / "model.safetensors")
    weights.pop("encoder.layer.1.output.dense.weight")
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(ArtifactDamaged, match=r"layer\.1\.output\.dense\.weight"):
        load_folder(folder)


def test_an_unknown_name_says_what_can_be_named() -> None:
    with pytest.raises(NotFound, match="no encoder 'nonsense'") as caught:
        load_encoder("nonsense")
    assert "bundled" in caught.value.hint


def test_a_hub_id_without_a_network_says_how_to_get_it(monkeypatch) -> None:
    from huggingface_hub.errors import LocalEntryNotFoundError

    def offline(*_: object, **__: object) -> str:
        raise LocalEntryNotFoundError("no network")

    monkeypatch.setattr("huggingface_hub.snapshot_download", offline)
    with pytest.raises(NotFound, match="'org/name' is not on this machine") as caught:
        load_encoder("org/name")
    assert "on a connected machine" in caught.value.hint


@pytest.mark.parametrize("frozen", [0, 1])
def test_an_opened_encoder_embeds_as_the_closed_one(tiny: TransformerEncoder, frozen: int) -> None:
    tuning = open_tuning(tiny, TEXTS, TuningOptions(frozen_layers=frozen)).eval()
    rows = torch.tensor([5, 0, 4, 2])
    with torch.no_grad():
        unit = torch.nn.functional.normalize(tuning(rows), dim=1)
    assert unit.numpy() == pytest.approx(tiny.encode([TEXTS[r] for r in rows]), abs=1e-5)


def test_gradients_equal_those_of_the_padded_model(
    tiny: TransformerEncoder, tiny_path: Path
) -> None:
    from sentence_transformers import SentenceTransformer

    texts = ["hello there", "a much longer text than that one", "ok"]
    tuning = open_tuning(tiny, texts, TuningOptions(frozen_layers=0)).eval()
    target = torch.randn(3, 32, generator=torch.Generator().manual_seed(1))
    (torch.nn.functional.normalize(tuning(torch.arange(3)), dim=1) * target).sum().backward()
    model = SentenceTransformer(str(tiny_path), device="cpu").eval()
    features = (
        model.tokenize(texts) if not hasattr(model, "preprocess") else model.preprocess(texts)
    )
    (model(features)["sentence_embedding"] * target).sum().backward()
    theirs = dict(model[0].named_parameters())
    name = next(n for n in theirs if n.endswith("layer.1.intermediate.dense.weight"))
    word = next(n for n in theirs if n.endswith("word_embeddings.weight"))
    mine = tuning.bert
    assert torch.allclose(mine.layers[1].up.weight.grad, theirs[name].grad, atol=1e-5)
    assert torch.allclose(mine.words.weight.grad, theirs[word].grad, atol=1e-5)


def test_tuning_changes_the_upper_layers_alone_and_never_the_base(tiny: TransformerEncoder) -> None:
    before = {k: v.clone() for k, v in tiny.bert.state_dict().items()}
    tuning = open_tuning(tiny, TEXTS, TuningOptions(frozen_layers=1))
    loss = tuning(torch.arange(4)).square().sum()
    loss.backward()
    with torch.no_grad():
        for _, parameter in tuning.trainable():
            parameter -= 0.1 * parameter.grad
    finished = tuning.finish()
    after, base = finished.bert.state_dict(), tiny.bert.state_dict()
    assert all(torch.equal(base[k], before[k]) for k in before)
    changed = {k for k in before if not torch.equal(after[k], before[k])}
    assert changed
    assert all(k.startswith("layers.1.") for k in changed)
    assert finished.fingerprint != tiny.fingerprint


def test_interpolation_goes_that_far_from_the_base(tiny: TransformerEncoder) -> None:
    tuning = open_tuning(tiny, TEXTS, TuningOptions(frozen_layers=1))
    with torch.no_grad():
        tuning.bert.layers[1].up.bias += 1.0
    step = tuning.finish(0.25).bert.layers[1].up.bias - tiny.bert.layers[1].up.bias
    assert step.numpy() == pytest.approx(np.full(64, 0.25), abs=1e-6)


def test_the_kept_projection_is_a_dense_module_of_the_saved_folder(
    tiny: TransformerEncoder, tmp_path: Path
) -> None:
    options = TuningOptions(frozen_layers=1, projection="keep", projection_size=16)
    finished = open_tuning(tiny, TEXTS, options).finish()
    finished.save(tmp_path / "projected")
    assert finished.dim == 16
    assert reference(tmp_path / "projected", TEXTS) == pytest.approx(
        finished.encode(TEXTS), abs=1e-5
    )
    dropped = TuningOptions(frozen_layers=1, projection="train", projection_size=16)
    assert open_tuning(tiny, TEXTS, dropped).finish().dim == 32


def test_the_projection_of_the_base_is_tuned_and_interpolated_as_the_rest(
    tiny: TransformerEncoder,
) -> None:
    options = TuningOptions(frozen_layers=1, projection="keep", projection_size=16)
    base = open_tuning(tiny, TEXTS, options).finish()
    tuning = open_tuning(base, TEXTS, TuningOptions(frozen_layers=1))
    with torch.no_grad():
        tuning.projection.bias += 1.0
    step = tuning.finish(0.25).projection.bias - base.projection.bias
    assert step.numpy() == pytest.approx(np.full(16, 0.25), abs=1e-6)
