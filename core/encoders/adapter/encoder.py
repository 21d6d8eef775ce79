"""An encoder with an adapter: the base's own tensors, shared with other adapters on it.

A saved folder is the base's folder with an `adapter/` in it. Its `config.json` says to which
published modules the adapter's weights belong.
"""

import copy
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from core.encoders.adapter.layers import Adapter, insert, merged_weights, share_weights
from core.encoders.base import Progress
from core.encoders.general.encoder import (
    GeneralEncoder,
    encoder_of,
    layer_path,
    layers_of,
    transformer_of,
)
from core.encoders.packed.encoder import TransformerEncoder, fingerprint
from core.encoders.weights import digest_weights, published_modules
from core.errors import MALFORMED, ArtifactDamaged
from core.types import FloatArray

ADAPTER = "adapter"
_PACKED_LORA = ("qkv", "mix", "up", "down")
# After a feed-forward block: its norm, or the block itself in pre-norm layers.
_ENDS = ("output.LayerNorm", "output_layer_norm", "mlp")

_KINDS: dict[str, Literal["bottleneck", "lora"]] = {"bottleneck": "bottleneck", "lora": "lora"}

PlainEncoder = TransformerEncoder | GeneralEncoder


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class AdaptedEncoder:
    """A base, which other adapters may share, and its tensors in a network with the adapter."""

    base: PlainEncoder
    adapter: Adapter
    network: PlainEncoder
    fingerprint: str

    @property
    def dim(self) -> int:
        """Width of an embedding."""
        return self.base.dim

    @property
    def max_tokens(self) -> int:
        """Token limit; longer texts are cut."""
        return self.base.max_tokens

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> FloatArray:
        """Embed texts in their order; (n, dim) float32."""
        return self.network.encode(texts, progress)

    def merged(self) -> PlainEncoder:
        """Return an encoder of plain matrices: LoRA is added to copies, bottlenecks stay."""
        return merge(self.base, self.adapter) if self.adapter.kind == "lora" else self.network

    def save(self, folder: Path) -> None:
        """Write the base as a plain sentence-transformers folder, and the adapter into it."""
        self.base.save(folder)
        target = folder / ADAPTER
        target.mkdir(exist_ok=True)
        content = json.dumps(_settings(self.base, self.adapter), indent=1)
        (target / "config.json").write_text(content + "\n", encoding="utf-8")
        weights = self.adapter.weights
        ordered = {name: weights[name].contiguous() for name in sorted(weights)}
        save_file(ordered, target / "model.safetensors", {"format": "pt"})


def adapt(base: PlainEncoder, adapter: Adapter) -> AdaptedEncoder:
    """Combine a base with an adapter; the base does not change."""
    network, root = open_network(base)
    for parameter in insert(root, adapter).values():
        parameter.requires_grad = False
    own = json.dumps(_settings(base, adapter)) + digest_weights(adapter.weights)
    digest = hashlib.sha256(own.encode()).hexdigest()
    return AdaptedEncoder(base, adapter, replace(network, fingerprint=digest), digest)


def open_network(base: PlainEncoder) -> tuple[PlainEncoder, nn.Module]:
    """Copy a base's modules around its tensors; also return the module that takes adapters."""
    if isinstance(base, TransformerEncoder):
        bert = share_weights(base.bert)
        return replace(base, bert=bert), bert
    tokenizer = base.model.tokenizer
    model = share_weights(base.model, {id(tokenizer): tokenizer})
    return replace(base, model=model), transformer_of(model)


def places_in(base: PlainEncoder, kind: str, frozen_layers: int) -> dict[str, tuple[str, ...]]:
    """Name the places for an adapter of this kind; at least the last layer has one."""
    names = _layer_names(base)
    upper = list(enumerate(names))[min(frozen_layers, len(names) - 1) :]
    if isinstance(base, TransformerEncoder):
        own = _PACKED_LORA if kind == "lora" else ("output_norm",)
        return {f"{name}.{o}": published_modules(at, o) for at, name in upper for o in own}
    modules = dict(transformer_of(base.model).named_modules())
    chosen: list[str] = []
    for _, name in upper:
        if kind == "lora":
            inside = [n for n in modules if n.startswith(f"{name}.")]
            chosen += [n for n in inside if isinstance(modules[n], nn.Linear)]
        else:
            chosen.append(next(f"{name}.{end}" for end in _ENDS if f"{name}.{end}" in modules))
    return {place: (place,) for place in chosen}


def layers_below(base: PlainEncoder, adapter: Adapter) -> int:
    """Count the layers below the lowest layer with an adapter."""
    lowest = (at for at, name in enumerate(_layer_names(base)) if _is_in(name, adapter))
    return next(lowest, 0)


def _is_in(layer: str, adapter: Adapter) -> bool:
    return any(place.startswith(f"{layer}.") for place in adapter.places)


def _layer_names(base: PlainEncoder) -> list[str]:
    """Name the layers inside the module that `open_network` returns, lowest first."""
    if isinstance(base, TransformerEncoder):
        return [f"layers.{at}" for at in range(len(base.bert.layers))]
    transformer = transformer_of(base.model)
    return [f"{layer_path(transformer)}.{at}" for at in range(len(layers_of(transformer)))]


@torch.no_grad()
def merge(base: PlainEncoder, adapter: Adapter) -> PlainEncoder:
    """Add LoRA to copies of the weights; the result is a plain encoder."""
    added = merged_weights(adapter)
    if isinstance(base, TransformerEncoder):
        bert = copy.deepcopy(base.bert)
        for place, value in added.items():
            bert.get_parameter(f"{place}.weight").add_(value.to(bert.words.weight.device))
        return replace(
            base, bert=bert, fingerprint=fingerprint(bert, base.projection, base.files.small)
        )
    model = copy.deepcopy(base.model)
    for place, value in added.items():
        transformer_of(model).get_parameter(f"{place}.weight").add_(value.to(model.device))
    return encoder_of(model, base.files)


def read_adapter(folder: Path) -> tuple[str, Adapter]:
    """Read an adapter and its base's fingerprint from a folder; raises ArtifactDamaged."""
    try:
        settings = json.loads((folder / ADAPTER / "config.json").read_text(encoding="utf-8"))
        weights = load_file(folder / ADAPTER / "model.safetensors")
        places = {str(own): tuple(map(str, names)) for own, names in settings["places"].items()}
        kind = _KINDS[settings["kind"]]
        return str(settings["base"]), Adapter(kind, places, weights, float(settings["scale"]))
    except (*MALFORMED, SafetensorError) as error:
        raise ArtifactDamaged(f"The adapter in {folder} cannot be read: {error}.") from error


def _settings(base: PlainEncoder, adapter: Adapter) -> dict[str, Any]:
    places = {own: list(names) for own, names in adapter.places.items()}
    return {
        "kind": adapter.kind,
        "base": base.fingerprint,
        "scale": adapter.scale,
        "places": places,
    }
