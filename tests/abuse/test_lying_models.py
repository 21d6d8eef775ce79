"""Folders and bundles of models that bring code, or lie about the sizes of their matrices."""

import json
import resource
import shutil
from pathlib import Path

import pytest

from core.encoders.loading import load_folder
from core.errors import ArtifactDamaged
from tests.builders.tiny_encoder import tiny_convert, tiny_transformer

HUGE = 1_000_000_000
LIES = {
    "width": (("hidden_size", "dim"), HUGE),
    "words": (("vocab_size",), HUGE),
    "layers": (("num_hidden_layers", "n_layers"), HUGE),
    "positions": (("max_position_embeddings",), HUGE),
    "inner": (("intermediate_size", "hidden_dim"), HUGE),
    "no number": (("vocab_size",), "82"),
    "negative": (("vocab_size",), -82),
    "endless": (("vocab_size",), float("inf")),
}
MOST_MEGABYTES = 300


def most_memory() -> int:
    """Return the most memory in megabytes that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


@pytest.fixture(scope="module")
def folders(tiny_path: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Whole encoders of each kind of loading."""
    folder = tmp_path_factory.mktemp("kinds")
    kinds = {kind: tiny_transformer(folder / kind, kind) for kind in ("distilbert", "mpnet")}
    convert = tiny_convert(folder / "convert")
    found = {"bert": tiny_path, **kinds, "convert": convert}
    for whole in found.values():
        load_folder(whole)
    return found


def changed(folder: Path, target: Path, names: tuple[str, ...], value: object) -> Path:
    """Copy an encoder, with another value in its config."""
    shutil.copytree(folder, target)
    config = json.loads((target / "config.json").read_bytes())
    name = next(name for name in names if name in config)
    (target / "config.json").write_text(json.dumps({**config, name: value}), encoding="utf-8")
    return target


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("kind", ["bert", "distilbert", "mpnet"])
def test_false_sizes_are_refused_before_memory_is_taken(folders, tmp_path, kind, lie) -> None:
    """A config of a few bytes asked for terabytes, and got them before a weight was read."""
    folder = changed(folders[kind], tmp_path / "lies", *LIES[lie])
    before = most_memory()
    with pytest.raises(ArtifactDamaged, match=r"claims|cannot be used|cannot be read"):
        load_folder(folder)
    assert most_memory() - before < MOST_MEGABYTES


@pytest.mark.parametrize("size", ["width", "pieces", "buckets", "inner", "projection", "output"])
def test_false_sizes_of_a_convert_are_refused_too(folders, tmp_path: Path, size: str) -> None:
    folder = shutil.copytree(folders["convert"], tmp_path / "lies")
    config = json.loads((folder / "config.json").read_bytes())
    config["sizes"][size] = HUGE
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    before = most_memory()
    with pytest.raises(ArtifactDamaged, match="claims"):
        load_folder(folder)
    assert most_memory() - before < MOST_MEGABYTES
