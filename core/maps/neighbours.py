"""Exact search for the points nearest by cosine, with FAISS, in blocks of rows."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.types import FloatArray
from core.vectors import unit_rows

Progress = Callable[[float], None]
"""Called with the finished share, in [0, 1]; may raise to stop."""

_BLOCK = 4_096


def neighbours(
    embeddings: FloatArray, k: int, progress: Progress | None = None
) -> tuple[NDArray[np.int64], FloatArray]:
    """Find the k nearest other rows of every row, exactly, block by block.

    Returns rows, nearest first, (n, min(k, n - 1)) int64, and their cosines, float32.
    """
    return neighbours_of(np.arange(len(embeddings)), unit_rows(embeddings), k, progress)


def neighbours_of(
    rows: NDArray[np.int64], unit: FloatArray, k: int, progress: Progress | None = None
) -> tuple[NDArray[np.int64], FloatArray]:
    """Find the k nearest other rows of some unit rows; returns as `neighbours` does."""
    k = min(k, len(unit) - 1)
    if k <= 0 or not len(rows):
        return np.zeros((len(rows), 0), np.int64), np.zeros((len(rows), 0), np.float32)
    index = cosine_index(unit)
    near_rows, values = np.empty((len(rows), k), np.int64), np.empty((len(rows), k), np.float32)
    for part in row_blocks(len(rows)):
        block = rows[part]
        cosines, near = index.search(unit[block], k + 1)
        others = near != block[:, None]
        others[others.all(1), -1] = False  # equal texts displaced the row from its own list
        near_rows[part] = near[others].reshape(-1, k)
        values[part] = cosines[others].reshape(-1, k)
        if progress:
            progress(part.stop / len(rows))
    return near_rows, np.clip(values, -1.0, 1.0, out=values)


def cosine_index(unit: FloatArray) -> Any:
    """Return an exhaustive FAISS index over unit rows (n, d), so that products are cosines.

    Its `search(queries, k)` returns cosines and rows, (m, k) each, nearest first.
    """
    import faiss  # PCA needs no search

    index = faiss.IndexFlatIP(unit.shape[1])
    index.add(unit)
    return index


def row_blocks(n: int) -> Iterator[slice]:
    """Split n rows into blocks, to keep the arrays of one block small."""
    for start in range(0, n, _BLOCK):
        yield slice(start, min(start + _BLOCK, n))
