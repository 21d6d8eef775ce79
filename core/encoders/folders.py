"""The contents of a sentence-transformers folder, read without running any of its code."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import MALFORMED, ArtifactDamaged, InvalidInput

POOLING = "1_Pooling"
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.pkl")
_SMALL = ("*.json", "*.txt", "*.model")
# Training history of the publisher, and the index of weights that we save as one file.
_LEFT_OUT = ("data_config.json", "model.safetensors.index.json")
_CONVERT = "Convert it on a trusted machine: SentenceTransformer(folder).save(other_folder)."


@dataclass(frozen=True, slots=True)
class ModuleEntry:
    """One step (`Transformer`, `Pooling`, `Dense`, `Normalize`) and its sub-folder; "" for none."""

    kind: str
    path: str


@dataclass(frozen=True, slots=True)
class EncoderFolder:
    """A folder that is safe to load; `files` are its configs and tokenizer by relative name."""

    path: Path
    config: Mapping[str, Any]
    files: Mapping[str, bytes]

    @property
    def modules(self) -> list[ModuleEntry]:
        """The modules in their order."""
        return module_entries(self.files)

    def json(self, name: str) -> dict[str, Any]:
        """Read one of the files; a missing one is empty."""
        return _parse(self.files[name], self.path / name) if name in self.files else {}


def open_folder(path: Path) -> EncoderFolder:
    """Read the small files of an encoder.

    Raises:
        InvalidInput: Loading it could run code: its own, or that of a pickle.
        ArtifactDamaged: A file is missing or malformed.
    """
    config = _read_config(path)
    if "auto_map" in config:
        raise InvalidInput(
            f"The encoder in {path} wants to run code of its own.",
            "Choose one whose architecture is built into transformers.",
        )
    files = {p.name: p.read_bytes() for pattern in _SMALL for p in path.glob(pattern)}
    files = {name: files[name] for name in sorted(files) if name not in _LEFT_OUT}
    if "modules.json" not in files:
        files["modules.json"] = list_modules([("Transformer", ""), ("Pooling", POOLING)])
        size = config.get("hidden_size") or config.get("dim")  # the latter in DistilBERT
        files[f"{POOLING}/config.json"] = mean_pooling(int(size or 0))
    for entry in module_entries(files):
        folder = path / entry.path
        if entry.path and (folder / "config.json").is_file():
            files[f"{entry.path}/config.json"] = (folder / "config.json").read_bytes()
        _refuse_pickle(folder)
    return EncoderFolder(path, config, files)


def _refuse_pickle(folder: Path) -> None:
    pickles = [found for pattern in _PICKLES for found in folder.glob(pattern)]
    if pickles and not any(folder.glob("*.safetensors")):
        raise InvalidInput(
            f"The encoder in {folder} is stored as a pickle, which can run code when opened.",
            _CONVERT,
        )


def weight_files(folder: Path) -> list[Path]:
    """List the safetensors of a folder; raises ArtifactDamaged if there are none."""
    found = sorted(folder.glob("*.safetensors"))
    if not found:
        raise ArtifactDamaged(f"{folder} holds no model.safetensors.", _CONVERT)
    return found


def module_entries(files: Mapping[str, bytes]) -> list[ModuleEntry]:
    """Read `modules.json`; ArtifactDamaged if malformed, InvalidInput if a module is foreign."""
    try:
        listed = [(str(m["type"]), str(m["path"])) for m in json.loads(files["modules.json"])]
    except MALFORMED as error:
        raise ArtifactDamaged(f"modules.json of the encoder cannot be read: {error}.") from error
    for kind, path in listed:
        if not kind.startswith("sentence_transformers.") or ".." in path or path.startswith("/"):
            raise InvalidInput(
                f"The encoder names a module '{kind}' in '{path}'.",
                "Choose one whose modules are all of sentence-transformers.",
            )
    return [ModuleEntry(kind.rpartition(".")[2], path) for kind, path in listed]


def list_modules(chain: list[tuple[str, str]]) -> bytes:
    """Write `modules.json` for kinds of modules and their sub-folders."""
    modules = [
        {"idx": idx, "name": str(idx), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for idx, (kind, path) in enumerate(chain)
    ]
    return (json.dumps(modules, indent=2) + "\n").encode()


def mean_pooling(size: int) -> bytes:
    """Write the config of pooling by the mean of all tokens."""
    config = {"word_embedding_dimension": size, "pooling_mode_mean_tokens": True}
    return (json.dumps(config, indent=2) + "\n").encode()


def pooling_modes(config: Mapping[str, Any]) -> list[str]:
    """Name the kinds of pooling in a current config (`mean`) or an old one (`mean_tokens`)."""
    if "pooling_mode" in config:
        modes = config["pooling_mode"]
        return [modes] if isinstance(modes, str) else list(modes)
    prefix = "pooling_mode_"
    return [
        name.removeprefix(prefix).removesuffix("_tokens")
        for name, on in config.items()
        if name.startswith(prefix) and on is True
    ]


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write small files under a folder."""
    for name, content in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def _read_config(path: Path) -> dict[str, Any]:
    try:
        return _parse((path / "config.json").read_bytes(), path / "config.json")
    except FileNotFoundError as error:
        raise ArtifactDamaged(
            f"{path} holds no config.json; it is not a sentence-transformers folder.",
            "Name the folder that holds modules.json and config.json.",
        ) from error
    except OSError as error:
        raise ArtifactDamaged(f"{path}/config.json cannot be read: {error.strerror}.") from error


def _parse(content: bytes, path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(content))
    except MALFORMED as error:
        raise ArtifactDamaged(f"{path} cannot be read as JSON: {error}.") from error


def is_convert(folder: Path) -> bool:
    """Whether a folder holds a saved ConveRT."""
    try:
        config = json.loads((folder / "config.json").read_bytes())
        return isinstance(config, dict) and config.get("model_type") == "convert"
    except MALFORMED:
        return False
