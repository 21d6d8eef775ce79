"""The learning rate over a run."""

import math


def linear_rate(step: int, total: int, warmup: float) -> float:
    """Return the share of the peak rate at a step: a linear rise, then a linear fall to zero.

    Args:
        step: Step about to be taken, from 0.
        total: Steps of the run.
        warmup: Share of the steps that rise (0.1 in ConvFiT).
    """
    rising = int(total * warmup)
    if step < rising:
        return step / max(1, rising)
    return max(0.0, (total - step) / max(1, total - rising))


def cosine_rate(progress: float, warmup: float, floor: float = 0.001) -> float:
    """Return the share of the peak rate: a linear rise, then half a cosine down to the floor.

    Args:
        progress: Share of the run that is done, in [0, 1].
        warmup: Share of the run that rises.
        floor: Where it ends (0.001 in ConveRT).
    """
    if progress < warmup:
        return progress / warmup
    done = min(1.0, (progress - warmup) / max(1e-12, 1 - warmup))
    return floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * done))
