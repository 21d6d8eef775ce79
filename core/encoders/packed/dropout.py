"""Dropout whose masks cost little on a processor."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

_LEVELS = 2**16


class QuickDropout(nn.Dropout):
    """Dropout by 16-bit random numbers of SFC64, drawn from a seed of torch's random state.

    torch draws a mask from one Mersenne Twister number for each element, which took an eighth of a
    tuning step. Here a mask costs a tenth of that, and the same state of torch still gives the same
    masks, so that a resumed run repeats. The share that is dropped is `p` to within 1/131,072.
    """

    def forward(self, rows: Tensor, random: np.random.Generator | None = None) -> Tensor:
        """Drop elements while training, and scale the others up; any shape.

        `random` draws the mask; None takes a new generator, seeded by torch's random state.
        """
        if not self.training or self.p == 0.0:
            return rows
        if rows.device.type != "cpu":
            return super().forward(rows)
        kept = draw_kept(rows.numel(), self.p, random).view(rows.shape)
        scaled: Tensor = _Masked.apply(rows, kept, scale_of(self.p))  # type: ignore[no-untyped-call]
        return scaled


def seeded_generator() -> np.random.Generator:
    """Return a generator of masks, seeded by torch's random state."""
    return np.random.Generator(np.random.SFC64(int(torch.randint(2**62, ()))))


def draw_kept(count: int, dropped: float, random: np.random.Generator | None = None) -> Tensor:
    """Draw which of `count` elements stay where a share of them is dropped; (count,) bool."""
    drawn = (random or seeded_generator()).integers(0, _LEVELS, count, np.uint16)
    return torch.from_numpy(drawn >= _least(dropped))


def scale_of(dropped: float) -> float:
    """Return by what the elements that stay are multiplied, so that the mean stays the same."""
    return _LEVELS / (_LEVELS - _least(dropped))


def _least(dropped: float) -> int:
    return round(dropped * _LEVELS)


class _Masked(torch.autograd.Function):
    """Scales the elements that are kept; the others become zero, and so do their gradients."""

    @staticmethod
    def forward(context: Any, rows: Tensor, kept: Tensor, scale: float) -> Tensor:
        context.save_for_backward(kept)
        context.scale = scale
        return torch.where(kept, rows * scale, 0)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (kept,) = context.saved_tensors
        return torch.where(kept, gradient * context.scale, 0), None, None
