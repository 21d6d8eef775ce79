"""The learning rate over a run."""

import math


def linear_rate(step: int, total: int, warmup: float) -> float:
    """Return the share of the peak rate at a step: a linear rise, then a linear fall to zero.

    `step` counts from 0 and is about to be taken; `warmup` is the share of rising steps (0.1 in
    ConvFiT).
    """
    rising = int(total * warmup)
    if step < rising:
        return step / max(1, rising)
    return max(0.0, (total - step) / max(1, total - rising))


def cosine_rate(progress: float, warmup: float, floor: float = 0.001) -> float:
    """Return the share of the peak rate: a linear rise, then half a cosine down to the floor.

    `progress` is the finished share of the run, in [0, 1], and `warmup` its rising share; `floor`
    is the final rate (0.001 in ConveRT).
    """
    if progress < warmup:
        return progress / warmup
    done = min(1.0, (progress - warmup) / max(1e-12, 1 - warmup))
    return floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * done))
