"""Encoders that `PackedBert` cannot run, computed by sentence-transformers."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from core.encoders.base import Progress
from core.encoders.claimed_sizes import dense_claims, refuse_claims, transformer_claims
from core.encoders.folders import EncoderFolder, module_entries, weight_files, write_files
from core.encoders.weights import digest_weights
from core.errors import ArtifactDamaged, InvalidInput, StudioError
from core.types import FloatArray

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from transformers import PreTrainedModel

_BATCH = 32
_MODULES = ("Transformer", "Pooling", "Dense", "Normalize")
# Path of the layers in each kind of transformer, lowest first.
_LAYERS = {
    "bert": "encoder.layer",
    "camembert": "encoder.layer",
    "distilbert": "transformer.layer",
    "electra": "encoder.layer",
    "modernbert": "layers",
    "mpnet": "encoder.layer",
    "roberta": "encoder.layer",
    "xlm-roberta": "encoder.layer",
}


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class GeneralEncoder:
    """An encoder run by sentence-transformers; `save` writes `files`, its configs and tokenizer."""

    model: "SentenceTransformer"
    files: Mapping[str, bytes]
    fingerprint: str

    @property
    def dim(self) -> int:
        """Width of an embedding."""
        return int(self.model.get_embedding_dimension() or 0)

    @property
    def max_tokens(self) -> int:
        """Token limit; longer texts are cut."""
        return int(self.model.max_seq_length or 0)

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> FloatArray:
        """Embed texts in their order; equal to sentence-transformers to 1e-5; (n, dim) float32."""
        distinct = list(dict.fromkeys(texts))
        rows = np.empty((len(distinct), self.dim), dtype=np.float32)
        # Texts of similar length share a batch to save padding.
        order = sorted(range(len(distinct)), key=lambda row: len(distinct[row]), reverse=True)
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            part = [distinct[row] for row in batch]
            rows[batch] = self.model.encode(part, batch_size=_BATCH, show_progress_bar=False)
            if progress:
                progress(start + len(batch), len(distinct))
        place = {text: row for row, text in enumerate(distinct)}
        return rows[[place[text] for text in texts]]

    def save(self, folder: Path) -> None:
        """Write a plain sentence-transformers folder; equal encoders write equal bytes."""
        folder.mkdir(parents=True, exist_ok=True)
        write_files(folder, self.files)
        for entry, module in zip(module_entries(self.files), self.model, strict=True):
            weights = published_weights(module)
            if weights:
                target = folder / entry.path / "model.safetensors"
                save_file({k: weights[k] for k in sorted(weights)}, target, {"format": "pt"})


def load_general(source: EncoderFolder, device: str) -> GeneralEncoder:
    """Load an encoder by sentence-transformers; its code is built in, its weights safetensors.

    Raises:
        InvalidInput: It is not a stack of encoder layers, or has modules of other kinds.
        ArtifactDamaged: Files are missing or malformed.
    """
    try:
        _refuse_unsupported(source)
        weights = weight_files(source.path)
        _refuse_false_sizes(source, weights)
        model = _load_model(source.path, device)
        _refuse_incomplete(weights, transformer_of(model))
    except StudioError:
        raise
    except Exception as error:  # of values of any kind, and of what both libraries check themselves
        raise ArtifactDamaged(f"The encoder in {source.path} cannot be used: {error}") from error
    # Weights are used and saved in float32, in whatever precision they were published.
    config = {k: v for k, v in source.config.items() if k != "torch_dtype"} | {"dtype": "float32"}
    content = (json.dumps(config, indent=2) + "\n").encode()
    return encoder_of(model, {**source.files, "config.json": content})


def encoder_of(model: "SentenceTransformer", files: Mapping[str, bytes]) -> GeneralEncoder:
    """Close a model as an encoder that never changes."""
    model.eval().requires_grad_(requires_grad=False)
    digest = hashlib.sha256()
    for module in model:
        digest.update(digest_weights(published_weights(module)).encode())
    for name in sorted(files):
        digest.update(name.encode() + hashlib.sha256(files[name]).digest())
    return GeneralEncoder(model, files, digest.hexdigest())


def transformer_of(model: "SentenceTransformer") -> "PreTrainedModel":
    """Return the network that computes token vectors, without tokenizer and pooling."""
    return cast("PreTrainedModel", model[0].get_submodule("model"))


def layers_of(transformer: "PreTrainedModel") -> list[nn.Module]:
    """Return the layers of a transformer, the lowest first."""
    return list(transformer.get_submodule(layer_path(transformer)).children())


def layer_path(transformer: "PreTrainedModel") -> str:
    """Name the module that holds the layers of a transformer."""
    return _LAYERS[transformer.config.model_type]


def published_weights(module: nn.Module) -> dict[str, Tensor]:
    """Return a module's weights under the names that other programs read."""
    inner = getattr(module, "model", module)
    return {k: v.detach().cpu().contiguous() for k, v in inner.state_dict().items()}


def _refuse_unsupported(source: EncoderFolder) -> None:
    kind = source.config.get("model_type")
    if kind not in _LAYERS or source.config.get("is_decoder"):
        raise InvalidInput(
            f"The encoder in {source.path} is of the kind '{kind}'; kinds that work: "
            f"{', '.join(sorted(_LAYERS))}.",
            "Choose one of these, such as sentence-transformers/all-mpnet-base-v2.",
        )
    kinds = [entry.kind for entry in source.modules]
    others = sorted(set(kinds) - set(_MODULES))
    if others or kinds[:2] != ["Transformer", "Pooling"] or source.modules[0].path:
        raise InvalidInput(
            f"The encoder in {source.path} has the modules {', '.join(kinds)}.",
            f"Choose one with {', '.join(_MODULES)}, in this order.",
        )


def _refuse_false_sizes(source: EncoderFolder, weights: list[Path]) -> None:
    refuse_claims(weights, transformer_claims(source.config))
    for entry in source.modules:
        if entry.kind == "Dense":
            config = source.json(f"{entry.path}/config.json")
            refuse_claims(weight_files(source.path / entry.path), dense_claims(config))


def _load_model(folder: Path, device: str) -> "SentenceTransformer":
    from sentence_transformers import SentenceTransformer

    with _quietly():
        model = SentenceTransformer(
            str(folder),
            device=device,
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"dtype": torch.float32, "use_safetensors": True},
        )
    # Pooling does not use the pooler; published weights often lack it, so it would be random.
    transformer = transformer_of(model)
    if hasattr(transformer, "pooler"):
        transformer.register_module("pooler", None)
    positions = _positions(transformer)
    model.max_seq_length = min(model.max_seq_length or positions, positions)
    return model


def _positions(transformer: "PreTrainedModel") -> int:
    """Return the token limit; RoBERTa and MPNet number positions from after the padding's id."""
    table = getattr(transformer.embeddings, "position_embeddings", None)
    if not isinstance(table, nn.Embedding):
        return int(transformer.config.max_position_embeddings)
    return table.num_embeddings - (0 if table.padding_idx is None else table.padding_idx + 1)


def _refuse_incomplete(files: list[Path], transformer: "PreTrainedModel") -> None:
    """Refuse missing weights, which the library would fill with random numbers."""
    prefix = f"{transformer.base_model_prefix}."
    published: set[str] = set()
    for path in files:
        with safe_open(path, "pt") as weights:
            published |= {name.removeprefix(prefix) for name in weights.keys()}  # noqa: SIM118
    # Early BERTs name the weights of norms gamma and beta.
    published = {n.replace(".gamma", ".weight").replace(".beta", ".bias") for n in published}
    missing = sorted(set(transformer.state_dict()) - published)
    if missing:
        raise ArtifactDamaged(f"The weights in {files[0].parent} lack {missing[0]}.")


@contextmanager
def _quietly() -> Iterator[None]:
    """Keep the progress bars and load reports of transformers off the terminal."""
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
