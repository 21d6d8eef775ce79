"""What two ways of computing agree on, and what this processor computes right."""

from collections.abc import Iterable
from dataclasses import replace

import pytest
import torch

from core.types import Decision, EncodingPrecision


def agreed(decisions: Iterable[Decision]) -> list[Decision]:
    """The decisions, with figures that may differ in how the last digits were rounded.

    A sum depends in its last digit on where its terms lie in memory, which differs by run.
    """
    return [
        replace(
            one,
            score=pytest.approx(one.score, abs=1e-9),
            familiarity=pytest.approx(one.familiarity, abs=1e-9),
        )
        for one in decisions
    ]


def computes_right(precision: EncodingPrecision) -> bool:
    """Whether this processor multiplies in a number format at all, quick or slow.

    Without AVX-512 torch refuses bfloat16; without VNNI sums of 8-bit products overflow.
    """
    if precision == "bfloat16":
        return bool(torch.cpu._is_avx512_supported() or torch.cpu._is_amx_tile_supported())
    return precision == "float32" or bool(torch.cpu._is_vnni_supported())
