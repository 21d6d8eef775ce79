"""Embed texts, keeping what was computed for the next time."""

from collections.abc import Callable, Sequence

import numpy as np

from core.encoders.base import Encoder
from core.text import text_hash
from core.types import FloatArray
from storage import vectors
from storage.database import Database


def cached_embed(database: Database) -> Callable[[Encoder, Sequence[str]], FloatArray]:
    """Return a function that embeds with an encoder, taking known rows from the database."""

    def embed(encoder: Encoder, texts: Sequence[str]) -> FloatArray:
        hashes = [text_hash(text) for text in texts]
        with database.read() as connection:
            known = vectors.get_many(connection, encoder.fingerprint, hashes, encoder.dim)
        missing = {h: t for h, t in zip(hashes, texts, strict=True) if h not in known}
        if missing:
            fresh = dict(zip(missing, encoder.encode(list(missing.values())), strict=True))
            with database.write() as connection:
                vectors.put_many(connection, encoder.fingerprint, fresh)
            known |= fresh
        return np.stack([known[key] for key in hashes])

    return embed
