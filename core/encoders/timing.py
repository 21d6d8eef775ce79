"""Seconds of a product of matrices, little changed by what else a machine does."""

import time
from collections.abc import Callable

import torch
from torch import Tensor

_REPEATS, _ROUNDS = 4, 5


def seconds_of(product: Callable[[], Tensor]) -> float:
    """Time four products; the quickest of five rounds counts."""
    with torch.inference_mode():
        product()
        best = float("inf")
        for _ in range(_ROUNDS):
            began = time.perf_counter()
            for _ in range(_REPEATS):
                product()
            best = min(best, time.perf_counter() - began)
    return best
