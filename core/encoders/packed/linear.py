"""Linear layers of a loaded encoder, multiplied by the quickest exact routine of the machine."""

import os
from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.encoders.timing import seconds_of
from core.processor import is_amd

# oneDNN keeps 1,024 compiled routines unless told otherwise, before its first product: half a
# gigabyte in a tuning, each step of which has another number of rows.
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "128")

_LEAST_GAIN = 1.3
_SMALL_STEP, _LARGE_STEP = 16, 128
"""Numbers of rows are rounded up to these, up to 128 and above."""


class LoadedLinear(nn.Linear):
    """A linear layer whose weights are loaded; drawing them first took half of the loading."""

    def reset_parameters(self) -> None:
        """Leave the weights as the memory was."""

    def forward(self, input: Tensor) -> Tensor:
        """Multiply (rows, inputs) to (rows, outputs), in float32 unless autocast says otherwise."""
        if torch.is_grad_enabled() or torch.is_autocast_enabled(input.device.type):
            return super().forward(input)
        if input.device.type == "cpu" and input.dtype == torch.float32 and onednn_is_quicker():
            return _by_onednn(input, self.weight, self.bias)
        return super().forward(input)


@cache
def onednn_is_quicker() -> bool:
    """Whether oneDNN multiplies float32 quicker here than torch's usual library.

    That library uses half of the arithmetic units of AMD's processors with AVX-512. Both round
    alike: their results differ by some 1e-7 of the largest.
    """
    if not (is_amd() and torch.backends.cpu.get_cpu_capability() == "AVX512"):
        return False
    if not (
        torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    ):
        return False
    rows, weight, bias = torch.randn(512, 384), torch.randn(1536, 384), torch.randn(1536)
    usual = seconds_of(lambda: F.linear(rows, weight, bias))
    return usual >= _LEAST_GAIN * seconds_of(lambda: _by_onednn(rows, weight, bias))


def _by_onednn(rows: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    multiply = torch.ops.mkldnn._linear_pointwise
    product: Tensor = multiply(stepped(rows), weight, bias, "none", [], "")
    return product[: len(rows)]


def stepped(rows: Tensor) -> Tensor:
    """Add rows of zeros up to a number of rows that comes again, (rows, inputs).

    oneDNN compiles and keeps a routine for each number of rows, half a megabyte each: a server that
    embeds texts of all lengths would grow by 200 MB, and a long file would compile all the time.
    """
    step = _SMALL_STEP if len(rows) <= _LARGE_STEP else _LARGE_STEP
    return F.pad(rows, (0, 0, 0, -len(rows) % step))
