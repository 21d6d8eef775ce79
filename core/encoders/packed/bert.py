"""A BERT that computes on tokens without padding, with the weights of the published layout.

Linear layers, norms and feed-forward blocks see one (tokens, d) matrix. Only attention needs
whole texts: equal lengths are a plain view of that matrix; mixed lengths are padded there only.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import torch
import torch.nn.functional as F
from torch import Tensor, nn


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


@dataclass(frozen=True, slots=True)
class Layout:
    """Positions of the tokens of a batch.

    Attributes:
        longest: Tokens of the longest text.
        lengths: Tokens of each text, (texts,) int64.
        places: Cell of each packed token in the padded (texts * longest) grid, (tokens,) int64;
            None when all texts are equally long.
        mask: True where a cell holds a token, (texts, 1, 1, longest); None as above.
    """

    n_texts: int
    longest: int
    lengths: Tensor
    places: Tensor | None
    mask: Tensor | None


def lay_out(lengths: Tensor) -> Layout:
    """Describe a batch of texts by their lengths in tokens, (texts,) int64."""
    n_texts, longest = len(lengths), int(lengths.max())
    if bool((lengths == longest).all()):
        return Layout(n_texts, longest, lengths, None, None)
    filled = torch.arange(longest, device=lengths.device)[None] < lengths[:, None]
    places = filled.flatten().nonzero()[:, 0]
    return Layout(n_texts, longest, lengths, places, filled[:, None, None, :])


class _EmptyLinear(nn.Linear):
    """A linear layer whose weights are loaded; drawing them first took half of the loading."""

    def reset_parameters(self) -> None:
        """Leave the weights as the memory was."""


class _EmptyEmbedding(nn.Embedding):
    """A table whose rows are loaded."""

    def reset_parameters(self) -> None:
        """Leave the rows as the memory was."""


class BertLayer(nn.Module):
    """One post-norm transformer layer (Devlin et al. 2019) on packed tokens."""

    def __init__(self, shape: BertShape) -> None:
        super().__init__()
        size, wide, eps = shape.hidden_size, shape.intermediate_size, shape.layer_norm_eps
        self.heads = shape.num_attention_heads
        self.attention_dropout = shape.attention_probs_dropout_prob
        self.qkv = _EmptyLinear(size, 3 * size)
        self.mix = _EmptyLinear(size, size)
        self.attention_norm = nn.LayerNorm(size, eps)
        self.up = _EmptyLinear(size, wide)
        self.down = _EmptyLinear(wide, size)
        self.output_norm = nn.LayerNorm(size, eps)
        self.dropout = nn.Dropout(shape.hidden_dropout_prob)

    def forward(self, tokens: Tensor, layout: Layout) -> Tensor:
        """Transform (tokens, d) to (tokens, d)."""
        mixed = self.mix(self._attend(self.qkv(tokens), layout))
        tokens = self.attention_norm(tokens + self.dropout(mixed))
        wide = F.gelu(self.up(tokens))
        transformed: Tensor = self.output_norm(tokens + self.dropout(self.down(wide)))
        return transformed

    def _attend(self, qkv: Tensor, layout: Layout) -> Tensor:
        size = qkv.shape[1] // 3
        if layout.places is not None:
            cells = qkv.new_zeros(layout.n_texts * layout.longest, 3 * size)
            qkv = cells.index_copy(0, layout.places, qkv)
        grid = qkv.view(layout.n_texts, layout.longest, 3, self.heads, size // self.heads)
        query, key, value = grid.permute(2, 0, 3, 1, 4)  # each (texts, heads, longest, d / heads)
        dropout = self.attention_dropout if self.training else 0.0
        context = F.scaled_dot_product_attention(query, key, value, layout.mask, dropout)
        flat = context.transpose(1, 2).reshape(-1, size)
        return flat if layout.places is None else flat.index_select(0, layout.places)


class PackedBert(nn.Module):
    """Embeddings and layers of a BERT, each callable on its own."""

    def __init__(self, shape: BertShape) -> None:
        super().__init__()
        self.shape = shape
        self.words = _EmptyEmbedding(shape.vocab_size, shape.hidden_size)
        self.positions = _EmptyEmbedding(shape.max_position_embeddings, shape.hidden_size)
        self.types = _EmptyEmbedding(shape.type_vocab_size, shape.hidden_size)
        self.norm = nn.LayerNorm(shape.hidden_size, shape.layer_norm_eps)
        self.dropout = nn.Dropout(shape.hidden_dropout_prob)
        self.layers = nn.ModuleList(BertLayer(shape) for _ in range(shape.num_hidden_layers))

    def embed(self, ids: Tensor, layout: Layout) -> Tensor:
        """Look up packed token ids (tokens,) int64; (tokens, d)."""
        steps = torch.arange(layout.longest, device=ids.device).expand(layout.n_texts, -1)
        steps = steps.reshape(-1)
        if layout.places is not None:
            steps = steps.index_select(0, layout.places)
        tokens = self.words(ids) + self.types.weight[0] + self.positions(steps)
        embedded: Tensor = self.dropout(self.norm(tokens))
        return embedded

    def run_layers(self, tokens: Tensor, layout: Layout, start: int, stop: int) -> Tensor:
        """Apply layers start to stop - 1 to (tokens, d)."""
        for layer in self.layers[start:stop]:
            tokens = layer(tokens, layout)
        return tokens


def pool_mean(tokens: Tensor, layout: Layout) -> Tensor:
    """Average the tokens of each text; (tokens, d) to (texts, d)."""
    if layout.places is None:
        return tokens.view(layout.n_texts, layout.longest, -1).mean(1)
    owner = torch.repeat_interleave(layout.lengths)
    sums = tokens.new_zeros(layout.n_texts, tokens.shape[1]).index_add(0, owner, tokens)
    return sums / layout.lengths[:, None].to(sums.dtype)


def equal_length_batches(lengths: Sequence[int], token_budget: int) -> list[list[int]]:
    """Group row numbers by text length, longest first, at most `token_budget` tokens in a batch."""
    by_length: dict[int, list[int]] = {}
    for row, length in enumerate(lengths):
        by_length.setdefault(length, []).append(row)
    batches: list[list[int]] = []
    for length in sorted(by_length, reverse=True):
        rows, size = by_length[length], max(1, token_budget // length)
        n_batches = math.ceil(len(rows) / size)
        even = math.ceil(len(rows) / n_batches)
        batches += [rows[start : start + even] for start in range(0, len(rows), even)]
    return batches
