"""One step's way through the encoder and back: as a whole, or in parts by two threads.

Small operations share badly between two threads. So on two cores each thread takes a part of the
batch through the whole encoder; the loss sees all embeddings together.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from core.encoders.base import PartedNetwork, PartedTuning, Tuning
from core.encoders.packed.dropout import seeded_generator
from core.encoders.packed.side_by_side import lone_threads
from core.training.devices import Share, repeatable

_THREADS = 2
"""Of more threads, each would get too few texts."""

LossOf = Callable[[Tensor], Tensor]
"""The loss of a batch's embeddings (b, dim), with a gradient; a scalar."""


class BatchPass(Protocol):
    """Embeds a batch, and brings the gradients of its loss to the weights."""

    def __call__(self, rows: Tensor, loss_of: LossOf) -> tuple[Tensor, Tensor]:
        """Take rows (b,) int64 through; the loss, and the embeddings (b, dim), without gradients.

        Gradients of the weights are set, or added to those that are there.
        """
        ...


@contextmanager
def open_pass(tuning: Tuning, share: Share) -> Iterator[BatchPass]:
    """Choose how a process takes its batches through the encoder."""
    network = _network_of(tuning) if share.count == 1 else None
    if network is None:
        yield _WholePass(tuning, share)
        return
    with lone_threads(_THREADS) as pool:
        yield _PartedPass(tuning, network, pool)


def _network_of(tuning: Tuning) -> PartedNetwork | None:
    """Open the network for parts of batches where two threads are there to take them."""
    has_two = tuning.device.type == "cpu" and torch.get_num_threads() == _THREADS
    return tuning.in_parts() if has_two and isinstance(tuning, PartedTuning) else None


@dataclass(frozen=True, slots=True)
class _WholePass:
    tuning: Tuning
    share: Share

    def __call__(self, rows: Tensor, loss_of: LossOf) -> tuple[Tensor, Tensor]:
        with repeatable(self.tuning.device):
            embedded = self.share.embed(self.tuning, rows)
            loss = loss_of(embedded)
            loss.backward()
        self.share.sum_gradients(parameter for _, parameter in self.tuning.trainable())
        return loss.detach(), embedded.detach()


@dataclass(frozen=True, slots=True)
class _PartedPass:
    """Parts, masks and sums have a fixed order, so that equal runs end with equal bits."""

    tuning: Tuning
    network: PartedNetwork
    pool: ThreadPoolExecutor

    def __call__(self, rows: Tensor, loss_of: LossOf) -> tuple[Tensor, Tensor]:
        self.network.renew()
        places = self.network.deal(rows, _THREADS)
        masks = [seeded_generator() for _ in places]
        parts = list(self.pool.map(self.network.embed, [rows[place] for place in places], masks))
        back = torch.cat(places).argsort()
        embedded = torch.cat([part.detach() for part in parts])[back].requires_grad_()
        loss = loss_of(embedded)
        loss.backward()
        gradient = torch.zeros_like(embedded) if embedded.grad is None else embedded.grad
        self._to_weights(parts, [gradient[place] for place in places])
        return loss.detach(), embedded.detach()

    def _to_weights(self, parts: Sequence[Tensor], gradients: Sequence[Tensor]) -> None:
        """Set the gradients of the weights to the sums over the parts, in their order."""
        weights = [weight for _, weight in self.tuning.trainable()]
        sources = [self.network.source_of(weight) for weight in weights]
        found = self.pool.map(
            lambda part, gradient: torch.autograd.grad(part, sources, gradient, allow_unused=True),
            parts,
            gradients,
        )
        for weight, *shares in zip(weights, *found, strict=True):
            there = [share for share in shares if share is not None]
            if there:
                weight.grad = _sum(there)


def _sum(shares: Sequence[Tensor]) -> Tensor:
    """Add in float32, in place where the first is in it."""
    total = shares[0].float()
    for share in shares[1:]:
        total.add_(share)
    return total
