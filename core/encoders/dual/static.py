"""A small encoder of short texts: the mean of fixed word vectors, projected to another width.

A larger encoder embeds each token of its vocabulary alone. The principal directions of those
embeddings give narrow vectors and the projection back. This is enough for intent names, which are
a few words in any order, and the table has a sixth of the larger encoder's size.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor

from core.encoders.base import Encoder, Progress
from core.encoders.folders import list_modules, write_files
from core.encoders.general.encoder import GeneralEncoder
from core.encoders.packed.encoder import TransformerEncoder
from core.encoders.weights import digest_weights
from core.errors import MALFORMED, ArtifactDamaged, InvalidInput
from core.types import FloatArray

_STATIC, _DENSE, _NORMALIZE = "0_StaticEmbedding", "1_Dense", "2_Normalize"
_MOST_TOKENS = 512  # nominal; the table itself has no limit
_PT = {"format": "pt"}


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class StaticEncoder:
    """Projected means of word vectors, from a table (tokens, width) and a matrix (dim, width)."""

    tokenizer: Tokenizer
    table: Tensor
    projection: Tensor
    normalised: bool
    fingerprint: str

    @property
    def dim(self) -> int:
        """Width of an embedding."""
        return int(self.projection.shape[0])

    @property
    def max_tokens(self) -> int:
        """Nominal token limit; names are shorter and nothing is cut."""
        return _MOST_TOKENS

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> FloatArray:
        """Embed texts in their order; equal to sentence-transformers to 1e-5; (n, dim) float32."""
        with torch.inference_mode():
            rows = embed_ids(token_ids(self.tokenizer, texts), self.table, self.projection)
            rows = F.normalize(rows, dim=1) if self.normalised else rows
        if progress:
            progress(len(texts), len(texts))
        found: FloatArray = rows.cpu().numpy()
        return found

    def save(self, folder: Path) -> None:
        """Write a plain sentence-transformers folder; equal encoders write equal bytes."""
        for name in (_STATIC, _DENSE):
            (folder / name).mkdir(parents=True, exist_ok=True)
        chain = [("StaticEmbedding", _STATIC), ("Dense", _DENSE)]
        chain += [("Normalize", _NORMALIZE)] if self.normalised else []
        files = {"modules.json": list_modules(chain), f"{_DENSE}/config.json": self._dense()}
        files[f"{_STATIC}/tokenizer.json"] = self.tokenizer.to_str(pretty=True).encode()
        write_files(folder, files)
        table, projection = self.table.cpu().contiguous(), self.projection.cpu().contiguous()
        save_file({"embedding.weight": table}, folder / _STATIC / "model.safetensors", _PT)
        save_file({"linear.weight": projection}, folder / _DENSE / "model.safetensors", _PT)

    def _dense(self) -> bytes:
        config = {
            "in_features": int(self.projection.shape[1]),
            "out_features": self.dim,
            "bias": False,
            "activation_function": "torch.nn.modules.linear.Identity",
        }
        return (json.dumps(config, indent=2) + "\n").encode()


def static_encoder(
    tokenizer: Tokenizer, table: Tensor, projection: Tensor, *, normalised: bool
) -> StaticEncoder:
    """Build an encoder from word vectors (tokens, width) and their projection (dim, width)."""
    weights = digest_weights({"table": table, "projection": projection})
    own = f"static {weights} {normalised} {tokenizer.to_str()}"
    digest = hashlib.sha256(own.encode()).hexdigest()
    return StaticEncoder(tokenizer, table, projection, normalised, digest)


def token_ids(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    """Tokenise texts without special tokens."""
    encoded = tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
    return [item.ids for item in encoded]


def embed_ids(ids: Sequence[Sequence[int]], table: Tensor, projection: Tensor) -> Tensor:
    """Average the vectors of each text's tokens and project; (n, dim), zeros for no token."""
    device = table.device
    flat = torch.tensor([token for text in ids for token in text], dtype=torch.long, device=device)
    lengths = torch.tensor([0, *(len(text) for text in ids)], device=device)
    means = F.embedding_bag(flat, table, lengths.cumsum(0)[:-1], mode="mean")
    return means @ projection.T


def distil_static(encoder: Encoder, width: int, *, normalised: bool = True) -> StaticEncoder:
    """Make word vectors from an encoder; InvalidInput if it has no table of tokens."""
    tokenizer = _bare(_tokenizer_of(encoder))
    size = tokenizer.get_vocab_size()
    words = [tokenizer.decode([token], skip_special_tokens=False) for token in range(size)]
    # As in model2vec: a continuation (##ing) is embedded by its letters.
    found = encoder.encode([word.removeprefix("##") for word in words]).astype(np.float64)
    width = min(width, found.shape[1])
    _, directions = np.linalg.eigh(found.T @ found)  # ascending; the last explain most
    kept = directions[:, ::-1][:, :width]
    table = torch.from_numpy((found @ kept).astype(np.float32))
    projection = torch.from_numpy(np.ascontiguousarray(kept, dtype=np.float32))
    return static_encoder(tokenizer, table, projection, normalised=normalised)


def is_static(folder: Path) -> bool:
    """Whether a folder holds saved word vectors."""
    return (folder / _STATIC / "model.safetensors").is_file()


def load_static(folder: Path, device: str = "cpu") -> StaticEncoder:
    """Load saved word vectors; raises ArtifactDamaged for a missing or malformed file."""
    try:
        tokenizer = Tokenizer.from_file(str(folder / _STATIC / "tokenizer.json"))
        table = load_file(folder / _STATIC / "model.safetensors")["embedding.weight"]
        projection = load_file(folder / _DENSE / "model.safetensors")["linear.weight"]
        modules: list[Mapping[str, Any]] = json.loads((folder / "modules.json").read_bytes())
    except (*MALFORMED, SafetensorError) as error:
        raise ArtifactDamaged(f"The encoder in {folder} cannot be used: {error}.") from error
    except Exception as error:  # the tokenizer's library raises nothing narrower
        raise ArtifactDamaged(f"The tokenizer in {folder} cannot be read: {error}.") from error
    if table.ndim != 2 or table.shape[1:] != projection.shape[1:]:
        shapes = f"{tuple(table.shape)} and {tuple(projection.shape)}"
        raise ArtifactDamaged(f"The weights in {folder} do not fit each other: {shapes}.")
    table, projection = table.to(device), projection.to(device)
    return static_encoder(tokenizer, table, projection, normalised=len(modules) == 3)


def _tokenizer_of(encoder: Encoder) -> Tokenizer:
    if isinstance(encoder, TransformerEncoder):
        return encoder.tokenizer
    if isinstance(encoder, GeneralEncoder):
        backend = getattr(encoder.model.tokenizer, "backend_tokenizer", None)
        if isinstance(backend, Tokenizer):
            return backend
    raise InvalidInput(
        "This encoder has no table of words to make a small encoder of.",
        "Choose names=siamese or names=non-siamese, or another base encoder.",
    )


def _bare(tokenizer: Tokenizer) -> Tokenizer:
    copy = Tokenizer.from_str(tokenizer.to_str())
    copy.no_padding()
    copy.no_truncation()
    return copy
