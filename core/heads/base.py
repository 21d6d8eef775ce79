"""The protocol of heads: embeddings in, one score per intent out."""

from typing import Protocol

from core.types import FloatArray, ScoreArray


class Head(Protocol):
    """A fitted, immutable head; there is no unfitted one."""

    @property
    def kind(self) -> str:
        """Name in the recipe."""
        ...

    @property
    def intents(self) -> tuple[str, ...]:
        """Names of the score columns."""
        ...

    def scores(self, embeddings: FloatArray) -> ScoreArray:
        """Score embeddings (n, d) of any length; (n, intents) float64, higher is better."""
        ...


class StoredHead(Head, Protocol):
    """A head that is stored as numbers and arrays."""

    @property
    def consistent(self) -> bool:
        """Whether the shapes of its arrays fit together."""
        ...
