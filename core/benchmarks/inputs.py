"""What benchmarks share: labelled texts, a callback for events, memory and adapter size."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.encoders.adapter.encoder import AdaptedEncoder
from core.encoders.base import Encoder
from core.memory import peak_bytes
from core.training.events import Event
from core.types import Exemplar, Intent

Watch = Callable[[Event], None]
"""Called with each event of a training."""


@dataclass(frozen=True, slots=True)
class LabelledTexts:
    """A file's texts, each with one intent."""

    texts: tuple[str, ...]
    intents: tuple[str, ...]

    def exemplars(self) -> tuple[Exemplar, ...]:
        """Return each text as an exemplar of its intent."""
        rows = enumerate(zip(self.texts, self.intents, strict=True))
        return tuple(Exemplar(str(row), text, (intent,)) for row, (text, intent) in rows)

    def of_rows(self, rows: Sequence[int]) -> "LabelledTexts":
        """Return the texts of these rows, in their order, with their intents."""
        texts = tuple(self.texts[row] for row in rows)
        return LabelledTexts(texts, tuple(self.intents[row] for row in rows))

    def distinct_intents(self) -> tuple[Intent, ...]:
        """Return the intents sorted by name, each once."""
        return tuple(Intent(name) for name in sorted(set(self.intents)))


def adapter_mb(encoder: Encoder) -> float | None:
    """Size of an encoder's adapter in MB of 1,000,000 bytes; None without an adapter."""
    if isinstance(encoder, AdaptedEncoder):
        return round(encoder.adapter.n_bytes / 1e6, 2)
    return None


def peak_mb() -> float:
    """Largest resident size of this process so far, in MB of 1,000,000 bytes."""
    return round(peak_bytes() / 1e6, 1)
