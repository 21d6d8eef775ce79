"""A deterministic toy encoder, for tests and demonstrations that must not load a real one."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.encoders.base import Progress
from core.errors import InvalidInput
from core.types import FloatArray


@dataclass(frozen=True, slots=True)
class HashingEncoder:
    """Counts character trigrams in hashed buckets; similar spelling gives similar rows."""

    dim: int = 64
    max_tokens: int = 512

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the width, the only parameter."""
        return hashlib.sha256(f"hashing-{self.dim}".encode()).hexdigest()

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> FloatArray:
        """Embed texts; (n, dim) float32, rows of length one."""
        rows = np.stack([self._row(text) for text in texts]) if texts else np.zeros((0, self.dim))
        if progress:
            progress(len(texts), len(texts))
        return rows.astype(np.float32)

    def save(self, folder: Path) -> None:
        """Refuse: no other program could load it."""
        raise InvalidInput(f"A toy encoder cannot be saved to {folder}.", "Use a real encoder.")

    def _row(self, text: str) -> FloatArray:
        row = np.full(self.dim, 1e-6, dtype=np.float32)
        padded = f"  {text.lower()}  "
        for start in range(len(padded) - 2):
            digest = hashlib.blake2b(padded[start : start + 3].encode(), digest_size=8).digest()
            row[int.from_bytes(digest, "little") % self.dim] += 1.0
        return row / np.float32(np.linalg.norm(row))
