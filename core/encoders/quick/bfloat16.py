"""A copy of an encoder that computes in bfloat16 from its first layer to its last.

Products end with what follows them: the GELU, and the sum with the layer's input. Tables, the mean
over tokens and a projection stay in float32.
"""

import copy
from dataclasses import replace

import torch
from torch import Tensor, nn

from core.encoders.packed.bert import BertLayer, PackedBert
from core.encoders.packed.encoder import TransformerEncoder
from core.encoders.packed.layout import Layout
from core.encoders.packed.linear import stepped

_ROWS = 512
"""Rows of a product, for which the order of the weights is chosen."""


class _NarrowLinear(nn.Module):
    """A linear layer with its weights in the processor's own order."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        weight = layer.weight.detach().bfloat16()
        self.packed = torch.ops.mkldnn._reorder_linear_weight(weight, _ROWS)
        self.bias = layer.bias.detach().bfloat16()

    def forward(self, rows: Tensor, after: str = "none") -> Tensor:
        """Multiply (rows, inputs) to (rows, outputs); `after` is `none` or `gelu`."""
        multiply = torch.ops.mkldnn._linear_pointwise
        product: Tensor = multiply(rows, self.packed, self.bias, after, [], "none")
        return product

    def plus(self, rows: Tensor, others: Tensor) -> Tensor:
        """Multiply (rows, inputs), and add others (rows, outputs)."""
        multiply = torch.ops.mkldnn._linear_pointwise.binary
        total: Tensor = multiply(rows, others, self.packed, self.bias, "add")
        return total


class _WideNorm(nn.Module):
    """A norm in float32 between layers in bfloat16."""

    def __init__(self, norm: nn.Module) -> None:
        super().__init__()
        self.norm = norm

    def forward(self, rows: Tensor) -> Tensor:
        """Norm (tokens, d)."""
        normed: Tensor = self.norm(rows.float()).bfloat16()
        return normed


def _narrow_norm(norm: nn.Module) -> nn.Module:
    """Return a norm of rows in bfloat16; a bottleneck behind it goes on computing in float32."""
    return _WideNorm(norm) if norm._forward_hooks else copy.deepcopy(norm).bfloat16()


class _NarrowLayer(BertLayer):
    """A layer of a BERT on (tokens, d) in bfloat16."""

    def __init__(self, layer: BertLayer) -> None:
        nn.Module.__init__(self)
        self.heads, self.attention_dropout = layer.heads, layer.attention_dropout
        self.to_heads, self.from_heads = _NarrowLinear(layer.qkv), _NarrowLinear(layer.mix)
        self.widen, self.narrow = _NarrowLinear(layer.up), _NarrowLinear(layer.down)
        for name in ("attention_norm", "output_norm"):
            setattr(self, name, _narrow_norm(getattr(layer, name)))

    def forward(self, tokens: Tensor, layout: Layout) -> Tensor:
        """Transform (tokens, d) to (tokens, d)."""
        mixed = self._attend(self.to_heads(tokens), layout)
        tokens = self.attention_norm(self.from_heads.plus(mixed, tokens))
        wide = self.widen(tokens, "gelu")
        transformed: Tensor = self.output_norm(self.narrow.plus(wide, tokens))
        return transformed


class _NarrowBert(PackedBert):
    """A BERT whose layers compute in bfloat16; its tables are those of the original."""

    def __init__(self, bert: PackedBert) -> None:
        nn.Module.__init__(self)
        self.shape = bert.shape
        self.words, self.positions, self.types = bert.words, bert.positions, bert.types
        self.norm, self.dropout = bert.norm, bert.dropout
        layers = [layer for layer in bert.layers if isinstance(layer, BertLayer)]
        self.layers = nn.ModuleList(_NarrowLayer(layer) for layer in layers)
        self.eval()

    def run_layers(self, tokens: Tensor, layout: Layout, start: int, stop: int) -> Tensor:
        """Apply layers start to stop - 1 to (tokens, d), float32 at both ends."""
        rows = stepped(tokens.bfloat16())
        layout = replace(layout, spare=len(rows) - len(tokens))
        for layer in self.layers[start:stop]:
            rows = layer(rows, layout)
        return rows[: len(tokens)].float()


def in_bfloat16(network: TransformerEncoder) -> TransformerEncoder:
    """Return a copy that multiplies in bfloat16; the fingerprint is not its own yet.

    Cosines differ by some 0.0001 from those of the encoder.
    """
    with torch.no_grad():
        return replace(network, bert=_NarrowBert(network.bert))
