"""Batches computed at the same time, each by one thread."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import torch
from threadpoolctl import threadpool_limits

T = TypeVar("T")
R = TypeVar("R")


@contextmanager
def side_by_side(
    compute: Callable[[T], R], parts: Sequence[T], at_once: int
) -> Iterator[Iterator[R]]:
    """Give `compute(part)` for each part in order; `at_once` threads compute.

    Threads that share the short operations of one batch wait for each other at each of them.
    """
    if min(at_once, len(parts)) < 2:
        yield map(compute, parts)
        return
    pool = lone_threads(min(at_once, len(parts)))
    try:
        yield pool.map(compute, parts)
    finally:
        pool.shutdown(cancel_futures=True)


def lone_threads(count: int) -> ThreadPoolExecutor:
    """Open threads that compute at the same time, each with one thread inside each operation."""
    return ThreadPoolExecutor(count, "batches", initializer=_compute_alone)


def _compute_alone() -> None:
    """Let this thread compute alone; `torch.set_num_threads` would bind later threads, too."""
    torch.get_num_threads()  # torch gives a thread its number at its first question
    threadpool_limits(limits=1, user_api="openmp")
