"""The learning rate over a run."""

import math

_FLOOR = 0.001
"""The rate at the end of half a cosine, as a share of the peak (ConveRT)."""


def linear_rate(step: int, total: int, warmup: float) -> float:
    """Return the share of the peak rate before a step (from 0): a linear rise, then a fall to zero.

    `warmup` is the share of rising steps (0.1 in ConvFiT).
    """
    rising = int(total * warmup)
    if step < rising:
        return step / max(1, rising)
    return max(0.0, (total - step) / max(1, total - rising))


def cosine_rate(progress: float, warmup: float) -> float:
    """Return the share of the peak rate: a linear rise, then half a cosine to a floor above zero.

    `progress` and `warmup` are shares of the run.
    """
    if progress < warmup:
        return progress / warmup
    done = min(1.0, (progress - warmup) / max(1e-12, 1 - warmup))
    return _FLOOR + (1 - _FLOOR) * 0.5 * (1 + math.cos(math.pi * done))
