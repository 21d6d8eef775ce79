"""Check the sizes that a model's config claims against its weights, before memory is allocated."""

from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

from safetensors import safe_open

from core.errors import ArtifactDamaged

_NAMES: Mapping[str, Sequence[str]] = {
    "width": ("hidden_size", "dim"),
    "layers": ("num_hidden_layers", "n_layers"),
    "inner": ("intermediate_size", "hidden_dim"),
    "words": ("vocab_size",),
    "positions": ("max_position_embeddings",),
}
_WITHOUT_POSITIONS = frozenset({"modernbert"})
"""Kinds that compute positions and store no table of them."""


def stored_numbers(files: Sequence[Path]) -> int:
    """Count the numbers in safetensors files by their headers; no weight is read."""
    total = 0
    for path in files:
        with safe_open(path, "np") as weights:
            total += sum(prod(weights.get_slice(name).get_shape()) for name in weights.keys())  # noqa: SIM118
    return total


def refuse_claims(files: Sequence[Path], claims: Mapping[str, Sequence[object]]) -> None:
    """Refuse matrices of more numbers than the weights hold; a claim is the sizes of a matrix.

    Raises:
        ArtifactDamaged: A claim is too large, or a size is no whole number of 1 or more.
    """
    stored = stored_numbers(files)
    for name, sizes in claims.items():
        whole = [size for size in sizes if type(size) is int and size > 0]
        if len(whole) < len(sizes) or prod(whole) > stored:
            shown = " x ".join(str(size)[:20] for size in sizes)
            raise ArtifactDamaged(
                f"The config of {files[0].parent} claims {shown} numbers for its {name}, and the "
                f"weights hold {stored:,} in all.",
                "Ask for the model again, from somebody you trust.",
            )


def dense_claims(config: Mapping[str, Any]) -> dict[str, Sequence[object]]:
    """Return the matrix that the config of a dense layer claims."""
    return {"dense layer": (config.get("in_features"), config.get("out_features"))}


def transformer_claims(config: Mapping[str, Any]) -> dict[str, Sequence[object]]:
    """Return the matrices that the config of a transformer claims; left-out sizes claim none."""
    sizes = {
        size: next((config[name] for name in names if name in config), 1)
        for size, names in _NAMES.items()
    }
    width = sizes["width"]
    claims: dict[str, Sequence[object]] = {
        "table of words": (sizes["words"], width),
        "layers": (sizes["layers"], width, width),
        "inner layers": (sizes["layers"], sizes["inner"], width),
    }
    if config.get("model_type") not in _WITHOUT_POSITIONS:
        claims["table of positions"] = (sizes["positions"], width)
    return claims
