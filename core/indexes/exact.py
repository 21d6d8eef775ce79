"""Exhaustive search in numpy: the reference for every other index."""

from collections.abc import Sequence

import numpy as np

from core.indexes.checks import checked_queries, checked_rows, require_held
from core.types import FloatArray, ScoreArray
from core.vectors import cosines, nearest

_CHUNK = 256


class ExactIndex:
    """Compares each query with every vector, in float64; fit for some 20,000 vectors.

    Equal cosines keep the order in which their ids were first added.
    """

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._vectors = np.zeros((0, dim), dtype=np.float32)
        self._row_of: dict[str, int] = {}

    @property
    def dim(self) -> int:
        """Width of a vector."""
        return self._dim

    def __len__(self) -> int:
        """How many ids are held."""
        return len(self._row_of)

    def upsert(self, ids: Sequence[str], vectors: FloatArray) -> None:
        """Add vectors (n, dim), replacing those whose id is held; of one id twice the last counts.

        Raises:
            ValueError: Ids and vectors are not equally many, or the width differs.
        """
        rows = checked_rows(ids, vectors, self._dim)
        for name in rows:
            self._row_of.setdefault(name, len(self._row_of))
        grown = np.zeros((len(self._row_of), self._dim), dtype=np.float32)
        grown[: len(self._vectors)] = self._vectors
        if rows:
            grown[[self._row_of[name] for name in rows]] = np.stack(list(rows.values()))
        self._vectors = grown

    def remove(self, ids: Sequence[str]) -> None:
        """Forget ids.

        Raises:
            NotFound: An id is not held; then none is removed.
        """
        require_held(ids, self._row_of)
        gone = set(ids)
        kept = [name for name in self._row_of if name not in gone]
        self._vectors = self._vectors[[self._row_of[name] for name in kept]]
        self._row_of = {name: row for row, name in enumerate(kept)}

    def search(self, queries: FloatArray, k: int) -> tuple[list[tuple[str, ...]], ScoreArray]:
        """Find the k nearest of each query (n, dim), nearest first.

        Returns:
            The ids of each query, and their cosines, (n, min(k, len)) float64 in [-1, 1].
        """
        names = list(self._row_of)
        unit = checked_queries(queries, self._dim)
        found: list[tuple[str, ...]] = []
        values = np.zeros((len(unit), min(k, len(names))))
        for start in range(0, len(unit), _CHUNK):
            similarity = cosines(unit[start : start + _CHUNK], self._vectors)
            rows = nearest(similarity, k)
            values[start : start + _CHUNK] = np.take_along_axis(similarity, rows, 1)
            found += [tuple(names[row] for row in line) for line in rows.tolist()]
        return found, values
