"""What loading an encoder of any kind refuses, and what it keeps."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from core.encoders.general.encoder import GeneralEncoder
from core.encoders.loading import load_folder
from core.errors import ArtifactDamaged, InvalidInput
from tests.builders.tiny_encoder import tiny_transformer


@pytest.fixture
def mpnet(tmp_path: Path) -> Path:
    return tiny_transformer(tmp_path / "mpnet", "mpnet", "mean_tokens")


def edit(path: Path, **changes: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_a_decoder_is_refused_with_the_kinds_that_work(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"kind 'gpt2'.*bert.*mpnet.*xlm-roberta") as caught:
        load_folder(tiny_transformer(tmp_path / "gpt2", "gpt2"))
    assert "all-mpnet-base-v2" in caught.value.hint


@pytest.mark.parametrize("kind", [[], {}, 3, None])
def test_a_kind_that_is_no_word_is_refused(mpnet: Path, kind: object) -> None:
    """A list cannot be looked up: it was "Something broke"."""
    edit(mpnet / "config.json", model_type=kind)
    with pytest.raises((ArtifactDamaged, InvalidInput), match="The encoder in"):
        load_folder(mpnet)


def test_modules_that_are_not_understood_are_refused(mpnet: Path) -> None:
    modules = json.loads((mpnet / "modules.json").read_text())
    lstm = {"idx": 1, "name": "1", "path": "1_LSTM", "type": "sentence_transformers.models.LSTM"}
    (mpnet / "modules.json").write_text(json.dumps([modules[0], lstm, modules[1]]))
    with pytest.raises(InvalidInput, match="Transformer, LSTM, Pooling"):
        load_folder(mpnet)


@pytest.mark.parametrize("kind", ["custom.Pooling", "os.system"])
def test_modules_of_other_packages_are_refused(mpnet: Path, kind: str) -> None:
    text = (mpnet / "modules.json").read_text()
    (mpnet / "modules.json").write_text(text.replace("sentence_transformers.models.Pooling", kind))
    with pytest.raises(InvalidInput, match=f"module '{kind}'"):
        load_folder(mpnet)


def test_code_of_a_model_is_never_run(mpnet: Path) -> None:
    edit(mpnet / "config.json", auto_map={"AutoModel": "x.Y"})
    with pytest.raises(InvalidInput, match="code of its own"):
        load_folder(mpnet)


def test_a_pickle_is_refused_in_a_sub_folder_too(mpnet: Path) -> None:
    modules = json.loads((mpnet / "modules.json").read_text())
    dense = {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"}
    (mpnet / "modules.json").write_text(json.dumps([*modules, dense]))
    (mpnet / "2_Dense").mkdir()
    (mpnet / "2_Dense" / "pytorch_model.bin").write_bytes(b"pickle")
    with pytest.raises(InvalidInput, match="2_Dense is stored as a pickle"):
        load_folder(mpnet)


def test_no_weights_at_all_says_how_to_convert_them(mpnet: Path) -> None:
    (mpnet / "model.safetensors").unlink()
    with pytest.raises(ArtifactDamaged, match="holds no model") as caught:
        load_folder(mpnet)
    assert "Convert it" in caught.value.hint


def test_a_default_prompt_goes_before_each_text(mpnet: Path) -> None:
    plain = load_folder(mpnet)
    facts = {"prompts": {"query": "query: "}, "default_prompt_name": "query"}
    (mpnet / "config_sentence_transformers.json").write_text(json.dumps(facts))
    prompted = load_folder(mpnet)
    expected = plain.encode(["query: where is it"])
    assert prompted.encode(["where is it"]) == pytest.approx(expected, abs=1e-5)
    assert prompted.fingerprint != plain.fingerprint


def test_half_precision_is_computed_and_saved_in_full(mpnet: Path, tmp_path: Path) -> None:
    weights = load_file(mpnet / "model.safetensors")
    save_file({k: v.half() for k, v in weights.items()}, mpnet / "model.safetensors")
    edit(mpnet / "config.json", dtype="float16")
    encoder = load_folder(mpnet)
    encoder.save(tmp_path / "full")
    saved = load_file(tmp_path / "full" / "model.safetensors")
    assert {v.dtype for v in saved.values()} == {torch.float32}
    assert json.loads((tmp_path / "full" / "config.json").read_text())["dtype"] == "float32"


def test_positions_that_do_not_exist_are_never_asked_for(tmp_path: Path) -> None:
    folder = tiny_transformer(tmp_path / "roberta", "roberta")
    edit(folder / "tokenizer_config.json", model_max_length=10**9)
    encoder = load_folder(folder)
    assert isinstance(encoder, GeneralEncoder)
    assert encoder.max_tokens == 64 - 2
    assert encoder.encode(["word " * 300]).shape == (1, 32)


def test_the_fast_encoder_starts_without_sentence_transformers(tiny_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from core.encoders.opening import open_tuning;"
        "from core.encoders.loading import load_folder;"
        f"load_folder(Path({str(tiny_path)!r})).encode(['hi']);"
        "print('sentence_transformers' in sys.modules, 'transformers' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False False"
