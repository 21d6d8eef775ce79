"""Attention of a tuning on a processor: the groups of a batch in one pass each way."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from core.encoders.packed.dropout import draw_kept, scale_of
from core.encoders.packed.layout import Group, Layout


def attend_dropping(qkv: Tensor, layout: Layout, heads: int, dropped: float) -> Tensor:
    """Attend within texts, with a share of the attention's weights dropped; gradients flow back.

    Takes queries, keys and values side by side, (tokens, 3 d), and returns (tokens, d) in the same
    number format. Between them all is float32. torch's own attention draws its mask from torch's
    random state, for which two threads would race.
    """
    sizes = [heads * group.n_texts * group.longest**2 for group in layout.groups]
    kept = draw_kept(sum(sizes), dropped, layout.random).split(sizes)
    attended: Tensor = _Attention.apply(  # type: ignore[no-untyped-call]
        qkv, layout, kept, _Shape(heads, qkv.shape[1] // 3), scale_of(dropped)
    )
    return attended


@dataclass(frozen=True, slots=True)
class _Shape:
    """Number of heads, and the width of all of them together."""

    heads: int
    width: int

    def heads_first(self, rows: Tensor, group: Group, parts: int) -> Tensor:
        """Pad tokens to texts; (tokens, parts * d) to (parts, texts * heads, longest, d_h)."""
        if group.cells is not None:
            padded = rows.new_zeros(group.n_texts * group.longest, rows.shape[1])
            rows = padded.index_copy_(0, group.cells, rows)
        grid = rows.view(group.n_texts, group.longest, parts, self.heads, -1).permute(2, 0, 3, 1, 4)
        shaped = torch.empty(grid.shape, dtype=torch.float32).copy_(grid)
        return shaped.view(parts, group.n_texts * self.heads, group.longest, -1)

    def tokens_first(self, parts: list[Tensor], group: Group, onto: Tensor) -> None:
        """Write what `heads_first` returned back onto the tokens, (tokens, parts * d)."""
        n_parts, n_texts = len(parts), group.n_texts
        grid = onto.new_empty(n_texts, group.longest, n_parts, self.heads, self.width // self.heads)
        for place, part in enumerate(parts):
            shaped = part.view(n_texts, self.heads, group.longest, -1)
            grid[:, :, place] = shaped.transpose(1, 2)
        flat = grid.view(n_texts * group.longest, -1)
        if group.cells is None:
            onto.copy_(flat)
        else:
            torch.index_select(flat, 0, group.cells, out=onto)


class _Attention(torch.autograd.Function):
    """softmax(Q K^T / sqrt(d)) V with dropout of the softmax (Vaswani et al. 2017, Eq. 1)."""

    @staticmethod
    def forward(
        context: Any,
        qkv: Tensor,
        layout: Layout,
        kept: tuple[Tensor, ...],
        shape: _Shape,
        scale: float,
    ) -> Tensor:
        result = qkv.new_empty(len(qkv), shape.width)
        context.layout, context.shape, context.scale, context.parts = layout, shape, scale, []
        with torch.autocast("cpu", enabled=False):
            for group, own in zip(layout.groups, kept, strict=True):
                query, key, value = shape.heads_first(qkv[group.first : group.last], group, 3)
                query *= query.shape[-1] ** -0.5
                scores = query @ key.mT
                if group.mask is not None:
                    by_text = scores.view(group.n_texts, shape.heads, *scores.shape[1:])
                    by_text.masked_fill_(~group.mask, -torch.inf)
                shares = scores.softmax(-1)
                mask = own.view(shares.shape)
                mixed = (shares * mask) @ value * scale
                shape.tokens_first([mixed], group, result[group.first : group.last])
                context.parts.append((query, key, value, shares, mask))
        result[len(qkv) - layout.spare :] = 0
        return result

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None, None, None, None]:
        shape = context.shape
        result = gradient.new_empty(len(gradient), 3 * shape.width)
        for group, saved in zip(context.layout.groups, context.parts, strict=True):
            query, key, value, shares, mask = saved
            (back,) = shape.heads_first(gradient[group.first : group.last], group, 1)
            back *= context.scale
            to_value = (shares * mask).mT @ back
            to_shares = (back @ value.mT).mul_(mask)
            to_scores = torch._softmax_backward_data(to_shares, shares, -1, torch.float32)
            to_query = (to_scores @ key).mul_(query.shape[-1] ** -0.5)
            to_key = to_scores.mT @ query  # queries are scaled already
            onto = result[group.first : group.last]
            shape.tokens_first([to_query, to_key, to_value], group, onto)
        result[len(gradient) - context.layout.spare :] = 0
        return result, None, None, None, None
