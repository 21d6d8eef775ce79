"""Many adapters on one base: the very same tensors, loaded once, gone when nobody needs them."""

import gc
import json
from pathlib import Path
from time import thread_time

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from core.encoders.adapter.encoder import AdaptedEncoder
from core.encoders.loading import BUNDLED, load_encoder, load_folder
from core.encoders.packed.encoder import TransformerEncoder
from core.encoders.shared_bases import SharedBases
from core.errors import ArtifactDamaged
from tests.builders.tiny_encoder import randomly_adapted

TEXTS = ["where is my parcel", "hello", "reset the password please"]


@pytest.fixture
def folders(tiny: TransformerEncoder, tmp_path: Path) -> list[Path]:
    made = []
    for seed, kind in enumerate(("bottleneck", "lora", "bottleneck")):
        made.append(tmp_path / f"{seed}")
        randomly_adapted(tiny, kind, seed).save(made[-1])
    return made


def held(encoders: list[AdaptedEncoder]) -> int:
    """Bytes of all tensors of some encoders and of their adapters, each counted once."""
    blocks: dict[int, int] = {}
    for encoder in encoders:
        network = encoder.network.bert
        for tensor in (*network.parameters(), *encoder.adapter.weights.values()):
            blocks[tensor.data_ptr()] = tensor.nbytes
        for module in network.modules():
            for hook in module._forward_hooks.values():
                for tensor in hook.__closure__[0].cell_contents.parameters():
                    blocks[tensor.data_ptr()] = tensor.nbytes
    return sum(blocks.values())


def test_adapters_meet_on_one_base_and_answer_as_alone(folders: list[Path]) -> None:
    bases = SharedBases()
    together = [load_folder(folder, "cpu", bases) for folder in folders]
    alone = [load_folder(folder) for folder in folders]
    one, *others = (dict(encoder.base.bert.named_parameters()) for encoder in together)
    for other in others:
        assert all(other[name].data_ptr() == value.data_ptr() for name, value in one.items())
    for shared, own in zip(together, alone, strict=True):
        assert shared.base is together[0].base is not own.base
        assert np.array_equal(shared.encode(TEXTS), own.encode(TEXTS))
    answers = [encoder.encode(TEXTS) for encoder in together]
    assert np.abs(answers[0] - answers[2]).max() > 1e-3


def test_the_base_itself_is_shared_with_who_uses_it_plain(folders: list[Path], tiny_path) -> None:
    bases = SharedBases()
    adapted = load_folder(folders[0], "cpu", bases)
    assert bases.join(load_folder(tiny_path), "cpu") is adapted.base
    assert bases.join(load_folder(tiny_path), "meta") is not adapted.base


def test_versions_with_the_same_weights_share_one_encoder(
    tiny: TransformerEncoder, tmp_path: Path
) -> None:
    """Every training of the head alone stores its encoder again; each opened one took 104 MiB."""
    bases = SharedBases()
    for version in ("first", "second"):
        tiny.save(tmp_path / version)
    first, second = (
        load_folder(tmp_path / version, "cpu", bases) for version in ("first", "second")
    )
    assert first is second
    weights = load_file(tmp_path / "second" / "model.safetensors")
    weights["embeddings.word_embeddings.weight"] += 1.0
    save_file(weights, tmp_path / "second" / "model.safetensors")
    assert load_folder(tmp_path / "second", "cpu", bases) is not first


def test_a_base_goes_when_nobody_uses_it(folders: list[Path]) -> None:
    bases = SharedBases()
    encoders = [load_folder(folder, "cpu", bases) for folder in folders]
    assert len(bases._known) == 1
    encoders.clear()
    gc.collect()
    assert len(bases._known) == 0


def test_an_adapter_beside_another_base_is_refused(folders: list[Path]) -> None:
    file = folders[0] / "model.safetensors"
    weights = load_file(file)
    weights["embeddings.word_embeddings.weight"] += 1.0
    save_file(weights, file)
    with pytest.raises(ArtifactDamaged, match="another encoder"):
        load_folder(folders[0], "cpu", SharedBases())


@pytest.mark.parametrize("change", ["no json", "unknown kind", "foreign place", "lost weight"])
def test_a_damaged_adapter_is_named(folders: list[Path], change: str) -> None:
    config = folders[0] / "adapter" / "config.json"
    settings = json.loads(config.read_text(encoding="utf-8"))
    if change == "unknown kind":
        settings["kind"] = "prefix"
    elif change == "foreign place":
        settings["places"] = {"layers.7.output_norm": ["x"]}
    elif change == "lost weight":
        save_file({"other": torch.zeros(2)}, folders[0] / "adapter" / "model.safetensors")
    config.write_text("{" if change == "no json" else json.dumps(settings), encoding="utf-8")
    with pytest.raises(ArtifactDamaged, match="adapter in"):
        load_folder(folders[0])


def test_ten_adapters_take_less_than_two_copies_and_each_is_there_in_milliseconds(
    tmp_path: Path,
) -> None:
    base = load_encoder(BUNDLED)
    whole = sum(value.nbytes for value in base.bert.parameters())
    randomly_adapted(base, "bottleneck").save(tmp_path)
    assert (tmp_path / "adapter" / "model.safetensors").stat().st_size < 0.03 * whole
    bases, seconds = SharedBases(), []
    bases.join(base, "cpu")
    encoders = []
    for _ in range(10):
        began = thread_time()
        encoders.append(load_folder(tmp_path, "cpu", bases))
        seconds.append(thread_time() - began)
    assert held(encoders) < 2 * whole
    assert held(encoders) - whole < 10 * 0.06 * whole
    assert min(seconds) < 0.05
