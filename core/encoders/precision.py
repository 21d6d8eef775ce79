"""In which number format tuning multiplies: float32, or bfloat16 where a machine is quick in it.

Processors of the last years multiply bfloat16 matrices several times as fast as float32, others
have no such instructions and are slower. Weights, losses and the optimiser stay in float32.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch

from core.encoders.timing import seconds_of
from core.types import AskedPrecision, Precision

_LEAST_GAIN = 1.5
"""bfloat16 must be so many times as fast; where it has instructions it is three to five times."""
_ROWS, _COLUMNS, _WIDTH = 768, 384, 1536


def settled_precision(asked: AskedPrecision, device: str) -> Precision:
    """Return the format of a tuning on a device (`cpu`, `cuda`, `cuda:1`)."""
    if asked != "auto":
        return asked
    if device.startswith("cuda"):
        return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
    return "bfloat16" if has_bfloat16() and bfloat16_gain() >= _LEAST_GAIN else "float32"


def has_bfloat16() -> bool:
    """Whether this processor has instructions that multiply bfloat16 matrices."""
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


@cache
def bfloat16_gain() -> float:
    """How many times as fast a product of a tuning step is in bfloat16, on this processor.

    Takes some 30 ms once in a process. Each format counts by its quickest of five rounds, so that
    other programs do not change the result.
    """
    rows, weight = torch.randn(_ROWS, _COLUMNS), torch.randn(_WIDTH, _COLUMNS)
    small_rows, small_weight = rows.bfloat16(), weight.bfloat16()
    wide = seconds_of(lambda: torch.nn.functional.linear(rows, weight))
    narrow = seconds_of(lambda: torch.nn.functional.linear(small_rows, small_weight))
    return wide / narrow


@contextmanager
def computing_in(precision: Precision, device: str) -> Iterator[None]:
    """Multiply in a format on a kind of device; sums, norms and weights stay in float32."""
    if precision == "float32":
        yield
        return
    with torch.autocast(device, dtype=torch.bfloat16):
        yield
