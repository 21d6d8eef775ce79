"""Exhaustive search by FAISS: float32, for more vectors than numpy compares quickly."""

from collections.abc import Sequence

import faiss
import numpy as np

from core.indexes.checks import checked_queries, checked_rows, require_held
from core.types import FloatArray, ScoreArray


class FaissIndex:
    """Inner products of unit vectors under numbers that stand for the ids."""

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._index = faiss.IndexIDMap2(faiss.IndexFlatIP(dim))
        self._number_of: dict[str, int] = {}
        self._id_of: dict[int, str] = {}
        self._next = 0

    @property
    def dim(self) -> int:
        """Width of a vector."""
        return self._dim

    def __len__(self) -> int:
        """How many ids are held."""
        return len(self._number_of)

    def upsert(self, ids: Sequence[str], vectors: FloatArray) -> None:
        """Add vectors (n, dim), replacing those whose id is held; of one id twice the last counts.

        Raises:
            ValueError: Ids and vectors are not equally many, or the width differs.
        """
        rows = checked_rows(ids, vectors, self._dim)
        self._forget([name for name in rows if name in self._number_of])
        if not rows:
            return
        numbers = np.arange(self._next, self._next + len(rows), dtype=np.int64)
        self._next += len(rows)
        self._index.add_with_ids(np.stack(list(rows.values())), numbers)
        for name, number in zip(rows, numbers.tolist(), strict=True):
            self._number_of[name] = number
            self._id_of[number] = name

    def remove(self, ids: Sequence[str]) -> None:
        """Forget ids.

        Raises:
            NotFound: An id is not held; then none is removed.
        """
        require_held(ids, self._number_of)
        self._forget(list(dict.fromkeys(ids)))

    def search(self, queries: FloatArray, k: int) -> tuple[list[tuple[str, ...]], ScoreArray]:
        """Find the k nearest of each query (n, dim), nearest first.

        Returns:
            The ids of each query, and their cosines, (n, min(k, len)) float64 in [-1, 1].
        """
        unit = checked_queries(queries, self._dim)
        k = min(k, len(self))
        if k == 0 or not len(unit):
            return [()] * len(unit), np.zeros((len(unit), k))
        products, numbers = self._index.search(unit, k)
        found = [tuple(self._id_of[number] for number in line) for line in numbers.tolist()]
        return found, np.clip(products.astype(np.float64), -1.0, 1.0)

    def _forget(self, ids: Sequence[str]) -> None:
        if not ids:
            return
        numbers = [self._number_of.pop(name) for name in ids]
        for number in numbers:
            del self._id_of[number]
        self._index.remove_ids(faiss.IDSelectorBatch(np.asarray(numbers, dtype=np.int64)))
