"""Response selection: rank replies to a conversation."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from core.encoders.base import Encoder
from core.encoders.convert.encoder import ConvertEncoder
from core.errors import ArtifactDamaged
from core.formats.dialogues import Pair, context_text, history_text
from core.types import FloatArray
from core.vectors import unit_rows

REPLY = "reply.safetensors"
"""File of the replies' layer, in its encoder's folder."""


@dataclass(frozen=True, slots=True)
class Ranker:
    """An encoder that ranks responses.

    `reply`, (d, d) float32, multiplies embeddings of responses. Without it both sides are the same
    function, which cannot tell the next turn from the one before.
    """

    encoder: Encoder
    reply: FloatArray | None = field(default=None, repr=False)

    @property
    def fingerprint(self) -> str:
        """SHA-256 over the encoder and the layer."""
        if self.reply is None:
            return self.encoder.fingerprint
        layer = np.ascontiguousarray(self.reply, np.float32).tobytes()
        return hashlib.sha256(self.encoder.fingerprint.encode() + layer).hexdigest()

    def encode_contexts(self, asked: Sequence[Pair]) -> FloatArray:
        """Embed contexts with the turns before them; (n, d) float32, length one.

        A ConveRT reads earlier turns by a side of their own, if it has one; other encoders read
        them as part of the text. `history` must be empty if the encoder was trained without it.
        """
        if isinstance(self.encoder, ConvertEncoder):
            histories = [history_text(pair.history) for pair in asked]
            return self.encoder.encode_contexts([pair.context for pair in asked], histories)
        return unit_rows(self.encoder.encode([context_text(pair) for pair in asked]))

    def encode_responses(self, texts: Sequence[str]) -> FloatArray:
        """Embed candidate replies; (n, d) float32, length one."""
        if isinstance(self.encoder, ConvertEncoder):
            return self.encoder.encode_side(texts, "response")
        rows = unit_rows(self.encoder.encode(texts))
        return rows if self.reply is None else unit_rows(rows @ self.reply.T)

    def save(self, folder: Path) -> None:
        """Write the encoder as usual, and the layer beside it."""
        self.encoder.save(folder)
        if self.reply is not None:
            save_file({"weight": np.ascontiguousarray(self.reply)}, folder / REPLY)


def load_ranker(folder: Path, encoder: Encoder) -> Ranker:
    """Join an encoder with its folder's reply layer, if any; ArtifactDamaged if it does not fit."""
    path = folder / REPLY
    if not path.is_file():
        return Ranker(encoder)
    try:
        reply = load_file(path)["weight"]
    except (OSError, KeyError, SafetensorError) as error:
        raise ArtifactDamaged(f"{path} cannot be read: {error}.") from error
    if reply.shape != (encoder.dim, encoder.dim):
        raise ArtifactDamaged(f"{path} is {reply.shape}; the encoder has {encoder.dim} numbers.")
    return Ranker(encoder, reply.astype(np.float32))


def rank_responses(
    ranker: Ranker, asked: Pair, candidates: Sequence[str], embedded: FloatArray | None = None
) -> list[tuple[str, float]]:
    """Rank candidate replies, the best first, each with its cosine in [-1, 1].

    `asked` is the last turn, with the earlier turns that the ranker was trained to read.
    `embedded`, if given, are the replies under `encode_responses`, (n, d) float32.
    """
    if not candidates:
        return []
    rows = ranker.encode_responses(candidates) if embedded is None else embedded
    cosines = rows @ ranker.encode_contexts([asked])[0]
    return sorted(zip(candidates, cosines.tolist(), strict=True), key=lambda reply: -reply[1])
