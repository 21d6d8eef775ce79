"""What the page shows of compression: whether it is possible, the strengths, one text."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CompressionView:
    """Whether a project's answers can be looked at compressed.

    Attributes:
        ready: Whether they can.
        reason: Why not; else empty.
        hint: What to do about it; else empty.
        marked: Examples with a marked value: those that move.
        voting: Examples that vote, compressed.
        total: Examples of the model.
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
        accuracies: Share of right answers at each, in [0, 1].
        suggested: The strength of the highest accuracy; of equals the smallest.
        n: Examples that were asked.
        basis: How, in words.
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
        id: Of the utterance.
        text: What it says.
        intents: Its label.
        cosine: To the text, compressed both.
        before: Which of the nearest it is without compression, from 1.
    """

    id: str
    text: str
    intents: tuple[str, ...]
    cosine: float
    before: int


@dataclass(frozen=True, slots=True)
class Compressed:
    """What compression made of a text.

    Attributes:
        strength: Lambda^comp.
        template: The text without its values, as far as they were recognised.
        values: Those values, each with the name of its slot.
        nearest: The nearest examples, the nearest first.
    """

    strength: float
    template: str
    values: tuple[tuple[str, str], ...]
    nearest: tuple[Near, ...]
