"""A copy of an encoder that multiplies in 8 bits, for many texts of which nothing is judged.

Weights are rounded by output, tokens by their own largest number, to whole numbers of -127 to 127;
products are summed in 32-bit whole numbers. Norms, attention and sums stay in float32.
"""

import copy
import hashlib
from dataclasses import replace

import torch
from torch import Tensor, nn

from core.encoders.adapter.encoder import AdaptedEncoder
from core.encoders.base import Encoder
from core.encoders.packed.bert import BertLayer
from core.encoders.packed.encoder import TransformerEncoder
from core.encoders.packed.linear import stepped

_MOST = 127
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
        product = self._product((rows / step).round_().to(torch.int8))
        return torch.addcmul(self.bias, product, step, out=product)

    def _product(self, small: Tensor) -> Tensor:
        """Multiply whole numbers (rows, inputs), each output in its step; float32."""
        weights = (self.packed, self.step, self.zero, None)
        product: Tensor = torch.ops.onednn.qlinear_pointwise(
            stepped(small), 1.0, 0, *weights, 1.0, 0, torch.float32, "none", [], ""
        )
        return product[: len(small)]


def has_eight_bits() -> bool:
    """Whether this processor has instructions that multiply 8-bit numbers into 32-bit sums."""
    return bool(torch.cpu._is_vnni_supported() and torch.backends.mkldnn.is_available())


def in_eight_bits(encoder: Encoder) -> Encoder:
    """Return a copy in 8 bits with a fingerprint of its own, or the encoder where that is no gain.

    Cosines differ by some 0.01 from those of the encoder, too much for the figures of a version.
    """
    network = encoder.merged() if isinstance(encoder, AdaptedEncoder) else encoder
    if not isinstance(network, TransformerEncoder) or not has_eight_bits():
        return encoder
    if network.bert.words.weight.device.type != "cpu":
        return encoder
    with torch.no_grad():
        bert = copy.deepcopy(network.bert)
        for layer in bert.layers:
            if isinstance(layer, BertLayer):
                for name in ("qkv", "mix", "up", "down"):
                    setattr(layer, name, EightBitLinear(getattr(layer, name)))
    mark = hashlib.sha256(f"{encoder.fingerprint} in 8 bits".encode()).hexdigest()
    return replace(network, bert=bert, fingerprint=mark, batch_tokens=_BATCH_TOKENS)
