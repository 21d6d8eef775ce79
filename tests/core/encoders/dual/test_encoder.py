"""Two encoders with one space: routes of sentence-transformers, sizes, small word vectors."""

from pathlib import Path

import numpy as np
import pytest
import torch

from core.encoders.base import TuningOptions
from core.encoders.dual.encoder import DualEncoder, names_side, of_any_length, parameter_mb
from core.encoders.dual.static import distil_static
from core.encoders.dual.tuning import DualTuning, StaticTuning
from core.encoders.loading import load_folder
from core.encoders.opening import open_tuning
from core.encoders.packed.encoder import TransformerEncoder
from core.errors import ArtifactDamaged, InvalidInput
from tests.builders.tiny_encoder import HashingEncoder

SAID = ["where is my card", "I forgot the pin.", "a card a pin"]
NAMES = ["card arrival", "pin blocked: the card asks for a pin"]


def _changed(tuning: DualTuning) -> None:
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for _, weight in tuning.trainable():
            weight.add_(0.05 * torch.randn(weight.shape, generator=generator))


def _dual(tiny: TransformerEncoder, kind: str) -> DualEncoder:
    """Sides whose weights differ, as after training."""
    other = distil_static(tiny, 8) if kind == "static" else tiny
    options = TuningOptions(frozen_layers=0)
    tuning = DualTuning(
        open_tuning(tiny, SAID, options), open_tuning(other, NAMES, options), len(SAID)
    )
    _changed(tuning)
    return tuning.finish()


@pytest.mark.parametrize("kind", ["copy", "static"])
def test_plain_sentence_transformers_loads_both_routes(
    tiny: TransformerEncoder, tmp_path: Path, kind: str
) -> None:
    from sentence_transformers import SentenceTransformer

    dual = _dual(tiny, kind)
    dual.save(tmp_path / "model")
    model = SentenceTransformer(str(tmp_path / "model"), device="cpu", local_files_only=True)
    said, named = model.encode_query(SAID), model.encode_document(NAMES)
    np.testing.assert_allclose(said, dual.encode(SAID), atol=2e-5)
    np.testing.assert_allclose(named, dual.names.encode(NAMES), atol=2e-5)
    np.testing.assert_allclose(model.encode(SAID), said, atol=1e-6)  # utterances are the default
    assert not np.allclose(model.encode_query(NAMES), named, atol=1e-2)


@pytest.mark.parametrize("kind", ["copy", "static"])
def test_a_saved_pair_comes_back_the_same(
    tiny: TransformerEncoder, tmp_path: Path, kind: str
) -> None:
    dual = _dual(tiny, kind)
    dual.save(tmp_path / "one")
    again = load_folder(tmp_path / "one")
    assert isinstance(again, DualEncoder)
    assert again.fingerprint == dual.fingerprint
    assert (again.encode(SAID) == dual.encode(SAID)).all()
    assert (names_side(again).encode(NAMES) == dual.names.encode(NAMES)).all()
    again.save(tmp_path / "two")
    files = [path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.*")]
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_another_side_gives_another_fingerprint(tiny: TransformerEncoder) -> None:
    static = distil_static(tiny, 8)
    pairs = [DualEncoder(tiny, tiny), DualEncoder(tiny, static), DualEncoder(static, tiny)]
    assert len({pair.fingerprint for pair in pairs}) == 3


def test_word_vectors_of_full_width_are_those_of_the_encoder(tiny: TransformerEncoder) -> None:
    static = distil_static(tiny, tiny.dim)
    np.testing.assert_allclose(static.encode(["q"]), tiny.encode(["q"]), atol=1e-5)
    assert static.encode(["b a"]) == pytest.approx(static.encode(["a b"]), abs=1e-6)
    mean = tiny.encode(["a", "b"]).mean(0)
    expected = mean / np.linalg.norm(mean)
    np.testing.assert_allclose(static.encode(["a b"])[0], expected, atol=1e-5)
    assert not static.encode([""]).any()
    assert static.encode([]).shape == (0, tiny.dim)


def test_narrow_word_vectors_are_the_smaller_part(tiny: TransformerEncoder) -> None:
    static = distil_static(tiny, 8)
    n_tokens = tiny.tokenizer.get_vocab_size()
    assert parameter_mb(static) == pytest.approx(4e-6 * (8 * n_tokens + 8 * tiny.dim))
    assert parameter_mb(DualEncoder(tiny, tiny)) == pytest.approx(2 * parameter_mb(tiny))
    assert parameter_mb(DualEncoder(tiny, static)) < 0.7 * parameter_mb(DualEncoder(tiny, tiny))


def test_each_row_goes_to_its_own_side(tiny: TransformerEncoder) -> None:
    static, options = distil_static(tiny, 8), TuningOptions(frozen_layers=0)
    utterances, names = open_tuning(tiny, SAID, options), StaticTuning(static, NAMES, options)
    tuning = DualTuning(utterances, names, len(SAID)).eval()
    mixed = tuning(torch.tensor([4, 0, 3, 2]))
    expected = [names(torch.tensor([1])), utterances(torch.tensor([0]))]
    expected += [names(torch.tensor([0])), utterances(torch.tensor([2]))]
    torch.testing.assert_close(mixed, torch.cat(expected))
    assert tuning(torch.tensor([4])).shape == tuning(torch.tensor([1])).shape == (1, tiny.dim)
    assert {name.split(".")[0] for name, _ in tuning.trainable()} == {"utterances", "names"}


def test_half_the_way_lies_between_base_and_tuned(tiny: TransformerEncoder) -> None:
    static = distil_static(tiny, 8)
    tuning = StaticTuning(static, NAMES, TuningOptions())
    with torch.no_grad():
        tuning.table.add_(1.0)
    torch.testing.assert_close(tuning.finish(0.5).table, static.table + 0.5)
    assert tuning.finish(0.5).fingerprint != static.fingerprint
    assert tuning.alongside(["x"]).table is tuning.table


def test_embeddings_for_dot_products_keep_their_lengths(
    tiny: TransformerEncoder, tmp_path: Path
) -> None:
    from sentence_transformers import SentenceTransformer

    free = of_any_length(tiny)
    rows = free.encode(SAID)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    assert not np.allclose(lengths, 1.0)
    np.testing.assert_allclose(rows / lengths, tiny.encode(SAID), atol=1e-5)
    assert free.fingerprint != tiny.fingerprint
    free.save(tmp_path / "free")
    model = SentenceTransformer(str(tmp_path / "free"), device="cpu", local_files_only=True)
    np.testing.assert_allclose(model.encode(SAID), rows, atol=2e-5)
    assert of_any_length(free) is free


def test_what_has_no_words_is_refused(tmp_path: Path, tiny: TransformerEncoder) -> None:
    with pytest.raises(InvalidInput, match="table of words"):
        distil_static(HashingEncoder(), 8)
    with pytest.raises(InvalidInput, match="size of this encoder"):
        parameter_mb(HashingEncoder())
    distil_static(tiny, 8).save(tmp_path / "static")
    (tmp_path / "static" / "1_Dense" / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(ArtifactDamaged):
        load_folder(tmp_path / "static")
