"""Votes are brought up to date beside whoever else works in the same process."""

import threading
import time

import numpy as np

from core.heads.kernel import square_kernel
from core.heads.votes import VoteHead, whole_inverse
from core.vectors import unit_rows

N = 2_500


def large_head() -> VoteHead:
    """As loaded from a file: the inverse is not kept."""
    rows = unit_rows(np.random.default_rng(0).normal(size=(N, 32)).astype(np.float32))
    targets = np.eye(2)[np.arange(N) % 2]
    return VoteHead(
        ("a", "b"), 0.3, 0.1, rows, targets, targets.mean(0), targets, diagonal=np.ones(N)
    )


def test_other_threads_go_on_while_the_inverse_is_computed() -> None:
    """With 10,000 exemplars the whole server stood still for 20 s after a label."""
    head = large_head()
    whole_inverse(large_head())  # loads what has to be loaded
    found: list[np.ndarray] = []
    worker = threading.Thread(target=lambda: found.append(whole_inverse(head)))
    began = last = time.perf_counter()
    longest = 0.0
    worker.start()
    while worker.is_alive():
        time.sleep(0.002)
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
    assert longest < 0.2 * (last - began)
    identity = found[0] @ square_kernel(head.exemplars, head.tau, head.ridge)
    assert np.allclose(identity, np.eye(N), atol=1e-6)
