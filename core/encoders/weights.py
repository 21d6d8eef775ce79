"""Translate between the published names of BERT weights and those of `PackedBert`."""

import hashlib
from collections.abc import Mapping

import torch
from torch import Tensor

_TABLES = {
    "embeddings.word_embeddings.weight": "words.weight",
    "embeddings.position_embeddings.weight": "positions.weight",
    "embeddings.token_type_embeddings.weight": "types.weight",
    "embeddings.LayerNorm.weight": "norm.weight",
    "embeddings.LayerNorm.bias": "norm.bias",
}
_LAYER = {
    "attention.output.dense": "mix",
    "attention.output.LayerNorm": "attention_norm",
    "intermediate.dense": "up",
    "output.dense": "down",
    "output.LayerNorm": "output_norm",
}
_QKV = tuple(f"attention.self.{part}" for part in ("query", "key", "value"))


def read_weights(published: Mapping[str, Tensor], n_layers: int) -> dict[str, Tensor]:
    """Rename published weights to float32; query, key and value become one matrix.

    Raises:
        KeyError: A weight is missing.
    """
    bare = {name.removeprefix("bert."): value for name, value in published.items()}
    own = {mine: bare[theirs] for theirs, mine in _TABLES.items()}
    for layer in range(n_layers):
        for kind in ("weight", "bias"):
            source, target = f"encoder.layer.{layer}.", f"layers.{layer}."
            parts = [bare[f"{source}{part}.{kind}"] for part in _QKV]
            own[f"{target}qkv.{kind}"] = torch.cat(parts)
            for theirs, mine in _LAYER.items():
                own[f"{target}{mine}.{kind}"] = bare[f"{source}{theirs}.{kind}"]
    return {name: value.float().contiguous() for name, value in own.items()}


def spare_weights(published: Mapping[str, Tensor], n_layers: int) -> dict[str, Tensor]:
    """Return weights that `read_weights` does not use (such as a pooler), for saving."""
    layers = range(n_layers)
    parts = (*_QKV, *_LAYER)
    used = set(_TABLES) | {
        f"encoder.layer.{layer}.{part}.{kind}"
        for layer in layers
        for part in parts
        for kind in ("weight", "bias")
    }
    bare = {name.removeprefix("bert."): value for name, value in published.items()}
    return {name: value for name, value in bare.items() if name not in used}


def write_weights(own: Mapping[str, Tensor], n_layers: int) -> dict[str, Tensor]:
    """Rename weights to their published names; the inverse of `read_weights`."""
    published = {theirs: own[mine] for theirs, mine in _TABLES.items()}
    for layer in range(n_layers):
        for kind in ("weight", "bias"):
            source, target = f"layers.{layer}.", f"encoder.layer.{layer}."
            for part, value in zip(_QKV, own[f"{source}qkv.{kind}"].chunk(3), strict=True):
                published[f"{target}{part}.{kind}"] = value
            for theirs, mine in _LAYER.items():
                published[f"{target}{theirs}.{kind}"] = own[f"{source}{mine}.{kind}"]
    return {name: value.detach().cpu().contiguous() for name, value in published.items()}


def published_modules(layer: int, own: str) -> tuple[str, ...]:
    """Name the published modules of one module of `BertLayer`; `qkv` combines three."""
    theirs = _QKV if own == "qkv" else [name for name, mine in _LAYER.items() if mine == own]
    return tuple(f"encoder.layer.{layer}.{name}" for name in theirs)


def digest_weights(weights: Mapping[str, Tensor]) -> str:
    """Return the SHA-256 over names, shapes and values, independent of any file layout."""
    digest = hashlib.sha256()
    for name in sorted(weights):
        value = weights[name].detach().cpu().contiguous()
        digest.update(f"{name} {tuple(value.shape)} {value.dtype}\n".encode())
        digest.update(value.view(torch.uint8).numpy().data if value.dim() else b"")
    return digest.hexdigest()
