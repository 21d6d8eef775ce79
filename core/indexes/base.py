"""What every index offers: ids to cosine similarity, higher is closer."""

from collections.abc import Sequence
from typing import Protocol

from core.types import FloatArray, ScoreArray


class Index(Protocol):
    """Finds the vectors nearest by cosine; vectors may have any length.

    Equal cosines may come in any order of their ids.
    """

    @property
    def dim(self) -> int:
        """Width of a vector."""
        ...

    def __len__(self) -> int:
        """How many ids are held."""
        ...

    def upsert(self, ids: Sequence[str], vectors: FloatArray) -> None:
        """Add vectors (n, dim), replacing those whose id is held; of one id twice the last counts.

        Raises:
            ValueError: Ids and vectors are not equally many, or the width differs.
        """
        ...

    def remove(self, ids: Sequence[str]) -> None:
        """Forget ids.

        Raises:
            NotFound: An id is not held; then none is removed.
        """
        ...

    def search(self, queries: FloatArray, k: int) -> tuple[list[tuple[str, ...]], ScoreArray]:
        """Find the k nearest of each query (n, dim), nearest first.

        Returns:
            The ids of each query, and their cosines, (n, min(k, len)) float64 in [-1, 1].
        """
        ...
