"""Texts divided into groups by meaning; a group keeps its number when texts are added."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from core.types import FloatArray
from core.vectors import mean_directions, unit_rows

MOST_GROUPS = 400
"""Nobody looks at more groups at once; more texts make larger groups."""

_BATCH, _PASSES = 2_048, 40
_CHUNK = 8_192
_STRANGE = 1.0
"""Percentile of the old texts' closeness below which an added text may fit no group."""


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


def group_texts(embeddings: FloatArray, size: float, seed: int = 0) -> Grouping:
    """Divide embeddings (n, d), n at least 1, into groups of about `size` texts by k-means.

    There are at most `MOST_GROUPS`, fewer where texts are equal, and one for fewer than `2 * size`.
    Numbers follow the size, the largest group first.
    """
    from sklearn.cluster import MiniBatchKMeans

    unit = unit_rows(embeddings)
    k = min(MOST_GROUPS, int(len(unit) / size))
    if k > 1 and len(unit) <= 4 * _BATCH:
        k = min(k, len(np.unique(unit, axis=0)))
    if k < 2:
        return _numbered(unit, np.zeros(len(unit), dtype=np.int64))
    means = MiniBatchKMeans(k, batch_size=_BATCH, n_init=1, max_iter=_PASSES, random_state=seed)
    return _numbered(unit, means.fit(unit).labels_)


def join(grouping: Grouping, embeddings: FloatArray, size: float, seed: int = 0) -> Grouping:
    """Add texts (m, d) to a grouping, each to the closest group; no old text moves.

    Added texts that resemble no group, if there are enough of them, found groups with new numbers.
    """
    unit = unit_rows(embeddings)
    of, closeness = _closest(unit, grouping.centres)
    strange = np.flatnonzero(closeness < _strange_below(grouping))
    centres = grouping.centres
    if len(strange) >= size:
        new = group_texts(unit[strange], size, seed)
        of[strange] = new.of + len(centres)
        closeness[strange] = new.closeness
        centres = np.concatenate([centres, new.centres])
    return Grouping(
        np.concatenate([grouping.of, of]),
        centres,
        np.concatenate([grouping.closeness, closeness]),
    )


def _strange_below(grouping: Grouping) -> float:
    """Return the closeness below which an added text fits no group.

    In tight groups nearly all texts are as close as can be, and one that is a little farther still
    belongs there: it is strange only if it is nearer to the distance between groups.
    """
    usual = np.percentile(grouping.closeness, _STRANGE)
    between = grouping.centres @ grouping.centres.T
    np.fill_diagonal(between, -1.0)
    apart = max(0.0, float(between.max(1).mean())) if len(between) > 1 else 0.0
    return min(float(usual), (float(grouping.closeness.mean()) + apart) / 2)


def founded(unit: FloatArray, of: NDArray[np.int64]) -> Grouping:
    """Make a grouping of rows of length 1, (n, d), whose groups are known, (n,), none empty."""
    centres = mean_directions(unit, of, int(of.max()) + 1)
    return Grouping(of, centres, np.einsum("ij,ij->i", unit, centres[of]))


def _numbered(unit: FloatArray, found: NDArray[np.integer]) -> Grouping:
    """Number groups by falling size, and compute their centres."""
    of = np.unique(found, return_inverse=True)[1]
    order = np.argsort(-np.bincount(of), kind="stable")
    return founded(unit, np.argsort(order)[of].astype(np.int64))


def _closest(unit: FloatArray, centres: FloatArray) -> tuple[NDArray[np.int64], FloatArray]:
    of = np.empty(len(unit), dtype=np.int64)
    closeness = np.empty(len(unit), dtype=np.float32)
    for start in range(0, len(unit), _CHUNK):
        part = slice(start, start + _CHUNK)
        similarity = unit[part] @ centres.T
        of[part] = similarity.argmax(1)
        closeness[part] = similarity.max(1)
    return of, closeness
