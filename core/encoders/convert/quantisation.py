"""Eight bits for embeddings and sixteen for the rest, during training too (ConveRT 2.1).

Weights are held in float32 ("shadow copies"). Training computes with the values that would be
stored; gradients pass as if nothing were rounded.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

LEVELS = 255


def grown_range(low: float, high: float) -> tuple[float, float]:
    """Widen a range on both sides by 10 % of it or 0.01, whichever is larger."""
    room = max(0.1 * (high - low), 0.01)
    return low - room, high + room


def to_codes(values: Tensor, span: Tensor) -> Tensor:
    """Round values to 256 levels within `span` (low, high); uint8."""
    step = (span[1] - span[0]) / LEVELS
    return ((values - span[0]) / step).round().clamp(0, LEVELS).to(torch.uint8)


def from_codes(codes: Tensor, span: Tensor) -> Tensor:
    """Return the values that codes encode; float32."""
    return span[0] + codes.float() * ((span[1] - span[0]) / LEVELS)


def straight_through(values: Tensor, rounded: Tensor) -> Tensor:
    """Compute with rounded values; gradients pass to the exact ones."""
    return values + (rounded - values).detach()


def half(values: Tensor) -> Tensor:
    """Round to 16 bits; the result is float32."""
    return values.half().float()


class QuantisedEmbedding(nn.Module):
    """A table of embeddings stored in 8 bits, with its range of values."""

    span: Tensor

    def __init__(self, rows: int, width: int, *, quantised: bool) -> None:
        super().__init__()
        self.quantised = quantised
        self.weight = nn.Parameter(torch.empty(rows, width))
        self.register_buffer("span", torch.tensor([-1.0, 1.0]))

    def forward(self, ids: Tensor) -> Tensor:
        """Look up rows; ids of any shape to (..., width)."""
        rows = F.embedding(ids, self.weight)
        if not (self.training and self.quantised):
            return rows
        return straight_through(rows, from_codes(to_codes(rows, self.span), self.span))

    @torch.no_grad()
    def follow_values(self) -> None:
        """Set the range from the current values, with room for growth."""
        low, high = grown_range(float(self.weight.min()), float(self.weight.max()))
        self.span.copy_(torch.tensor([low, high]))

    @torch.no_grad()
    def settle(self) -> None:
        """Round the table in place; the range changes only where values lie outside it."""
        if not self.quantised:
            return
        if self.weight.min() < self.span[0] or self.weight.max() > self.span[1]:
            self.follow_values()
        self.weight.copy_(from_codes(to_codes(self.weight, self.span), self.span))


class HalfLinear(nn.Linear):
    """A linear layer whose weights are stored in 16 bits."""

    def __init__(self, inputs: int, outputs: int, *, quantised: bool) -> None:
        super().__init__(inputs, outputs)
        self.quantised = quantised

    def forward(self, input: Tensor) -> Tensor:
        """Multiply by rounded weights; outside training they are rounded already."""
        if not (self.training and self.quantised):
            return super().forward(input)
        weight = straight_through(self.weight, half(self.weight))
        bias = straight_through(self.bias, half(self.bias))
        return F.linear(input, weight, bias)


@torch.no_grad()
def settle(module: nn.Module, *, quantised: bool) -> None:
    """Round all weights to their stored precision."""
    if not quantised:
        return
    tables = [part for part in module.modules() if isinstance(part, QuantisedEmbedding)]
    for table in tables:
        table.settle()
    kept = {id(table.weight) for table in tables}
    for weight in module.parameters():
        if id(weight) not in kept:
            weight.copy_(half(weight))


def stored_weights(module: nn.Module, *, quantised: bool) -> dict[str, Tensor]:
    """Return the contents of a file: uint8 tables with float32 ranges, float16 for the rest."""
    weights = {name: value.detach().cpu() for name, value in module.state_dict().items()}
    spans = [name for name in weights if name.endswith("span")]
    stored: dict[str, Tensor] = {}
    for name, value in weights.items():
        span = name.removesuffix("weight") + "span"
        if not quantised or name in spans:
            stored[name] = value
        elif span in spans:
            stored[name] = to_codes(value, weights[span])
        else:
            stored[name] = value.half()
    return {name: stored[name].contiguous() for name in sorted(stored)}


def read_weights(module: nn.Module, stored: dict[str, Tensor]) -> None:
    """Set a module's weights from a file's contents; raises KeyError if one is missing."""
    weights: dict[str, Tensor] = {}
    for name in module.state_dict():
        value = stored[name]
        if value.dtype == torch.uint8:
            value = from_codes(value, stored[name.removesuffix("weight") + "span"])
        weights[name] = value.float()
    module.load_state_dict(weights)
