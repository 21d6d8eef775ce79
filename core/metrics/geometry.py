"""The shape of an embedding space: how tight intents are, and how evenly it is filled."""

from collections.abc import Hashable, Sequence

import numpy as np

from core.types import FloatArray
from core.vectors import unit_rows

_CHUNK = 1_024


def silhouette(
    embeddings: FloatArray, labels: Sequence[Hashable], sample: int | None = None
) -> float | None:
    """Mean silhouette under cosine distance, in [-1, 1] (ConvFiT Fig. 2 in one number).

    Undefined (None) with fewer than two labels, or with one text for each. Of more texts than
    `sample`, so many are drawn, the same ones each time.
    """
    from sklearn.metrics import silhouette_score

    kinds = len(set(labels))
    if kinds < 2 or kinds >= len(labels):
        return None
    drawn = sample if sample is not None and len(labels) > sample else None
    score = silhouette_score(
        unit_rows(embeddings), list(labels), metric="cosine", sample_size=drawn, random_state=0
    )
    return float(score)


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
    names = np.asarray(labels)
    total, pairs = 0.0, 0
    for name in np.unique(names):
        rows = unit[names == name]
        n = len(rows)
        pairs += n * (n - 1)
        # Sum over ordered pairs of |x - y|^2 = 2 (n sum |x|^2 - |sum x|^2): no loop over pairs.
        total += 2.0 * (n * float((rows**2).sum()) - float((rows.sum(0) ** 2).sum()))
    return total / pairs if pairs else 0.0
