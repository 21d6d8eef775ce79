"""What every encoder promises, on each of them."""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from core.encoders.base import Encoder
from core.encoders.convert.encoder import ConvertEncoder
from core.encoders.general.encoder import GeneralEncoder
from core.encoders.loading import load_folder
from core.encoders.packed.encoder import TransformerEncoder
from core.errors import ArtifactDamaged, InvalidInput
from tests.builders.tiny_encoder import (
    HashingEncoder,
    randomly_adapted,
    tiny_convert,
    tiny_folder,
    tiny_transformer,
)

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

TEXTS = [
    "hello there",
    "",
    "a",
    "hello there",
    "Größe, naïve café 你好 🙂",
    "word " * 300,
    *(f"where is parcel {n}, please?" for n in range(40)),
]
WRITERS: dict[str, Callable[[Path], Path]] = {
    "packed-bert": tiny_folder,
    "mpnet": lambda folder: tiny_transformer(folder, "mpnet"),
    "roberta": lambda folder: tiny_transformer(folder, "roberta"),
    "xlm-roberta": lambda folder: tiny_transformer(folder, "xlm-roberta", "max_tokens"),
    "distilbert": lambda folder: tiny_transformer(folder, "distilbert"),
    "modernbert": lambda folder: tiny_transformer(folder, "modernbert", "cls_token"),
    "bert-cls": lambda folder: tiny_transformer(folder, "bert", "cls_token"),
    "bert-max": lambda folder: tiny_transformer(folder, "bert", "max_tokens"),
    "convert": tiny_convert,
    "convert-8-bit": lambda folder: tiny_convert(folder, quantised=True, embedding="h"),
}
FAST = {"packed-bert": TransformerEncoder, "convert": ConvertEncoder}
FAST["convert-8-bit"] = ConvertEncoder


@pytest.fixture(scope="module", autouse=True)
def _modules_of_folders(tmp_path_factory) -> Iterator[None]:
    """Keep code that sentence-transformers copies out of folders off the user's cache."""
    from transformers import dynamic_module_utils

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dynamic_module_utils, "HF_MODULES_CACHE", str(tmp_path_factory.mktemp("hf")))
        patch.setattr(sys, "path", list(sys.path))
        yield


def plain(folder: Path) -> "SentenceTransformer":
    """Load a folder as any other program does; ConveRT brings code of its own."""
    from sentence_transformers import SentenceTransformer

    modules = folder / "modules.json"
    own = modules.exists() and "convert" in json.loads(modules.read_text())[0]["type"]
    return SentenceTransformer(str(folder), device="cpu", trust_remote_code=own)


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("encoders")
    return {name: write(root / name) for name, write in WRITERS.items()}


ADAPTED = [f"{n}+{kind}" for n in WRITERS if n not in FAST for kind in ("bottleneck", "lora")]
ADAPTED += ["packed-bert+bottleneck", "packed-bert+lora"]


@pytest.fixture(scope="module", params=["hashing", *WRITERS, *ADAPTED])
def encoder(request, folders: dict[str, Path]) -> Encoder:
    """Every encoder."""
    if request.param == "hashing":
        return HashingEncoder()
    name, _, kind = request.param.partition("+")
    loaded = load_folder(folders[name])
    return randomly_adapted(loaded, kind) if kind else loaded


@pytest.fixture(scope="module", params=WRITERS)
def folder(request, folders: dict[str, Path]) -> Path:
    return folders[request.param]


@pytest.fixture(scope="module")
def loaded(folder: Path) -> Encoder:
    """Every encoder that comes from a folder."""
    return load_folder(folder)


def test_one_row_for_each_text_in_its_order(encoder: Encoder) -> None:
    rows = encoder.encode(TEXTS)
    assert rows.shape == (len(TEXTS), encoder.dim)
    assert rows.dtype == np.float32
    assert np.array_equal(rows[0], rows[3])
    backwards = encoder.encode(TEXTS[::-1])
    assert backwards[::-1] == pytest.approx(rows, abs=1e-5)
    assert encoder.encode([]).shape == (0, encoder.dim)
    assert encoder.encode([]).dtype == np.float32


def test_a_text_alone_equals_the_text_in_a_batch(encoder: Encoder) -> None:
    rows = encoder.encode(TEXTS)
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS[:8]])
    assert alone == pytest.approx(rows[:8], abs=1e-5)


def test_different_texts_differ(encoder: Encoder) -> None:
    one, other = encoder.encode(["hello there", "where is it"])
    assert np.abs(one - other).max() > 1e-3


def test_progress_rises_to_the_total(encoder: Encoder) -> None:
    told: list[tuple[int, int]] = []
    encoder.encode(TEXTS, lambda done, total: told.append((done, total)))
    done, totals = [at for at, _ in told], {total for _, total in told}
    assert done == sorted(set(done))
    assert totals == {done[-1]}


def test_a_fingerprint_is_a_sha256_and_stays(encoder: Encoder) -> None:
    before = encoder.fingerprint
    encoder.encode(TEXTS[:3])
    assert len(bytes.fromhex(before)) == 32
    assert encoder.fingerprint == before


def test_texts_are_cut_at_the_longest_length(loaded: Encoder) -> None:
    special = 0 if isinstance(loaded, ConvertEncoder) else 2
    exactly = "a " * (loaded.max_tokens - special)
    beyond = exactly + "b c d"
    cut, whole = loaded.encode([beyond, exactly])
    assert cut == pytest.approx(whole, abs=1e-5)


def test_the_fast_encoder_is_taken_where_it_computes_the_same(loaded: Encoder, folder) -> None:
    assert type(loaded) is FAST.get(folder.name, GeneralEncoder)


def test_a_loaded_encoder_equals_sentence_transformers(loaded: Encoder, folder: Path) -> None:
    theirs = plain(folder).encode(TEXTS)
    assert loaded.encode(TEXTS) == pytest.approx(theirs, abs=1e-5)


def test_saving_and_loading_gives_the_same_encoder_and_the_same_bytes(
    loaded: Encoder, tmp_path: Path
) -> None:
    loaded.save(tmp_path / "a")
    again = load_folder(tmp_path / "a")
    again.save(tmp_path / "b")
    assert again.fingerprint == loaded.fingerprint
    assert (again.dim, again.max_tokens) == (loaded.dim, loaded.max_tokens)
    assert np.array_equal(again.encode(TEXTS), loaded.encode(TEXTS))
    theirs = plain(tmp_path / "a").encode(TEXTS)
    assert theirs == pytest.approx(loaded.encode(TEXTS), abs=1e-5)
    for file in (p for p in (tmp_path / "a").rglob("*") if p.is_file()):
        assert (tmp_path / "b" / file.relative_to(tmp_path / "a")).read_bytes() == file.read_bytes()


def test_a_changed_weight_changes_the_fingerprint(loaded: Encoder, tmp_path: Path) -> None:
    loaded.save(tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    name = next(n for n in weights if n.endswith("weight") and ".1." in n)
    weights[name].view(-1)[0] += 1e-3
    save_file(weights, tmp_path / "model.safetensors")
    assert load_folder(tmp_path).fingerprint != loaded.fingerprint


def test_a_missing_weight_is_named(loaded: Encoder, tmp_path: Path) -> None:
    loaded.save(tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    name = next(n for n in weights if n.endswith("weight") and ".1." in n)
    weights.pop(name)
    save_file(weights, tmp_path / "model.safetensors")
    with pytest.raises(ArtifactDamaged, match=name.replace(".", r"\.")):
        load_folder(tmp_path)


def test_a_toy_encoder_refuses_to_be_saved(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be saved") as caught:
        HashingEncoder().save(tmp_path)
    assert "real encoder" in caught.value.hint


def test_toy_encoders_of_different_widths_have_different_fingerprints() -> None:
    toy = HashingEncoder()
    assert replace(toy, dim=32).fingerprint != toy.fingerprint
