"""Failures of the machine that a person can do something about, in words."""

from core.errors import OutOfMemory, OutOfThreads, StudioError
from core.files import disk_error, disk_full
from core.memory import OUT_OF_MEMORY

_OF_MEMORY = ("allocate memory", "not enough memory", "out of memory")
_OF_DISK = ("no space left on device", "disk quota exceeded", "file write failed")
_OF_THREADS = ("can't start new thread", "resource temporarily unavailable")
_OF_DEVICE = ("cuda", "hip error", "mps backend")
"""Parts of what libraries say, in small letters."""

_GPU_MEMORY = (
    "The GPU has not enough memory.",
    "Close other programs on it, train with a smaller batch size, or use the processor.",
)


_NO_THREADS = (
    "This machine starts no more threads or processes for the studio: their limit is reached.",
    "End other programs, or have the limit raised. In a container it is a limit of its own.",
)


def failure_in_words(error: BaseException) -> StudioError | None:
    """Return what to tell of a limit of the machine, or of an error of the studio; else None.

    Libraries say it in words of their own, at times around the error of the system. An error of
    the studio is told where it was raised or is the stated cause: a fault met while it was being
    handled is another one.
    """
    seen: BaseException | None = error
    stated = True
    while seen is not None:
        if stated and isinstance(seen, StudioError):
            return seen
        told = disk_error(seen) or _of_library(seen)
        if told is not None:
            return told
        stated = stated and seen.__cause__ is not None
        seen = seen.__cause__ or seen.__context__
    return None


def _of_library(error: BaseException) -> StudioError | None:
    words = str(error).lower()
    # torch is not imported for its name: no job need have loaded it.
    if type(error).__name__ == "OutOfMemoryError" or ("cuda" in words and "out of memory" in words):
        return OutOfMemory(*_GPU_MEMORY)
    if isinstance(error, MemoryError):
        return OutOfMemory(*OUT_OF_MEMORY)
    if not isinstance(error, RuntimeError) and type(error).__name__ != "SafetensorError":
        return None
    if any(part in words for part in _OF_MEMORY):
        return OutOfMemory(*OUT_OF_MEMORY)
    if any(part in words for part in _OF_DISK):
        return disk_full()
    if any(part in words for part in _OF_THREADS):
        return OutOfThreads(*_NO_THREADS)
    if any(part in words for part in _OF_DEVICE):
        reason = str(error).partition("\n")[0][:200]
        return StudioError(
            f"The graphics processor failed: {reason}.",
            "Train again, or set STUDIO_DEVICE to cpu and open the studio anew.",
        )
    return None
