"""What the processor of this machine can do, asked without torch."""

import os
from functools import cache
from pathlib import Path

_FACTS = Path("/proc/cpuinfo")
_BFLOAT16 = frozenset({"avx512_bf16", "amx_bf16"})


def is_amd() -> bool:
    """Whether it is a processor by AMD; False where the system does not tell."""
    return "AuthenticAMD" in _facts()


def lists_bfloat16() -> bool:
    """Whether it lists instructions for bfloat16 matrices; False where the system does not tell."""
    lines = _facts().splitlines()
    flags = next((line for line in lines if line.startswith("flags")), "")
    return not _BFLOAT16.isdisjoint(flags.split())


def waiting_work() -> float:
    """Return how many programs want each processor, over the last minute; 0 where nothing tells."""
    if not hasattr(os, "getloadavg"):
        return 0.0
    return os.getloadavg()[0] / (os.cpu_count() or 1)


@cache
def _facts() -> str:
    try:
        return _FACTS.read_text(encoding="ascii", errors="replace")
    except OSError:  # no Linux
        return ""
