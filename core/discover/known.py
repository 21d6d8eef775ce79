"""How well the labels that are there tell what a group is about.

A walk that goes from text to similar text, and gives up now and then, meets a labelled text soon
where labels are near or a chain of similar texts leads to them, and seldom in an island of texts
that nobody has labelled. It is the absorbing walk of Zhu et al. 2003, Section 3.1.
"""

import numpy as np
from numpy.typing import NDArray

from core.discover.grouping import Grouping
from core.review.nearby import joined, nearby
from core.types import FloatArray

_NEIGHBOURS = 10
_WIDTH = 0.15
"""Difference of the cosine over which a step becomes e times as rare."""

_GOES_ON = 0.9
"""Chance of another step."""

_STEPS = 60
_MOST = 10_000
"""Texts that are walked through; of more, a fair sample."""


def known_groups(
    grouping: Grouping, unit: FloatArray, labelled: FloatArray, seed: int = 0
) -> FloatArray:
    """Return how often a walk from a group's texts meets a labelled text, (groups,), in [0, 1].

    `unit` (n, d) are the grouped texts and `labelled` (m, d) those with a label, rows of length 1.
    A group without a sampled text is as well known as the sampled texts nearest to its centre.
    """
    rows = np.sort(np.random.default_rng(seed).permutation(len(unit))[:_MOST])
    met = _met(np.concatenate([unit[rows], labelled]), len(rows))
    n_groups = len(grouping.centres)
    counts = np.bincount(grouping.of[rows], minlength=n_groups)
    sums = np.bincount(grouping.of[rows], weights=met, minlength=n_groups)
    known = sums / np.maximum(counts, 1)
    for group in np.flatnonzero(counts == 0):
        near = np.argsort(-(unit[rows] @ grouping.centres[group]), kind="stable")[:_NEIGHBOURS]
        known[group] = met[near].mean()
    return known.astype(np.float32)


def _met(every: FloatArray, n_free: int) -> NDArray[np.float64]:
    """Return how often walks from the first `n_free` texts meet one of the others, (n_free,)."""
    n = len(every)
    count = min(_NEIGHBOURS, n - 1)
    if n_free == n or not count:
        return np.zeros(n_free)
    steps = joined(nearby(every, count), _WIDTH)[:n_free]
    scale = _GOES_ON / np.maximum(steps.sum(1), np.finfo(np.float64).tiny)
    met = np.zeros(n)
    met[n_free:] = 1.0
    for _ in range(_STEPS):
        met[:n_free] = scale * (steps @ met)
    return met[:n_free]


def least_known_first(known: FloatArray, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Order groups by how well they are known, (groups,); of equal ones the largest first."""
    return np.lexsort((-sizes, known))
