"""The Tanh projection after pooling (ConvFiT, Fig. 1)."""

import json

import torch
from torch import Tensor, nn

from core.encoders.base import TuningOptions

DENSE = "2_Dense"


def project(pooled: Tensor, projection: nn.Linear | None) -> Tensor:
    """Apply the Tanh projection, if there is one; (n, d) to (n, dim)."""
    return pooled if projection is None else torch.tanh(projection(pooled))


def new_projection(size: int, options: TuningOptions) -> nn.Linear | None:
    """Make the projection of the options from their seed; None for `none`."""
    if options.projection == "none":
        return None
    layer = nn.Linear(size, options.projection_size)
    generator = torch.Generator().manual_seed(options.seed)
    nn.init.xavier_uniform_(layer.weight, generator=generator)
    nn.init.zeros_(layer.bias)
    return layer


def projection_config(projection: nn.Linear) -> bytes:
    """Write the config of a projection as a `Dense` module."""
    config = {
        "in_features": projection.in_features,
        "out_features": projection.out_features,
        "bias": True,
        "activation_function": "torch.nn.modules.activation.Tanh",
    }
    return (json.dumps(config, indent=2) + "\n").encode()
