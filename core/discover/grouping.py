"""Texts divided into groups by meaning."""

from dataclasses import dataclass, field
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from core.discover.means import divided
from core.types import FloatArray
from core.vectors import mean_directions, unit_rows

MOST_GROUPS = 400
"""Nobody looks at more groups at once; more texts make larger groups."""

_MOST_BESIDE = 320
"""Groups beside labels: of more, some of known subjects have no label by chance, and come first."""

_FEW = 8_192
"""Of so many texts those that are not equal are counted: there are no more groups than these."""

_SAME = 0.9999
"""Cosine of two groups' centres from which their texts are the same to the encoder."""


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """A division of n texts into groups.

    Attributes:
        of: Each text's group, from 0, (n,) int64.
        centres: Mean directions of the groups, of length 1, (groups, d) float32.
        closeness: Cosine of each text and its group's centre, (n,) float32.
    """

    of: NDArray[np.int64] = field(repr=False)
    centres: FloatArray = field(repr=False)
    closeness: FloatArray = field(repr=False)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of texts in each group, (groups,)."""
        return np.bincount(self.of, minlength=len(self.centres))

    def members(self) -> list[NDArray[np.int64]]:
        """Return each group's texts, the closest to its centre first."""
        order = np.lexsort((-self.closeness, self.of))
        return np.split(order, np.cumsum(self.sizes)[:-1])


def usual_groups(n_texts: int, *, has_labels: bool) -> int:
    """Return how many groups to make of texts: the root of their number, or beside labels twice it.

    A new subject among known ones is small, and needs a group of its own.
    """
    root = sqrt(n_texts)
    number = min(_MOST_BESIDE, 2 * root) if has_labels else min(MOST_GROUPS, root)
    return max(1, min(n_texts, round(number)))


def size_of(n_texts: int, n_groups: int) -> float:
    """Return the size by which `group_texts` makes just so many groups of different texts."""
    return n_texts / (n_groups + 0.5)


def group_texts(embeddings: FloatArray, size: float, seed: int = 0) -> Grouping:
    """Divide embeddings (n, d), n at least 1, into groups of about `size` texts by k-means.

    There are at most `MOST_GROUPS`, fewer where texts are equal, and one for fewer than `2 * size`.
    Numbers follow the size, the largest group first.
    """
    unit = unit_rows(embeddings)
    k = min(MOST_GROUPS, int(len(unit) / size))
    if k > 1 and len(unit) <= _FEW:
        k = min(k, len(np.unique(unit, axis=0)))
    if k < 2:
        return _numbered(unit, np.zeros(len(unit), dtype=np.int64))
    return _numbered(unit, _without_twins(unit, divided(unit, k, seed)))


def founded(unit: FloatArray, of: NDArray[np.int64]) -> Grouping:
    """Make a grouping of rows of length 1, (n, d), whose groups are known, (n,), none empty."""
    centres = mean_directions(unit, of, int(of.max()) + 1)
    return Grouping(of, centres, np.einsum("ij,ij->i", unit, centres[of]))


def _without_twins(unit: FloatArray, found: NDArray[np.integer]) -> NDArray[np.integer]:
    """Join groups whose centres are the same: thousands of equal texts were cut into hundreds."""
    from scipy.sparse.csgraph import connected_components

    of = np.unique(found, return_inverse=True)[1]
    centres = mean_directions(unit, of, int(of.max()) + 1)
    joined: NDArray[np.integer] = connected_components(centres @ centres.T >= _SAME)[1]
    return joined[of]


def _numbered(unit: FloatArray, found: NDArray[np.integer]) -> Grouping:
    """Number groups by falling size, and compute their centres."""
    of = np.unique(found, return_inverse=True)[1]
    order = np.argsort(-np.bincount(of), kind="stable")
    return founded(unit, np.argsort(order)[of].astype(np.int64))
