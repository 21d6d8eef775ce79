"""The learning rate over a run."""


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
