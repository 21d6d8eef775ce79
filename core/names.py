"""Names of intents as something to be near to: an intent with a name alone is answered at once."""

from collections.abc import Sequence

import numpy as np

from core.encoders.base import Encoder
from core.encoders.dual import names_side
from core.heads.points import PointHead, fit_names
from core.losses.naming import Similarity
from core.types import FloatArray, Intent


class NameCache:
    """Embedded names, each by its encoder and its wording; other weights or words are read anew."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], FloatArray] = {}

    def embed(self, encoder: Encoder, texts: Sequence[str]) -> FloatArray:
        """Embed names by the side of the encoder that reads them; (n, dim) float32."""
        side = names_side(encoder)
        own = side.fingerprint
        missing = [text for text in dict.fromkeys(texts) if (own, text) not in self._rows]
        if missing:
            rows = side.encode(missing)
            self._rows |= {(own, text): row for text, row in zip(missing, rows, strict=True)}
        found = [self._rows[own, text] for text in texts]
        return np.stack(found) if found else np.zeros((0, side.dim), dtype=np.float32)


def label_text(intent: Intent) -> str:
    """Write an intent's name as words, with its description, for an encoder to read."""
    name = intent.name.replace("_", " ").replace("-", " ").strip(" ?.!").lower()
    return f"{name}: {intent.description.strip()}" if intent.description.strip() else name


def names_head(
    encoder: Encoder,
    intents: Sequence[Intent],
    similarity: Similarity = "cosine",
    cache: NameCache | None = None,
) -> PointHead:
    """Answer with the nearest of these names; none of them needs an example (zero-shot).

    Args:
        encoder: Trained to names, or not.
        intents: Those that may be answered.
        similarity: As in training.
        cache: What is kept from one call to the next.
    """
    rows = (cache or NameCache()).embed(encoder, [label_text(intent) for intent in intents])
    return fit_names(rows, [intent.name for intent in intents], similarity)
