"""What every encoder offers: texts in, one row of numbers per text out."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from core.types import FloatArray

Progress = Callable[[int, int], None]
"""Called with how many texts are done, and how many there are."""


class Encoder(Protocol):
    """Maps texts to embeddings; equal fingerprints promise equal embeddings."""

    @property
    def dim(self) -> int:
        """Width of an embedding."""
        ...

    @property
    def fingerprint(self) -> str:
        """SHA-256 over everything that the embeddings depend on."""
        ...

    @property
    def max_tokens(self) -> int:
        """Longer texts are cut here."""
        ...

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> FloatArray:
        """Embed texts in their order; (n, dim) float32."""
        ...

    def save(self, folder: Path) -> None:
        """Write a plain sentence-transformers folder."""
        ...
