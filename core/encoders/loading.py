"""From a name to an encoder: the bundled one, a folder, or a model of the Hugging Face hub.

Weights are safetensors only, code of a model is never run, and the network is used only when the
user names a hub model that is not on this machine.
"""

import json
import re
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import nn

from core.encoders.integrity import bundled_folder
from core.encoders.packed import BertShape, PackedBert
from core.encoders.transformer import (
    EncoderFiles,
    TransformerEncoder,
    fingerprint,
    modules_json,
)
from core.encoders.weights import read_weights, spare_weights
from core.errors import ArtifactDamaged, InvalidInput, NotFound

BUNDLED = "bundled"
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.pkl")
_SMALL = ("*.json", "*.txt", "*.model")


def load_encoder(spec: str, device: str = "cpu") -> TransformerEncoder:
    """Load an encoder by name.

    Args:
        spec: `bundled`, a sentence-transformers folder, or a hub id such as `org/name`.
        device: Where it computes.

    Raises:
        NotFound: No such folder, or the hub cannot be reached.
        InvalidInput: The folder is no encoder that can be used safely.
        ArtifactDamaged: Files are missing or not what they should be.
    """
    if spec == BUNDLED:
        return load_folder(bundled_folder(), device)
    if Path(spec).expanduser().is_dir():
        return load_folder(Path(spec).expanduser(), device)
    if _HUB_ID.fullmatch(spec) and not spec.startswith("."):
        return load_folder(_hub_folder(spec), device)
    raise NotFound(
        f"There is no encoder '{spec}'.",
        "Name `bundled`, a folder of sentence-transformers, or a hub id such as org/name.",
    )


def load_folder(folder: Path, device: str = "cpu") -> TransformerEncoder:
    """Load a sentence-transformers folder of the BERT family with mean pooling."""
    config = _read_json(folder / "config.json")
    _refuse_unsafe(folder, config)
    modules = _module_names(folder)
    _refuse_unsupported(folder, config, modules)
    bert, spare = _load_bert(folder, config)
    projection = _load_projection(folder, modules)
    normalised = any(kind.endswith("Normalize") for kind, _ in modules)
    small = _small_files(folder)
    small["modules.json"] = modules_json(projected=projection is not None, normalised=normalised)
    limits = _read_json(folder / "sentence_bert_config.json", missing={})
    longest = int(limits.get("max_seq_length") or config["max_position_embeddings"])
    bert.to(device)
    return TransformerEncoder(
        bert=bert,
        tokenizer=_tokenizer(folder),
        projection=projection.to(device) if projection else None,
        normalised=normalised,
        max_tokens=min(longest, int(config["max_position_embeddings"])),
        files=EncoderFiles(small, spare),
        fingerprint=fingerprint(bert, projection, small),
    )


def _load_bert(folder: Path, config: dict[str, Any]) -> tuple[PackedBert, dict[str, Any]]:
    shape = BertShape(**{name: config[name] for name in BertShape.__dataclass_fields__})
    path = folder / "model.safetensors"
    if not path.is_file():
        raise ArtifactDamaged(
            f"{folder} holds no model.safetensors.",
            "Convert it on a trusted machine: SentenceTransformer(folder).save(other_folder).",
        )
    try:
        published = load_file(path)
        weights = read_weights(published, shape.num_hidden_layers)
    except (SafetensorError, KeyError, OSError) as error:
        raise ArtifactDamaged(f"The weights in {path} cannot be used: {error}.") from error
    bert = PackedBert(shape)
    bert.load_state_dict(weights, assign=True)
    return bert.eval().requires_grad_(requires_grad=False), spare_weights(
        published, shape.num_hidden_layers
    )


def _load_projection(folder: Path, modules: list[tuple[str, str]]) -> nn.Linear | None:
    for kind, path in modules:
        if kind.endswith("Dense"):
            config = _read_json(folder / path / "config.json")
            layer = nn.Linear(int(config["in_features"]), int(config["out_features"]))
            weights = load_file(folder / path / "model.safetensors")
            layer.load_state_dict({k.removeprefix("linear."): v for k, v in weights.items()})
            return layer.eval().requires_grad_(requires_grad=False)
    return None


def _refuse_unsafe(folder: Path, config: dict[str, Any]) -> None:
    if "auto_map" in config:
        raise InvalidInput(
            f"The encoder in {folder} wants to run code of its own.",
            "Choose one whose architecture is built into transformers.",
        )
    if not (folder / "model.safetensors").is_file() and any(
        found for pattern in _PICKLES for found in folder.glob(pattern)
    ):
        raise InvalidInput(
            f"The encoder in {folder} is stored as a pickle, which can run code when opened.",
            "Convert it on a trusted machine: SentenceTransformer(folder).save(other_folder).",
        )


def _refuse_unsupported(
    folder: Path, config: dict[str, Any], modules: list[tuple[str, str]]
) -> None:
    kind = config.get("model_type")
    if kind != "bert" or config.get("hidden_act", "gelu") != "gelu":
        raise InvalidInput(
            f"The encoder in {folder} is of the kind '{kind}'; kinds that work: bert.",
            "Choose a BERT encoder, such as sentence-transformers/all-MiniLM-L12-v2.",
        )
    for name, path in modules:
        if name.endswith("Pooling") and not _pools_by_mean(folder / path):
            raise InvalidInput(
                f"The encoder in {folder} does not pool by the mean of its tokens.",
                "Choose one with mean pooling.",
            )


def _pools_by_mean(folder: Path) -> bool:
    config = _read_json(folder / "config.json")
    if "pooling_mode" in config:
        return config["pooling_mode"] in ("mean", ["mean"])
    modes = [name for name, on in config.items() if name.startswith("pooling_mode_") and on is True]
    return modes == ["pooling_mode_mean_tokens"]


def _module_names(folder: Path) -> list[tuple[str, str]]:
    """Kind and sub-folder of each module; a bare transformer is pooled by the mean."""
    if not (folder / "modules.json").is_file():
        return [("Transformer", "")]
    listed = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
    return [(str(item["type"]), str(item["path"])) for item in listed]


def _small_files(folder: Path) -> dict[str, bytes]:
    names = [p for pattern in _SMALL for p in folder.glob(pattern)]
    names += list(folder.glob("1_Pooling/config.json"))
    kept = {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(names)}
    kept.pop("data_config.json", None)  # training history of the publisher, read by nothing
    kept.setdefault("1_Pooling/config.json", _MEAN_POOLING)
    return kept


_MEAN_POOLING = b'{\n  "word_embedding_dimension": 384,\n  "pooling_mode_mean_tokens": true\n}\n'


def _tokenizer(folder: Path) -> Tokenizer:
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise ArtifactDamaged(
            f"{folder} holds no tokenizer.json.", "Save it anew with a fast tokenizer."
        )
    return Tokenizer.from_file(str(path))


def _read_json(path: Path, missing: dict[str, Any] | None = None) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        if missing is not None:
            return missing
        raise ArtifactDamaged(
            f"{path.parent} holds no {path.name}; it is not a sentence-transformers folder.",
            "Name the folder that holds modules.json and config.json.",
        ) from error
    except (OSError, ValueError) as error:
        raise ArtifactDamaged(f"{path} cannot be read as JSON: {error}.") from error


def _hub_folder(name: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    wanted = [*_SMALL, "*.safetensors", "*/config.json", "*/*.safetensors"]
    try:
        return Path(snapshot_download(name, allow_patterns=wanted, local_files_only=True))
    except (LocalEntryNotFoundError, OSError):
        pass  # not on this machine yet
    try:
        return Path(snapshot_download(name, allow_patterns=wanted))
    except (LocalEntryNotFoundError, HfHubHTTPError, OSError) as error:
        raise NotFound(
            f"The encoder '{name}' is not on this machine and could not be downloaded.",
            f"On a connected machine run `hf download {name} --local-dir FOLDER`, "
            "bring the folder here and name it instead.",
        ) from error
