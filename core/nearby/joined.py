"""Texts that are joined with their nearest: a graph."""

from typing import TYPE_CHECKING

import numpy as np

from core.nearby.search import Nearby

if TYPE_CHECKING:
    from scipy import sparse


def joined(near: Nearby, width: float) -> "sparse.csr_array":
    """Join neighbours in either direction by exp((cosine - 1) / width), (n, n) float64.

    Each text has at least one neighbour. Over `width` of the cosine an edge loses a factor e.
    """
    from scipy import sparse

    n, k = near.rows.shape
    weights = np.exp((near.cosines.astype(np.float64) - 1.0) / width)
    ends = np.arange(0, n * k + 1, k)
    one_way = sparse.csr_array((weights.ravel(), near.rows.ravel(), ends), shape=(n, n))
    return one_way.maximum(one_way.T).tocsr()
