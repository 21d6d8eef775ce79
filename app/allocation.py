"""How the server's process returns memory that it no longer needs, on systems with glibc."""

import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""Numbers of the settings in malloc.h."""

_ARENAS = 2
_LARGE_BYTES = 16 << 20


def return_memory() -> None:
    """Let few pools of memory serve all threads, and return large blocks as soon as they are free.

    By default each of forty threads that answer requests gets a pool of its own, and freed blocks
    of up to 32 MB stay in it. Blocks above 1 MB instead of 16 would cost encoding a fifth more.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return
    for setting, value in (
        (_ARENA_MAX, _ARENAS),
        (_MMAP_THRESHOLD, _LARGE_BYTES),
        (_TRIM_THRESHOLD, _LARGE_BYTES),
    ):
        mallopt(ctypes.c_int(setting), ctypes.c_int(value))
