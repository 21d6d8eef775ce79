"""How much memory the process has taken, and whether some is left, asked before none is left."""

import mmap
import resource
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from core.errors import OutOfMemory

OUT_OF_MEMORY = (
    "There was not enough memory.",
    "Close other programs, take fewer texts at once, or train with a smaller batch size.",
)
_STATUS = Path("/proc/self/status")
_KEPT_BYTES = 32 << 20
_ITEMS_BETWEEN = 1_000

_Item = TypeVar("_Item")


def while_memory_lasts(items: Iterable[_Item]) -> Iterator[_Item]:
    """Yield items for a reader that keeps them; stop while 32 MB of memory are still left.

    A MemoryError comes too late for a server: the frames that it passes through keep what was
    read, so that the thread finds no memory to say so and its request waits for ever, or Python
    ends the process.

    Raises:
        OutOfMemory: Less is left, asked after each 1,000 items.
    """
    for number, item in enumerate(items, start=1):
        if number % _ITEMS_BETWEEN == 0:
            _require(_KEPT_BYTES)
        yield item


def _require(size: int) -> None:
    """Ask the system for memory and return it at once, untouched: a few microseconds."""
    try:
        mmap.mmap(-1, size).close()
    except (OSError, MemoryError):
        raise OutOfMemory(*OUT_OF_MEMORY) from None


def peak_bytes() -> int:
    """Return the largest memory that this process has had.

    Linux carries the peak of a process over to the program that it starts, so that `getrusage`
    would tell that of the parent.
    """
    peak = _told("VmHWM:")
    if peak is not None:
        return peak
    found = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return found if sys.platform == "darwin" else found << 10


def resident_bytes() -> int:
    """Return the memory that this process has now; its peak where the system does not tell."""
    now = _told("VmRSS:")
    return peak_bytes() if now is None else now


def _told(name: str) -> int | None:
    """Return bytes from what Linux tells about this process; None where it does not."""
    try:
        return int(_STATUS.read_text(encoding="utf-8").partition(name)[2].split()[0]) << 10
    except (OSError, LookupError, ValueError):
        return None
