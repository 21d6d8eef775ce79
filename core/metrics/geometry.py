"""The shape of an embedding space: how tight intents are, and how evenly it is filled."""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from core.types import FloatArray
from core.vectors import sums_of, unit_rows

_CHUNK = 1_024
_Rows = NDArray[np.float64]
_Counts = NDArray[np.int64]


def silhouette(embeddings: FloatArray, labels: Sequence[Hashable]) -> float | None:
    """Mean silhouette under cosine distance, in [-1, 1] (ConvFiT Fig. 2 in one number).

    Undefined (None) with fewer than two labels, or with one text for each. The mean cosine distance
    to a label's texts is one less the product with their mean, so no pair of texts is looked at.
    """
    places = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    if len(places) < 2 or len(places) >= len(labels):
        return None
    unit = unit_rows(embeddings).astype(np.float64)
    kind = np.array([places[label] for label in labels])
    sums = sums_of(unit, kind, len(places))
    sizes = np.bincount(kind)
    total = 0.0
    for start in range(0, len(unit), _CHUNK):
        total += float(_silhouettes(unit[start : start + _CHUNK], kind[start:], sums, sizes).sum())
    return total / len(unit)


def _silhouettes(unit: _Rows, kind: _Counts, sums: _Rows, sizes: _Counts) -> _Rows:
    """Return the silhouette of each row, 0 for the only text of a label; (n,) float64."""
    rows, own = np.arange(len(unit)), kind[: len(unit)]
    far = sizes - unit @ sums.T  # sum of the distances to each label's texts
    to_itself = 1.0 - (unit**2).sum(1)  # 1 for a row of zeros, which has no direction
    others = np.maximum(sizes[own] - 1, 1)
    within = (far[rows, own] - to_itself) / others
    far /= sizes
    far[rows, own] = np.inf
    nearest = far.min(1)
    larger = np.maximum(within, nearest)
    score = np.divide(nearest - within, larger, out=np.zeros(len(unit)), where=larger > 0)
    return np.where(sizes[own] > 1, score, 0.0)


def uniformity(embeddings: FloatArray) -> float:
    """Return log E exp(-2 |x - y|^2) over pairs (Wang and Isola 2020); lower is more even."""
    unit = unit_rows(embeddings).astype(np.float64)
    n = len(unit)
    if n < 2:
        return 0.0
    total = 0.0
    for start in range(0, n, _CHUNK):
        cosines = unit[start : start + _CHUNK] @ unit.T
        total += float(np.exp(-4.0 * (1.0 - cosines)).sum())
    return float(np.log((total - n) / (n * (n - 1))))


def alignment(embeddings: FloatArray, labels: Sequence[str]) -> float:
    """Mean |x - y|^2 over distinct pairs of one intent (Wang and Isola 2020); lower is tighter."""
    unit = unit_rows(embeddings).astype(np.float64)
    kind = np.unique(np.asarray(labels), return_inverse=True)[1]
    sizes = np.bincount(kind)
    pairs = int((sizes * (sizes - 1)).sum())
    sums, squares = sums_of(unit, kind, len(sizes)), np.bincount(kind, (unit**2).sum(1))
    # Sum over ordered pairs of |x - y|^2 = 2 (n sum |x|^2 - |sum x|^2): no loop over pairs.
    total = 2.0 * float((sizes * squares - (sums**2).sum(1)).sum())
    return total / pairs if pairs else 0.0
