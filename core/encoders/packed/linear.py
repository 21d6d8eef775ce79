"""Linear layers of a loaded encoder, multiplied by the quickest exact routine of the machine."""

from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.encoders.timing import seconds_of
from core.processor import is_amd

_LEAST_GAIN = 1.3


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
    product: Tensor = torch.ops.mkldnn._linear_pointwise(rows, weight, bias, "none", [], "")
    return product
