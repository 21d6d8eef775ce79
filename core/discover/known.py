"""How well the labels that are there tell what a group is about, by two signs.

Labels fall among texts as known subjects do: a group of a hundredth of the texts has a hundredth of
the labels, and by chance alone seldom none (Poisson's distribution). One division is itself partly
chance, so that a known subject may have a group that no label reaches; the texts are therefore
divided in other ways, too, and a group is as well known as its texts are on average (bagging,
Breiman 1996). And a walk that goes from text to similar text, and gives up now and then, meets a
labelled text soon where labels are near or a chain of similar texts leads to them, and seldom in an
island of texts that nobody has labelled. It is the absorbing walk of Zhu et al. 2003, Section 3.1.
"""

import numpy as np
from numpy.typing import NDArray

from core.discover.grouping import Grouping, founded
from core.discover.means import closest, divided
from core.nearby.joined import joined
from core.nearby.search import nearby
from core.types import FloatArray

_NEIGHBOURS = 10
_WIDTH = 0.15
"""Difference of the cosine over which a step becomes e times as rare."""

_GOES_ON = 0.9
"""Chance of another step."""

_WALKS = 0.25
"""Weight of the walks beside the number of labels."""

_STEPS = 60
_MOST = 10_000
"""Texts that are walked through; of more, a fair sample."""

_FURTHER = (0.82, 1.0, 1.23)
"""Groups of each further division, as multiples of the groups that are shown."""

_DIVIDED = 15_000
"""Texts that are divided in other ways; of more, a fair sample."""

_SHOWN = 2.0
"""Weight of the groups that are shown beside each further division."""

_ALIKE = 0.85
"""Nearness to labelled texts, by that of the group's texts to each other, of a known subject.

Fresh draws of CLINC150, untuned encoder; known subjects with 3, 10, 20 and 40 labels an intent:
26, 82, 100 and 100 of 100 are recognised, and of new subjects 0, 2, 7 and 16 of 100 are taken for
known. By a cosine of 0.8 to an intent's centre 11 of 100 new subjects are with 10 labels, 17 with
40.
"""

_COMPARED = 500
"""Texts of a group that are compared with labelled ones; of more, a fair sample."""


def are_alike(unit: FloatArray, labelled: FloatArray, seed: int = 0) -> bool:
    """Whether texts of a group (n, d) are about what labelled texts (m, d) are about.

    They are about as near to the nearest of these as to the nearest of the group; rows of length 1.
    A single text tells nothing.
    """
    some = unit[np.random.default_rng(seed).permutation(len(unit))[:_COMPARED]]
    if len(some) < 2 or not len(labelled):
        return False
    own = some @ some.T
    np.fill_diagonal(own, -1.0)
    return bool((some @ labelled.T).max(1).mean() >= _ALIKE * own.max(1).mean())


def known_groups(
    grouping: Grouping, unit: FloatArray, labelled: FloatArray, seed: int = 0
) -> FloatArray:
    """Return how well groups are known beside each other, (groups,), in [0, 1]; 0 without labels.

    `unit` (n, d) are the grouped texts and `labelled` (m, d) those with a label, rows of length 1.
    """
    n_groups = len(grouping.centres)
    if not len(labelled):
        return np.zeros(n_groups, dtype=np.float32)
    places = _places(reached(grouping, unit, labelled, seed))
    places += _WALKS * _places(walked(grouping, unit, labelled, seed))
    known: FloatArray = (places / ((1 + _WALKS) * n_groups)).astype(np.float32)
    return known


def chances(grouping: Grouping, labelled: FloatArray) -> NDArray[np.float64]:
    """Return how often chance puts so few labels in each group, or fewer, (groups,), in [0, 1].

    A labelled text (m, d) is in the group whose centre is closest.
    """
    from scipy.stats import poisson

    sizes = grouping.sizes
    found = np.bincount(closest(labelled, grouping.centres)[0], minlength=len(sizes))
    chance: NDArray[np.float64] = poisson.cdf(found, len(labelled) * sizes / sizes.sum())
    return chance


def reached(
    grouping: Grouping, unit: FloatArray, labelled: FloatArray, seed: int = 0
) -> NDArray[np.float64]:
    """Return how well labels reach each group in several divisions, (groups,), in [0, 1].

    In each division a group's place among the others by `chances` counts for its texts.
    """
    n_groups = len(grouping.centres)
    sums = _SHOWN * _places(chances(grouping, labelled)) / n_groups
    rows = np.sort(np.random.default_rng(seed).permutation(len(unit))[:_DIVIDED])
    of, some = grouping.of[rows], unit[rows]
    counts = np.bincount(of, minlength=n_groups)
    for number, share in enumerate(_FURTHER, start=1):
        k = min(len(some), max(1, round(share * n_groups)))
        found = np.unique(divided(some, k, seed + number), return_inverse=True)[1]
        further = founded(some, found)
        places = _places(chances(further, labelled)) / len(further.centres)
        means = np.bincount(of, weights=places[found], minlength=n_groups) / np.maximum(counts, 1)
        unseen = closest(grouping.centres, further.centres)[0]
        sums += np.where(counts > 0, means, places[unseen])
    scores: NDArray[np.float64] = sums / (_SHOWN + len(_FURTHER))
    return scores


def walked(
    grouping: Grouping, unit: FloatArray, labelled: FloatArray, seed: int = 0
) -> NDArray[np.float64]:
    """Return how often a walk from a group's texts meets a labelled text, (groups,), in [0, 1].

    A group without a sampled text is as well known as the sampled texts nearest to its centre.
    """
    rows = np.sort(np.random.default_rng(seed).permutation(len(unit))[:_MOST])
    met = _met(np.concatenate([unit[rows], labelled]), len(rows))
    n_groups = len(grouping.centres)
    counts = np.bincount(grouping.of[rows], minlength=n_groups)
    sums = np.bincount(grouping.of[rows], weights=met, minlength=n_groups)
    known: NDArray[np.float64] = sums / np.maximum(counts, 1)
    for group in np.flatnonzero(counts == 0):
        near = np.argsort(-(unit[rows] @ grouping.centres[group]), kind="stable")[:_NEIGHBOURS]
        known[group] = met[near].mean()
    return known


def _places(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how many values are lower than each, (n,); equal ones have the same place."""
    from scipy.stats import rankdata

    places: NDArray[np.float64] = rankdata(values, method="min") - 1.0
    return places


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
