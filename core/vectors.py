"""Unit rows and their cosines, for heads, maps and metrics."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from core.types import FloatArray, ScoreArray

AnyRows = TypeVar("AnyRows", FloatArray, ScoreArray)

_ROUNDING = 1e-6
"""Tolerance around length one in float32, whose rounding is about 1e-7."""

_TINY = 1e-12


def unit_rows(embeddings: FloatArray) -> FloatArray:
    """Scale rows to length one; (n, d) float32. A zero row stays zero.

    Rows of length one keep their bits, so that scaling twice equals scaling once: a head fitted
    again on its own exemplars is the same head.
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", embeddings, embeddings, dtype=np.float64))[:, None]
    lengths[(np.abs(lengths - 1.0) < _ROUNDING) | (lengths < _TINY)] = 1.0
    unit: FloatArray = (embeddings / lengths).astype(np.float32)
    return unit


def sums_of(rows: AnyRows, of: NDArray[np.int64], n_groups: int) -> AnyRows:
    """Sum the rows (n, d) of each group, in the precision of the rows; (n_groups, d)."""
    sums: AnyRows = np.zeros((n_groups, rows.shape[1]), dtype=rows.dtype)
    np.add.at(sums, of, rows)
    return sums


def mean_directions(unit: FloatArray, of: NDArray[np.int64], n_groups: int) -> FloatArray:
    """Return the mean direction of each group's rows of length 1, (n_groups, d) float32."""
    return unit_rows(sums_of(unit, of, n_groups))


def cosines(left: FloatArray, right: FloatArray) -> ScoreArray:
    """Cosine of every pair of unit rows; (n, d) and (m, d) to (n, m) float64 in [-1, 1].

    Summed in float64: the bits of a float32 product depend on the number of rows, so that a text
    would score differently alone and among others.
    """
    products: ScoreArray = left.astype(np.float64) @ right.astype(np.float64).T
    return np.clip(products, -1.0, 1.0, out=products)


def nearest(similarity: AnyRows, k: int) -> NDArray[np.int64]:
    """Columns of the k largest values of each row, falling; (n, min(k, m)) int64.

    Equal values keep the order of their columns, so that the result is deterministic.
    """
    k = min(k, similarity.shape[1])
    if k == 0:
        return np.zeros((len(similarity), 0), dtype=np.int64)
    limit = -np.partition(-similarity, k - 1, axis=1)[:, k - 1 : k]
    # All values above the limit are chosen; the first columns equal to it fill the rest.
    ties = similarity == limit
    above = similarity > limit
    room = k - above.sum(1, keepdims=True)
    chosen = above | (ties & (np.cumsum(ties, axis=1) <= room))
    columns = np.nonzero(chosen)[1].reshape(len(similarity), k)
    order = np.argsort(-np.take_along_axis(similarity, columns, 1), axis=1, kind="stable")
    return np.take_along_axis(columns, order, 1)
