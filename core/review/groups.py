"""Groups within one intent's texts, and the one that another text belongs to."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from core.metrics.geometry import silhouette
from core.types import FloatArray
from core.vectors import unit_rows

_MOST_GROUPS = 6
_FEWEST_TEXTS = 4
_SMALLEST_GROUP = 2
_SMALLEST_SHARE = 0.1
"""A group of less than a tenth of the texts is no group but a few odd texts."""


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """A division of texts into groups, the largest first.

    Attributes:
        of: Each text's group, from 0, (n,); odd texts are in the group they resemble most.
        centres: Mean directions of the groups, of length 1, (groups, d).
        silhouette: Mean silhouette by cosine distance, -1 to 1 (Rousseeuw 1987, Section 2).
    """

    of: NDArray[np.int64] = field(repr=False)
    centres: FloatArray = field(repr=False)
    silhouette: float

    def nearest(self, rows: FloatArray) -> NDArray[np.int64]:
        """Return the group whose centre is most similar to each row (n, d); (n,)."""
        return np.asarray((unit_rows(rows) @ self.centres.T).argmax(1), dtype=np.int64)

    def typical(self, group: int, rows: FloatArray) -> NDArray[np.int64]:
        """Return the texts of a group by similarity to its centre, the closest first."""
        members = np.flatnonzero(self.of == group)
        closeness = unit_rows(rows[members]) @ self.centres[group]
        return np.asarray(members[np.argsort(-closeness, kind="stable")], dtype=np.int64)


def most_groups(n_texts: int) -> int:
    """Return into how many groups so many texts may be divided; below 2 they are too few."""
    return 0 if n_texts < _FEWEST_TEXTS else min(_MOST_GROUPS, n_texts // _SMALLEST_GROUP)


def find_groups(rows: FloatArray, k: int | None = None) -> Groups | None:
    """Divide texts into k groups; by default as many as give the highest mean silhouette.

    Args:
        rows: Embeddings of the texts, (n, d).
        k: From 2 to `most_groups`; fewer where a group would be only a few odd texts.

    Returns:
        The division; None for too few texts, or texts that are all alike.
    """
    directions = unit_rows(rows)
    most = most_groups(len(np.unique(directions, axis=0))) if len(rows) else 0
    if most == 0:
        return None
    if k is not None:
        return _divided(directions, max(2, min(k, most)))
    tried = [_divided(directions, number) for number in range(2, most + 1)]
    return max(tried, key=lambda one: one.silhouette)


def _divided(directions: FloatArray, k: int) -> Groups:
    """Divide into at most k groups; texts too few for a group join the one they resemble most."""
    smallest = max(_SMALLEST_GROUP, int(_SMALLEST_SHARE * len(directions)))
    kept = np.arange(len(directions))
    while True:
        found = _clusters(directions[kept], min(k, len(kept) // smallest))
        sizes = np.bincount(found)
        if sizes.min() >= smallest or len(kept) - (sizes[sizes < smallest]).sum() < 2 * smallest:
            break
        kept = kept[sizes[found] >= smallest]
    order = np.argsort(-np.bincount(found), kind="stable")
    of_kept = np.argsort(order)[found]
    centres = np.stack([directions[kept[of_kept == group]].mean(0) for group in range(len(order))])
    centres = unit_rows(centres)
    of = (directions @ centres.T).argmax(1).astype(np.int64)
    of[kept] = of_kept
    # Over all texts: over those kept, a division that sets many aside would look best.
    return Groups(of, centres, silhouette(directions, of.tolist()) or 0.0)


def _clusters(directions: FloatArray, k: int) -> NDArray[np.int64]:
    from sklearn.cluster import KMeans

    distinct = len(np.unique(directions, axis=0))
    if distinct < 2:
        return np.zeros(len(directions), dtype=np.int64)
    means = KMeans(min(max(2, k), distinct), n_init=10, random_state=0)
    # Fewer groups come back than were asked for where texts are nearly the same.
    found = np.unique(means.fit_predict(directions), return_inverse=True)[1]
    return np.asarray(found, dtype=np.int64)
