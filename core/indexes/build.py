"""Choose an index by how much it has to hold."""

from collections.abc import Sequence

from core.indexes.base import Index
from core.indexes.exact import ExactIndex
from core.types import FloatArray

EXACT_UP_TO = 20_000
"""Vectors that numpy still compares within some milliseconds a query."""


def build_index(ids: Sequence[str], vectors: FloatArray) -> Index:
    """Return an index that holds vectors (n, d): exact for few, FAISS for many."""
    index = _empty(len(ids), vectors.shape[1])
    index.upsert(ids, vectors)
    return index


def _empty(expected: int, dim: int) -> Index:
    if expected <= EXACT_UP_TO:
        return ExactIndex(dim)
    # Loaded only when needed: most projects never are that large.
    from core.indexes.faiss_flat import FaissIndex

    return FaissIndex(dim)
