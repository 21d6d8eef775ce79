"""The learning rate over a run."""

import math


def linear_rate(step: int, total: int, warmup: float) -> float:
    """Return the share of the peak rate before a step (from 0): a linear rise, then a fall to zero.

    `warmup` is the share of rising steps (0.1 in ConvFiT).
    """
    rising = int(total * warmup)
    if step < rising:
        return step / max(1, rising)
    return max(0.0, (total - step) / max(1, total - rising))


def cosine_rate(progress: float, warmup: float, floor: float = 0.001) -> float:
    """Return the share of the peak rate: a linear rise, then half a cosine to the floor.

    `progress` and `warmup` are shares of the run; the floor is 0.001 in ConveRT.
    """
    if progress < warmup:
        return progress / warmup
    done = min(1.0, (progress - warmup) / max(1e-12, 1 - warmup))
    return floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * done))
