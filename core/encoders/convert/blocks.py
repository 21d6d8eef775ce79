"""The layers of ConveRT: transformer blocks, the reduction to one vector, and feed-forward 2."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.encoders.convert.quantisation import HalfLinear
from core.encoders.convert.sizes import Sizes


def fast_gelu(values: Tensor) -> Tensor:
    """The approximation that the paper uses: x sigmoid(1.702 x)."""
    return values * torch.sigmoid(1.702 * values)


def attention_weights(query: Tensor, key: Tensor, bias: Tensor | None, mask: Tensor) -> Tensor:
    """Softmax of scaled products in float32; (b, n, p) and (b, n, p) to (b, n, n).

    `bias` (n, n) is added to the scores; `mask`, (b, 1, n) or (b, n, n), is True where attention is
    allowed.
    """
    scores = query @ key.transpose(1, 2) / math.sqrt(query.shape[-1])
    scores = scores if bias is None else scores + bias
    return scores.float().masked_fill(~mask, -torch.inf).softmax(-1)


class RelativeAttention(nn.Module):
    """Single-headed attention of limited reach, with a learned bias for each relative position."""

    def __init__(self, sizes: Sizes, reach: int, *, quantised: bool) -> None:
        super().__init__()
        self.reach = reach
        self.queries_keys_values = HalfLinear(
            sizes.width, 3 * sizes.projection, quantised=quantised
        )
        self.mix = HalfLinear(sizes.projection, sizes.width, quantised=quantised)
        self.bias = nn.Parameter(torch.zeros(2 * reach + 1))

    def forward(self, tokens: Tensor, present: Tensor) -> Tensor:
        """Attend; (b, n, d) tokens with (b, n) bool to (b, n, d)."""
        query, key, value = self.queries_keys_values(tokens).chunk(3, dim=-1)
        weights = self.weights(query, key, present)
        mixed: Tensor = self.mix(weights @ value)
        return mixed

    def weights(self, query: Tensor, key: Tensor, present: Tensor) -> Tensor:
        """Return attention from token to token, (b, n, n); zero beyond the reach."""
        steps = torch.arange(present.shape[1], device=present.device)
        offsets = steps[None] - steps[:, None]  # j - i
        bias = self.bias[offsets.clamp(-self.reach, self.reach) + self.reach]
        # A token always attends to itself; otherwise a row of padding would divide by zero.
        near = (offsets.abs() <= self.reach) & (present[:, None] | (offsets == 0))
        return attention_weights(query, key, bias, near)


class Block(nn.Module):
    """A post-norm transformer block (Vaswani et al. 2017)."""

    def __init__(self, sizes: Sizes, reach: int, *, quantised: bool) -> None:
        super().__init__()
        self.attention = RelativeAttention(sizes, reach, quantised=quantised)
        self.attention_norm = nn.LayerNorm(sizes.width)
        self.up = HalfLinear(sizes.width, sizes.inner, quantised=quantised)
        self.down = HalfLinear(sizes.inner, sizes.width, quantised=quantised)
        self.output_norm = nn.LayerNorm(sizes.width)
        self.dropout = nn.Dropout(sizes.dropout)

    def forward(self, tokens: Tensor, present: Tensor) -> Tensor:
        """Transform (b, n, d) to (b, n, d)."""
        tokens = self.attention_norm(tokens + self.dropout(self.attention(tokens, present)))
        wide = self.down(fast_gelu(self.up(tokens)))
        transformed: Tensor = self.output_norm(tokens + self.dropout(wide))
        return transformed


class Reduction(nn.Module):
    """Self-attention and square-root-of-N reduction in one (the paper's footnote 8)."""

    def __init__(self, sizes: Sizes, *, quantised: bool) -> None:
        super().__init__()
        self.heads, self.projection = sizes.heads, sizes.projection
        width = 2 * sizes.heads * sizes.projection
        self.queries_keys = HalfLinear(sizes.width, width, quantised=quantised)

    def forward(self, tokens: Tensor, present: Tensor) -> Tensor:
        """Reduce (b, n, d) with (b, n) bool to (b, heads d).

        For each head, the attention rows of present tokens are summed and divided by the root of
        their number. The sums weigh the tokens.
        """
        parts = self.queries_keys(tokens).split(self.projection, dim=-1)
        counted = present.float() / present.sum(1, keepdim=True).sqrt()
        reduced = []
        for head in range(self.heads):
            weights = attention_weights(
                parts[2 * head], parts[2 * head + 1], None, present[:, None]
            )
            reduced.append(((counted[:, None] @ weights) @ tokens)[:, 0])
        return torch.cat(reduced, dim=-1)


class FeedForward2(nn.Module):
    """Layers of one side alone: hidden layers with skips and norms, then `h` of length one."""

    def __init__(self, sizes: Sizes, *, quantised: bool) -> None:
        super().__init__()
        width = sizes.reduced
        layers = [HalfLinear(width, width, quantised=quantised) for _ in range(sizes.layers)]
        self.layers = nn.ModuleList(layers)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in layers)
        self.final = HalfLinear(width, sizes.output, quantised=quantised)
        for layer in [*layers, self.final]:
            nn.init.orthogonal_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, reduced: Tensor) -> Tensor:
        """Map `r` (b, heads d) to `h` (b, output)."""
        for layer, norm in zip(self.layers, self.norms, strict=True):
            reduced = norm(reduced + fast_gelu(layer(reduced)))
        return F.normalize(self.final(reduced).float(), dim=-1)
