"""Batches larger than memory (GradCache, Gao et al. 2021): embed, differentiate, embed again.

All texts are embedded in chunks without gradients, and the loss gives each embedding a gradient.
The chunks are then embedded once more, with the same dropout, and pass the gradients on. Only one
chunk's activations are held at a time, and the gradients equal those of one large step.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor, distributed

from core.training.devices import Share

Embed = Callable[[Tensor], Tensor]
"""Embeds texts by their row numbers, (b,) int64 to (b, d)."""
Loss = Callable[[Tensor], Tensor]
"""The loss of the embeddings of all texts of a batch, (n, d) to a scalar."""


@dataclass(frozen=True, slots=True)
class Texts:
    """The number of distinct texts in a batch, and the function that embeds them."""

    embed: Embed
    count: int


def backward(texts: Texts, loss: Loss, chunk: int, share: Share, *, mixed: bool = False) -> float:
    """Add the gradients of a batch to the weights; return its loss.

    The loss may have weights after the embeddings. Each process finds their whole gradient and
    keeps its part, since the parts are summed afterwards. `chunk` is the number of texts whose
    activations are held at a time; `mixed` computes embeddings in bfloat16, for a GPU.
    """
    if share.count == 1 and texts.count <= chunk:
        with _precision(mixed=mixed):
            embedded = texts.embed(torch.arange(texts.count))
        whole = loss(embedded.float())
        whole.backward()
        return float(whole.detach())
    chunks = _own_rows(texts.count, share).split(chunk)
    states, parts = [], []
    for rows in chunks:
        states.append(_Random.now())
        with torch.no_grad(), _precision(mixed=mixed):
            parts.append(texts.embed(rows).float())
    leaf = _joined(torch.cat(parts), texts.count, share).requires_grad_()
    whole = loss(leaf)
    (whole / share.count).backward()
    wanted = _own_part(leaf.grad, texts.count, share) * share.count
    for state, rows, gradient in zip(states, chunks, wanted.split(chunk), strict=True):
        state.restore()
        with _precision(mixed=mixed):
            rows_again = texts.embed(rows)
        rows_again.float().backward(gradient)
    return float(whole.detach())


@dataclass(frozen=True, slots=True)
class _Random:
    """The random state that dropout draws from."""

    cpu: Tensor
    cuda: Tensor | None

    @staticmethod
    def now() -> "_Random":
        cuda = torch.cuda.get_rng_state() if torch.cuda.is_initialized() else None
        return _Random(torch.get_rng_state(), cuda)

    def restore(self) -> None:
        torch.set_rng_state(self.cpu)
        if self.cuda is not None:
            torch.cuda.set_rng_state(self.cuda)


def _precision(*, mixed: bool) -> AbstractContextManager[object]:
    return torch.autocast("cuda", torch.bfloat16) if mixed else nullcontext()


def _size(count: int, share: Share) -> int:
    return -(-count // share.count)


def _own_rows(count: int, share: Share) -> Tensor:
    """Return this share's rows. Shares are equally large; `_joined` cuts off the filling rows."""
    size = _size(count, share)
    return (torch.arange(size * share.count) % count).view(share.count, size)[share.index]


def _joined(own: Tensor, count: int, share: Share) -> Tensor:
    if share.count == 1:
        return own
    parts = [torch.empty_like(own) for _ in range(share.count)]
    distributed.all_gather(parts, own.contiguous())
    return torch.cat(parts)[:count]


def _own_part(gradient: Tensor | None, count: int, share: Share) -> Tensor:
    if gradient is None:
        message = "the loss does not depend on the texts"
        raise RuntimeError(message)
    size = _size(count, share)
    filled = gradient.new_zeros(size * share.count, gradient.shape[1])
    filled[:count] = gradient
    return filled[share.index * size : (share.index + 1) * size]
