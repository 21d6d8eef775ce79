"""Adapters: small trained layers inside an encoder whose own weights are frozen and shared.

A bottleneck (Pfeiffer et al. 2021) follows a feed-forward block. With the block's output h, its
input x and the norm after it, a layer gives norm(h + x + up(relu(down(norm(h + x))))): both norms
are the same one. A block without a norm after it gives h + up(relu(down(h + x))). LoRA (Hu et al.
2022) adds a product of two thin matrices to every matrix of a layer.
"""

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import torch
from torch import Tensor, nn

from core.encoders.adapter.lora import insert_lora
from core.encoders.base import AdapterOptions

Network = TypeVar("Network", bound=nn.Module)
Places = Mapping[str, tuple[str, ...]]
"""Name of each module that carries a part of an adapter, to its published names."""

_START_DEVIATION = 0.02


class Bottleneck(nn.Module):
    """What a bottleneck adds to a feed-forward block's output, without norm and residual."""

    def __init__(self, size: int, width: int) -> None:
        super().__init__()
        self.down = nn.Linear(size, width)
        self.up = nn.Linear(width, size)

    def forward(self, tokens: Tensor) -> Tensor:
        """Map (..., size) to (..., size)."""
        added: Tensor = self.up(torch.relu(self.down(tokens)))
        return added


@dataclass(frozen=True, slots=True)
class Adapter:
    """The weights of an adapter and the modules that they belong to.

    Attributes:
        places: For bottlenecks, norms after feed-forward blocks (or those blocks); for LoRA,
            matrices.
        weights: `PLACE.down.weight` and so on, or `PLACE.A` (rank, in) and `PLACE.B` (out, rank);
            on the CPU.
        scale: Factor of LoRA's product.
    """

    kind: Literal["bottleneck", "lora"]
    places: Places
    weights: Mapping[str, Tensor] = field(repr=False)
    scale: float = 1.0

    @property
    def n_bytes(self) -> int:
        """Size of the weights in bytes."""
        return sum(value.nbytes for value in self.weights.values())


def new_adapter(network: nn.Module, places: Places, options: AdapterOptions, seed: int) -> Adapter:
    """Make an adapter for a network, from a seed.

    Bottlenecks start as in the `adapters` library, LoRA as in `peft`: at first it adds nothing.
    """
    generator = torch.Generator().manual_seed(seed)
    weights: dict[str, Tensor] = {}
    for place in places:
        if options.kind == "lora":
            rows, columns = network.get_parameter(f"{place}.weight").shape
            start = torch.empty(options.rank, columns)
            nn.init.kaiming_uniform_(start, a=5**0.5, generator=generator)
            weights |= {f"{place}.A": start, f"{place}.B": torch.zeros(rows, options.rank)}
        else:
            size = _size_at(network.get_submodule(place))
            width = max(1, size // options.reduction_factor)
            for part, shape in (("down", (width, size)), ("up", (size, width))):
                start = torch.empty(shape)
                weights[f"{place}.{part}.weight"] = start.normal_(
                    0.0, _START_DEVIATION, generator=generator
                )
                weights[f"{place}.{part}.bias"] = torch.zeros(shape[0])
    return Adapter(options.kind, places, weights, 2.0 if options.kind == "lora" else 1.0)


def share_weights(network: Network, also: Mapping[int, Any] | None = None) -> Network:
    """Copy a network's modules around the same tensors, and share the objects of `also`, by id."""
    tensors = {id(tensor): tensor for tensor in (*network.parameters(), *network.buffers())}
    return copy.deepcopy(network, {**(also or {}), **tensors})


def insert(network: nn.Module, adapter: Adapter) -> dict[str, nn.Parameter]:
    """Put an adapter into a network, in place; return its parameters under the weights' names."""
    if adapter.kind == "lora":
        parameters = insert_lora(network, tuple(adapter.places), adapter.weights, adapter.scale)
    else:
        parameters = {}
        for place in adapter.places:
            bottleneck = _bottleneck_of(adapter, place)
            network.get_submodule(place).register_forward_hook(_behind(bottleneck))
            parameters |= {f"{place}.{n}": p for n, p in bottleneck.named_parameters()}
    device = next(network.parameters()).device
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.data = adapter.weights[name].to(device, copy=True)
    return parameters


def merged_weights(adapter: Adapter) -> dict[str, Tensor]:
    """Compute the matrix that LoRA adds at each place."""
    weights, scale = adapter.weights, adapter.scale
    return {p: scale * (weights[f"{p}.B"] @ weights[f"{p}.A"]) for p in adapter.places}


def _bottleneck_of(adapter: Adapter, place: str) -> Bottleneck:
    width, size = adapter.weights[f"{place}.down.weight"].shape
    return Bottleneck(size, width)


def _behind(adapter: Bottleneck) -> Callable[[nn.Module, tuple[Tensor, ...], Tensor], Tensor]:
    """Make the hook for a norm after a feed-forward block, or for a block without a norm."""

    def add(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
        if isinstance(module, nn.LayerNorm):
            normed: Tensor = module.forward(inputs[0] + adapter(output))
            return normed
        added: Tensor = output + adapter(inputs[0] + output)
        return added

    return add


def _size_at(module: nn.Module) -> int:
    if isinstance(module, nn.LayerNorm):
        return int(module.normalized_shape[0])
    return [part for part in module.modules() if isinstance(part, nn.Linear)][-1].out_features
