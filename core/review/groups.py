"""Groups within one intent's texts, and the one that another text belongs to."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from core.types import FloatArray
from core.vectors import unit_rows

_MOST_GROUPS = 6
_FEWEST_TEXTS = 4
_SMALLEST_GROUP = 2
_JUDGED = 2_000
"""Texts whose silhouette is computed; it takes time and memory by their square."""


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """A division of texts into groups, the largest first.

    Attributes:
        of: Each text's group, from 0, (n,).
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
        k: From 2 to `most_groups`; by default only divisions without a group of one text count.

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
    whole = [one for one in tried if np.bincount(one.of).min() >= _SMALLEST_GROUP]
    return max(whole or tried[:1], key=lambda one: one.silhouette)


def _divided(directions: FloatArray, k: int) -> Groups:
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    found = KMeans(k, n_init=10, random_state=0).fit_predict(directions)
    order = np.argsort(-np.bincount(found, minlength=k), kind="stable")
    of = np.argsort(order)[found].astype(np.int64)
    centres = np.stack([directions[of == group].mean(0) for group in range(k)])
    sample = min(_JUDGED, len(directions)) if len(directions) > _JUDGED else None
    score = silhouette_score(directions, of, metric="cosine", sample_size=sample, random_state=0)
    return Groups(of, unit_rows(centres), float(score))
