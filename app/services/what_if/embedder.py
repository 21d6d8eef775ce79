"""Embeddings of the texts that a question is about, and their kernel with the watched texts."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from app.services.what_if.prepared_texts import PreparedTexts
from core.text import text_hash
from core.types import FloatArray, ScoreArray
from core.vectors import unit_rows
from storage.computed import vectors
from storage.database import Database


@dataclass(frozen=True, slots=True, eq=False)
class Embedder:
    """Embeds texts, each once for a request, and compares them with the watched texts.

    Stores none: many of them are still being typed.
    """

    database: Database
    prepared: PreparedTexts
    embedded: dict[str, FloatArray] = field(default_factory=dict)
    kernels: dict[str, ScoreArray] = field(default_factory=dict)

    def heard(self, texts: Sequence[str]) -> ScoreArray | None:
        """Return the kernel of texts with the watched texts, (texts, n); None for no text.

        While many people label, all previews of a request add the same hundreds of texts.
        """
        from core.heads.votes.kernel import kernel

        fresh = list(dict.fromkeys(text for text in texts if text not in self.kernels))
        if fresh:
            units, tau = unit_rows(self(fresh)), self.prepared.votes.head.tau
            rows = kernel(units, self.prepared.watched.unit, tau)
            self.kernels.update(zip(fresh, rows, strict=True))
        return np.stack([self.kernels[text] for text in texts]) if texts else None

    def __call__(self, texts: Sequence[str]) -> FloatArray:
        """Return the embeddings of texts, (texts, d) float32."""
        encoder = self.prepared.live.pipeline.encoder
        by_hash = {text_hash(text): text for text in texts}
        fresh = [key for key in by_hash if key not in self.embedded]
        if fresh:
            with self.database.read() as connection:
                stored = vectors.get_many(connection, encoder.fingerprint, fresh, encoder.dim)
            self.embedded.update(stored)
            missing = [key for key in fresh if key not in stored]
            if missing:
                rows = encoder.encode([by_hash[key] for key in missing])
                self.embedded.update(zip(missing, rows, strict=True))
        if not texts:
            return np.zeros((0, encoder.dim), np.float32)
        return np.stack([self.embedded[text_hash(text)] for text in texts])
