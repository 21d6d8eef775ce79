"""What the page shows of compression: whether it is possible, the strengths, one text."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CompressionView:
    """Whether a project's answers can be shown compressed.

    Attributes:
        reason: Why not; else empty.
        hint: What to do about it; else empty.
        marked: Number of examples with a marked value; only these move.
        voting: Number of examples that vote, compressed.
        total: Number of examples of the model.
    """

    ready: bool
    reason: str = ""
    hint: str = ""
    marked: int = 0
    voting: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class StrengthChoice:
    """How well held-out examples are answered at each strength.

    Attributes:
        strengths: Lambda^comp, rising.
        accuracies: Share of right answers at each strength, in [0, 1].
        suggested: The strength of the highest accuracy; among equals, the smallest.
        n: Number of held-out examples.
        basis: Method, in words.
    """

    strengths: tuple[float, ...]
    accuracies: tuple[float, ...]
    suggested: float
    n: int
    basis: str


@dataclass(frozen=True, slots=True)
class Near:
    """One of the nearest examples, compressed.

    Attributes:
        cosine: Cosine to the text, both compressed.
        before: Its rank among the nearest without compression, from 1.
    """

    id: str
    text: str
    intents: tuple[str, ...]
    cosine: float
    before: int


@dataclass(frozen=True, slots=True)
class Compressed:
    """Effect of compression on a text.

    Attributes:
        strength: Lambda^comp.
        template: The text with its recognised values replaced.
        values: The recognised values, each with the name of its slot.
        nearest: The nearest examples, the nearest first.
    """

    strength: float
    template: str
    values: tuple[tuple[str, str], ...]
    nearest: tuple[Near, ...]
