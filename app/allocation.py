"""How the server's process keeps the threads that it needs, and returns memory that it does not."""

import ctypes
import sys
import threading
import time
from typing import Any

import anyio
import anyio.to_thread
from anyio._backends import _asyncio

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""Numbers of the settings in malloc.h."""

_ARENAS = 2
_LARGE_BYTES = 16 << 20
"""Larger blocks are returned as soon as they are free. With 1 MB instead, encoding would take a
fifth more of the processor's time (docs/experiments.md)."""

_BUSY_SECONDS, _IDLE_SECONDS = 2.0, 20.0
"""Within 20 seconds of a busy day 140 MB of free pages gathered. To return them takes 1 to 7 ms."""

_WORK_SHARE = 0.01
"""Share of a pause for which the server must have worked: else hardly anything was freed."""

_KEPT_THREADS = 8


async def keep_threads() -> None:
    """Start the threads that answer requests, and let none of them end for want of work.

    Whoever begins a thread without memory for its first frame may wait for ever: here that is the
    loop of the server (https://github.com/python/cpython/issues/140746). anyio has no public
    setting for the life of its threads.
    """
    _asyncio.WorkerThread.MAX_IDLE_TIME = sys.maxsize
    all_begun = threading.Barrier(_KEPT_THREADS)

    async def begin() -> None:
        await anyio.to_thread.run_sync(all_begun.wait)

    async with anyio.create_task_group() as group:
        for _ in range(_KEPT_THREADS):
            group.start_soon(begin)


def return_memory() -> None:
    """Let few pools of memory serve all threads, and return what is free in them while it works.

    By default each of the threads that answer requests gets a pool of its own, and freed blocks of
    up to 32 MB stay in it.
    """
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallopt"):
        return
    for setting, value in (
        (_ARENA_MAX, _ARENAS),
        (_MMAP_THRESHOLD, _LARGE_BYTES),
        (_TRIM_THRESHOLD, _LARGE_BYTES),
    ):
        library.mallopt(ctypes.c_int(setting), ctypes.c_int(value))
    threading.Thread(target=_trim, args=(library,), name="return-memory", daemon=True).start()


def _trim(library: Any) -> None:
    pause, returned_at = _BUSY_SECONDS, 0.0
    while True:
        time.sleep(pause)
        worked = time.process_time() - returned_at >= _WORK_SHARE * pause
        pause = _BUSY_SECONDS if worked else _IDLE_SECONDS
        if worked:
            library.malloc_trim(ctypes.c_size_t(0))
            returned_at = time.process_time()
