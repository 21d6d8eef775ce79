"""A copy of an encoder that multiplies in 8 bits.

Weights are rounded by output, tokens by their own largest number, to whole numbers of -127 to 127;
products are summed in 32-bit whole numbers. Norms, attention and sums stay in float32.
"""

import copy
from dataclasses import replace

import torch
from torch import Tensor, nn

from core.encoders.packed.encoder import TransformerEncoder
from core.encoders.packed.linear import stepped

_MOST = 127
_MIDDLE = 128
"""Stands for zero among tokens, which are unsigned: processors without AMX multiply unsigned by
signed numbers, and oneDNN multiplies signed ones by its reference there, 3,000 times as slow."""

_BATCH_TOKENS = 512
"""Products are so quick that what lies between them decides; it stays in the caches with half."""


class EightBitLinear(nn.Module):
    """A linear layer in 8 bits."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        weight = layer.weight.detach()
        self.step = weight.abs().amax(1) / _MOST
        whole = (weight / self.step[:, None]).round().to(torch.int8)
        self.packed = torch.ops.onednn.qlinear_prepack(whole, None)  # in the processor's own order
        self.zero = torch.zeros(len(weight), dtype=torch.int64)
        self.bias = layer.bias.detach()

    def forward(self, rows: Tensor) -> Tensor:
        """Multiply (rows, inputs) to (rows, outputs), both float32."""
        # Two searches cost half as much as one among absolute numbers.
        largest = torch.maximum(rows.amax(1, keepdim=True), rows.amin(1, keepdim=True).neg_())
        step = largest.div_(_MOST).clamp_(min=torch.finfo(rows.dtype).tiny)
        product = self._product((rows / step).round_().add_(_MIDDLE).to(torch.uint8))
        return torch.addcmul(self.bias, product, step, out=product)

    def _product(self, small: Tensor) -> Tensor:
        """Multiply whole numbers around 128 (rows, inputs), each output in its step; float32."""
        weights = (self.packed, self.step, self.zero, None)
        product: Tensor = torch.ops.onednn.qlinear_pointwise(
            stepped(small), 1.0, _MIDDLE, *weights, 1.0, 0, torch.float32, "none", [], ""
        )
        return product[: len(small)]


def in_eight_bits(network: TransformerEncoder) -> TransformerEncoder:
    """Return a copy that multiplies in 8 bits; the fingerprint is not its own yet.

    Cosines differ by some 0.01 from those of the encoder, too much for the figures of a version.
    """
    with torch.no_grad():
        bert = copy.deepcopy(network.bert, _shared(network.bert))
        for layer in bert.layers:
            for name in ("qkv", "mix", "up", "down"):
                setattr(layer, name, EightBitLinear(getattr(layer, name)))
    return replace(network, bert=bert, batch_tokens=_BATCH_TOKENS)


def _shared(bert: nn.Module) -> dict[int, nn.Module]:
    """Return the modules that a copy need not copy, by id: tables stay, products are replaced."""
    return {
        id(module): module
        for module in bert.modules()
        if isinstance(module, (nn.Embedding, nn.Linear))
    }
