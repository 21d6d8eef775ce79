"""A BERT that computes on tokens without padding, with the weights of the published layout.

Linear layers, norms and feed-forward blocks see one (tokens, d) matrix. Only attention needs
whole texts, in groups of similar length (`layout.py`).
"""

import math
from dataclasses import dataclass, fields

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.encoders.packed.attention import attend_dropping
from core.encoders.packed.dropout import QuickDropout
from core.encoders.packed.layout import Group, Layout
from core.encoders.packed.linear import LoadedLinear


@dataclass(frozen=True, slots=True)
class BertShape:
    """The sizes of a BERT; the names are those of its `config.json`."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    type_vocab_size: int
    layer_norm_eps: float
    hidden_dropout_prob: float
    attention_probs_dropout_prob: float

    def __post_init__(self) -> None:
        """Refuse by ValueError what no BERT has."""
        for field in fields(self):
            value = getattr(self, field.name)
            kinds, least = ((int,), 1) if field.type is int else ((int, float), 0)
            if type(value) not in kinds or not least <= value < math.inf:
                message = f"{field.name} is {value!r}"
                raise ValueError(message)
        if self.hidden_size % self.num_attention_heads:
            message = f"{self.num_attention_heads} heads do not divide {self.hidden_size} numbers"
            raise ValueError(message)


class _EmptyEmbedding(nn.Embedding):
    """A table whose rows are loaded; drawing them first would take half of the loading."""

    def reset_parameters(self) -> None:
        """Leave the rows as the memory was."""


class BertLayer(nn.Module):
    """One post-norm transformer layer (Devlin et al. 2019) on packed tokens."""

    def __init__(self, shape: BertShape) -> None:
        super().__init__()
        size, wide, eps = shape.hidden_size, shape.intermediate_size, shape.layer_norm_eps
        self.heads = shape.num_attention_heads
        self.attention_dropout = shape.attention_probs_dropout_prob
        self.qkv = LoadedLinear(size, 3 * size)
        self.mix = LoadedLinear(size, size)
        self.attention_norm = nn.LayerNorm(size, eps)
        self.up = LoadedLinear(size, wide)
        self.down = LoadedLinear(wide, size)
        self.output_norm = nn.LayerNorm(size, eps)
        self.dropout = QuickDropout(shape.hidden_dropout_prob)

    def forward(self, tokens: Tensor, layout: Layout) -> Tensor:
        """Transform (tokens, d) to (tokens, d)."""
        mixed = self.mix(self._attend(self.qkv(tokens), layout))
        tokens = self.attention_norm(tokens + self.dropout(mixed, layout.random))
        wide = F.gelu(self.up(tokens))
        transformed: Tensor = self.output_norm(
            tokens + self.dropout(self.down(wide), layout.random)
        )
        return transformed

    def _attend(self, qkv: Tensor, layout: Layout) -> Tensor:
        if self.training and self.attention_dropout and qkv.device.type == "cpu":
            return attend_dropping(qkv, layout, self.heads, self.attention_dropout)
        # Each slice of its own would bring back a gradient as large as all tokens.
        pieces = qkv.split([group.last - group.first for group in layout.groups] + [layout.spare])
        parts = [
            self._attend_together(piece, group)
            for piece, group in zip(pieces, layout.groups, strict=False)
        ]
        if layout.spare:
            parts.append(parts[0].new_zeros(layout.spare, parts[0].shape[1]))
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def _attend_together(self, qkv: Tensor, group: Group) -> Tensor:
        size = qkv.shape[1] // 3
        if group.cells is not None:
            padded = qkv.new_zeros(group.n_texts * group.longest, 3 * size)
            qkv = padded.index_copy(0, group.cells, qkv)
        grid = qkv.view(group.n_texts, group.longest, 3, self.heads, size // self.heads)
        query, key, value = grid.permute(2, 0, 3, 1, 4)  # each (texts, heads, longest, d / heads)
        dropout = self.attention_dropout if self.training else 0.0
        context = F.scaled_dot_product_attention(query, key, value, group.mask, dropout)
        flat = context.transpose(1, 2).reshape(-1, size)
        return flat if group.cells is None else flat.index_select(0, group.cells)


class PackedBert(nn.Module):
    """Embeddings and layers of a BERT, each callable on its own."""

    def __init__(self, shape: BertShape) -> None:
        super().__init__()
        self.shape = shape
        self.words = _EmptyEmbedding(shape.vocab_size, shape.hidden_size)
        self.positions = _EmptyEmbedding(shape.max_position_embeddings, shape.hidden_size)
        self.types = _EmptyEmbedding(shape.type_vocab_size, shape.hidden_size)
        self.norm = nn.LayerNorm(shape.hidden_size, shape.layer_norm_eps)
        self.dropout = QuickDropout(shape.hidden_dropout_prob)
        self.layers = nn.ModuleList(BertLayer(shape) for _ in range(shape.num_hidden_layers))

    def embed(self, ids: Tensor, layout: Layout) -> Tensor:
        """Look up packed token ids (tokens,) int64; (tokens, d)."""
        tokens = (
            self.words(ids) + self.types.weight[0] + self.positions(layout.steps().to(ids.device))
        )
        embedded: Tensor = self.dropout(self.norm(tokens), layout.random)
        return embedded

    def run_layers(self, tokens: Tensor, layout: Layout, start: int, stop: int) -> Tensor:
        """Apply layers start to stop - 1 to (tokens, d)."""
        for layer in self.layers[start:stop]:
            tokens = layer(tokens, layout)
        return tokens
