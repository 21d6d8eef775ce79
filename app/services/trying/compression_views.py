"""What the page shows of compression: whether it is possible, the strengths, one text."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CompressionView:
    """Whether a project's answers can be shown compressed.

    Attributes:
        reason: Why not; else empty.
        hint: What to do about it; else empty.
        marked: Number of examples with a marked value; only these move.
    """

    ready: bool
    reason: str = ""
    hint: str = ""
    marked: int = 0
    voting: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class StrengthChoice:
    """Accuracies on held-out examples, in [0, 1], by strength (lambda^comp), rising."""

    strengths: tuple[float, ...]
    accuracies: tuple[float, ...]
    suggested: float
    n: int
    basis: str


@dataclass(frozen=True, slots=True)
class Near:
    """One of the nearest examples, with its cosine to the text, both compressed.

    `before` is its rank among the nearest without compression, from 1.
    """

    id: str
    text: str
    intents: tuple[str, ...]
    cosine: float
    before: int


@dataclass(frozen=True, slots=True)
class Compressed:
    """Effect of compression on a text: its template, recognised values, and nearest examples."""

    strength: float
    template: str
    values: tuple[tuple[str, str], ...]
    nearest: tuple[Near, ...]
