"""Load an encoder by name: the bundled one, a folder, or a model of the Hugging Face hub.

Weights must be safetensors, and code of a model is never run. The network is used only for a hub
model that is not on this machine.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import nn

from core.encoders.adapter.encoder import ADAPTER, PlainEncoder, adapt, read_adapter
from core.encoders.base import Encoder
from core.encoders.bundled import bundled_folder
from core.encoders.claimed_sizes import refuse_claims, transformer_claims
from core.encoders.dual.encoder import NAMES, UTTERANCES, DualEncoder, is_dual
from core.encoders.dual.static import is_static, load_static
from core.encoders.folders import (
    POOLING,
    EncoderFolder,
    ModuleEntry,
    is_convert,
    open_folder,
    pooling_modes,
    weight_files,
)
from core.encoders.general.encoder import load_general
from core.encoders.packed.bert import BertShape, PackedBert
from core.encoders.packed.encoder import (
    EncoderFiles,
    TransformerEncoder,
    fingerprint,
    modules_json,
)
from core.encoders.shared_bases import SharedBases
from core.encoders.weights import read_weights, spare_weights
from core.errors import MALFORMED, ArtifactDamaged, NotFound
from core.files import named_folder

BUNDLED = "bundled"
_CHAIN = re.compile(r"Transformer Pooling( Dense)?( Normalize)?")
_HUB_ID = re.compile(r"\A[\w.-]+/[\w.-]+\Z")
_WANTED = ("*.json", "*.txt", "*.model", "*.safetensors", "*/config.json", "*/*.safetensors")


def load_encoder(spec: str, device: str = "cpu") -> Encoder:
    """Load `bundled`, a sentence-transformers folder, or a hub id such as `org/name`.

    Raises:
        NotFound: No such folder, or the hub cannot be reached.
        InvalidInput: The folder holds no encoder that can be used safely.
        ArtifactDamaged: Files are missing or malformed.
    """
    if spec == BUNDLED:
        return load_folder(bundled_folder(), device)
    folder = named_folder(spec)
    if folder is not None:
        return load_folder(folder, device)
    if _HUB_ID.fullmatch(spec) and not spec.startswith("."):
        return load_folder(_hub_folder(spec), device)
    raise NotFound(
        f"There is no encoder '{spec[:200]}'.",
        "Name “bundled”, a folder of sentence-transformers, or a hub id such as org/name.",
    )


def load_folder(folder: Path, device: str = "cpu", bases: SharedBases | None = None) -> Encoder:
    """Load a sentence-transformers folder, or a bare transformer with mean pooling.

    A BERT with mean pooling is computed without padding, others by sentence-transformers. An
    encoder that is among `bases` already is returned from there, and an adapter uses its base. The
    two sides of a dual encoder are loaded from their own sub-folders.
    """
    if is_dual(folder):
        sides = [load_folder(folder / side, device, bases) for side in (UTTERANCES, NAMES)]
        return DualEncoder(*sides)
    if is_static(folder):
        return load_static(folder, device)
    if is_convert(folder):
        from core.encoders.convert.encoder import load_convert  # imports sentence-transformers

        return load_convert(folder, device)
    if not (folder / ADAPTER).is_dir():
        plain = _load_plain(folder, device)
        return plain if bases is None else bases.join(plain, device)
    wanted, adapter = read_adapter(folder)

    def load() -> Encoder:
        found = _load_plain(folder, device)
        if found.fingerprint != wanted:
            raise ArtifactDamaged(
                f"The adapter in {folder} was trained in another encoder than the one beside it."
            )
        return found

    base = load() if bases is None else bases.get(wanted, device, load)
    try:
        return adapt(cast("PlainEncoder", base), adapter)
    except MALFORMED as error:
        message = f"The adapter in {folder} does not fit its base: {error}."
        raise ArtifactDamaged(message) from error


def _load_plain(folder: Path, device: str) -> PlainEncoder:
    with _naming(folder):
        source = open_folder(folder)
        packable = _is_packable(source)
    return _load_packed(source, device) if packable else load_general(source, device)


@contextmanager
def _naming(folder: Path) -> Iterator[None]:
    try:
        yield
    except (*MALFORMED, SafetensorError) as error:
        raise ArtifactDamaged(f"The encoder in {folder} cannot be used: {error}.") from error


def _is_packable(source: EncoderFolder) -> bool:
    """Whether `PackedBert` computes exactly what the folder describes."""
    config, entries = source.config, source.modules
    options = source.json("config_sentence_transformers.json")
    return (
        config.get("model_type") == "bert"
        and config.get("hidden_act", "gelu") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
        and _CHAIN.fullmatch(" ".join(entry.kind for entry in entries)) is not None
        and pooling_modes(source.json(f"{entries[1].path}/config.json")) == ["mean"]
        and all(_is_tanh(source, entry) for entry in entries if entry.kind == "Dense")
        and not source.json("sentence_bert_config.json").get("do_lower_case")
        and not options.get("default_prompt_name")
        and not options.get("truncate_dim")
    )


def _is_tanh(source: EncoderFolder, entry: ModuleEntry) -> bool:
    config = source.json(f"{entry.path}/config.json")
    plain = config.get("bias", True) and not config.get("use_residual")
    return bool(plain) and str(config.get("activation_function", ".Tanh")).endswith(".Tanh")


def _load_packed(source: EncoderFolder, device: str) -> TransformerEncoder:
    with _naming(source.path):
        read = _read_packed(source)
    bert, projection = read.bert, read.projection
    return replace(
        read,
        bert=bert.to(device),
        projection=None if projection is None else projection.to(device),
    )


def _read_packed(source: EncoderFolder) -> TransformerEncoder:
    bert, spare = _read_bert(source)
    projection = _read_projection(source)
    normalised = source.modules[-1].kind == "Normalize"
    small = {name: content for name, content in source.files.items() if "/" not in name}
    pooling = source.files[f"{source.modules[1].path}/config.json"]
    small[f"{POOLING}/config.json"] = pooling
    small["modules.json"] = modules_json(projected=projection is not None, normalised=normalised)
    longest = source.json("sentence_bert_config.json").get("max_seq_length")
    longest = longest or source.json("tokenizer_config.json").get("model_max_length")
    positions = bert.shape.max_position_embeddings
    return TransformerEncoder(
        bert=bert,
        tokenizer=_read_tokenizer(source.path),
        projection=projection,
        normalised=normalised,
        max_tokens=max(1, min(int(longest or positions), positions)),
        files=EncoderFiles(small, spare),
        fingerprint=fingerprint(bert, projection, small),
    )


def _read_bert(source: EncoderFolder) -> tuple[PackedBert, dict[str, Any]]:
    shape = BertShape(**{n: source.config[n] for n in BertShape.__dataclass_fields__})
    files = weight_files(source.path)
    refuse_claims(files, transformer_claims(source.config))
    published = {k: v for path in files for k, v in load_file(path).items()}
    weights = read_weights(published, shape.num_hidden_layers)
    with torch.device("meta"):  # takes no memory: the weights are put in as they are
        bert = PackedBert(shape)
    bert.load_state_dict(weights, assign=True)
    spare = spare_weights(published, shape.num_hidden_layers)
    return bert.eval().requires_grad_(requires_grad=False), spare


def _read_projection(source: EncoderFolder) -> nn.Linear | None:
    for entry in source.modules:
        if entry.kind == "Dense":
            config = source.json(f"{entry.path}/config.json")
            with torch.device("meta"):
                layer = nn.Linear(int(config["in_features"]), int(config["out_features"]))
            weights = load_file(weight_files(source.path / entry.path)[0])
            # Copies are aligned as weights that were tuned are, and multiply to the same bits.
            own = {
                k.removeprefix("linear."): v.to(torch.float32, copy=True)
                for k, v in weights.items()
            }
            layer.load_state_dict(own, assign=True)
            return layer.eval().requires_grad_(requires_grad=False)
    return None


def _read_tokenizer(folder: Path) -> Tokenizer:
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise ArtifactDamaged(
            f"{folder} holds no tokenizer.json.", "Save it again with a fast tokenizer."
        )
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing narrower
        raise ArtifactDamaged(f"The tokenizer in {folder} cannot be read: {error}.") from error


def _hub_folder(name: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    wanted = list(_WANTED)
    try:
        return Path(snapshot_download(name, allow_patterns=wanted, local_files_only=True))
    except (LocalEntryNotFoundError, OSError):
        pass  # not on this machine yet
    try:
        return Path(snapshot_download(name, allow_patterns=wanted))
    except (LocalEntryNotFoundError, HfHubHTTPError, OSError) as error:
        raise NotFound(
            f"The encoder '{name}' is not on this machine and could not be downloaded.",
            "Download it on a connected machine, bring its folder here, and name the folder.",
        ) from error
