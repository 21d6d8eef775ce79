"""Which added texts are about something new: where they crowd as chance alone never would.

If people said the same as before, each text's nearest neighbours would be added texts as often as
texts are at all. The number of added ones among the k nearest of a text then follows the
hypergeometric distribution exactly, whatever the shape of the texts (a local form of the
nearest-neighbour test of Schilling 1986, Section 2).
"""

import numpy as np
from numpy.typing import NDArray

from core.nearby.search import NOWHERE, nearby_but_own
from core.types import FloatArray

NONE = -1
"""In place of a subject's number: the text is about nothing new."""

FEWEST = 8
"""Fewer texts are no subject."""

_SCALES = (8, 16, 32, 64)
"""Numbers of neighbours: a small subject fills the few nearest, a large one many."""

_CHANCE = 0.05
"""Largest chance of finding any new subject where there is none."""

_MOST = 10_000
"""Added and old texts that are compared; of more, a fair sample of each."""


def new_subjects(added: FloatArray, old: FloatArray, seed: int = 0) -> NDArray[np.int64]:
    """Return the number of each added text's new subject, from 0, or `NONE`; (n,) int64.

    Both are rows of length 1, (n, d) and (m, d). A text whose neighbourhood is beyond chance is
    joined with such texts among its eight nearest. Another text joins the subject of which it has
    more than four among these.
    """
    rng = np.random.default_rng(seed)
    sampled = np.sort(rng.permutation(len(added))[:_MOST])
    beside = np.concatenate([added[sampled], old[np.sort(rng.permutation(len(old))[:_MOST])]])
    scales = [scale for scale in _SCALES if scale < len(beside)]
    if not scales or len(sampled) < FEWEST:
        return np.full(len(added), NONE)
    place = np.full(len(added), NOWHERE)
    place[sampled] = np.arange(len(sampled))
    near = nearby_but_own(added, beside, place, scales[-1]).rows
    chances = _chances(near[sampled] < len(sampled), scales, len(beside))
    is_seed = chances * len(sampled) <= _CHANCE
    of = np.full(len(beside), NONE)
    of[: len(sampled)] = _joined(near[sampled, :FEWEST], is_seed)
    return _grown(of, near[:, :FEWEST], place)


def _chances(is_added: NDArray[np.bool_], scales: list[int], n: int) -> NDArray[np.float64]:
    """Return how often chance alone puts as many added texts around each of them, (n_added,).

    `is_added` says it of the neighbours of each, the nearest first; `n` counts all texts.
    """
    from scipy.stats import hypergeom

    counts = is_added.cumsum(1)
    each = [
        hypergeom.sf(counts[:, scale - 1] - 1, n - 1, len(is_added) - 1, scale) for scale in scales
    ]
    least: NDArray[np.float64] = len(scales) * np.min(each, axis=0)
    return least


def _joined(near: NDArray[np.int64], is_seed: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Number the seeds that are neighbours of each other, directly or by others; (n,)."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n = len(is_seed)
    left, right = np.repeat(np.arange(n), near.shape[1]), near.ravel()
    kept = (right < n) & is_seed[left]
    kept[kept] &= is_seed[right[kept]]
    ones = np.ones(int(kept.sum()), dtype=np.int8)
    graph = csr_array((ones, (left[kept], right[kept])), shape=(n, n))
    of = connected_components(graph, directed=False)[1]
    return np.where(is_seed, of, NONE)


def _grown(
    of: NDArray[np.int64], near: NDArray[np.int64], place: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Let other texts join, drop subjects that stay small, and number the others from 0."""
    around = np.sort(of[near], axis=1)
    middle = around[:, around.shape[1] // 2]  # of more than half the same, this is one
    most = (around == middle[:, None]).sum(1) * 2 > around.shape[1]
    found = np.where(most, middle, NONE)
    own = np.flatnonzero(place != NOWHERE)
    found[own] = np.where(of[place[own]] != NONE, of[place[own]], found[own])
    numbers, counts = np.unique(found[found != NONE], return_counts=True)
    renumbered = np.full(int(found.max(initial=0)) + 1, NONE)
    large = numbers[counts >= FEWEST]
    renumbered[large] = np.arange(len(large))
    return np.where(found == NONE, NONE, renumbered[found])
