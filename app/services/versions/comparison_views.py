"""What a comparison of two model versions found, and the decision of the gate about it."""

from dataclasses import dataclass
from typing import Literal

from core.metrics.paired import Difference, IntentRecall, PairedAnswer
from core.types import Task


@dataclass(frozen=True, slots=True)
class PinChange:
    """A pin and what both models answer; empty is out of scope, or no intent."""

    text: str
    expected: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def verdict(self) -> Literal["fixed", "broken", "kept", "missed"]:
        """What the candidate does with it; `missed` is wrong both times."""
        was_right, is_right = (
            set(said) == set(self.expected) for said in (self.before, self.after)
        )
        if is_right:
            return "kept" if was_right else "fixed"
        return "broken" if was_right else "missed"


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """A candidate against a champion.

    Attributes:
        candidate: `PROJECT@N`.
        champion: `PROJECT@N`.
        basis: What accuracies rest on: the test split as it is now, the figures stored with both
            versions (when they were judged alike), or nothing.
        n: Texts that both were judged on.
        before: Accuracy of the champion in [0, 1], or None without a basis; for several labels the
            share of exact matches.
        after: The same of the candidate.
        difference: The gain with its 95 % interval.
        refused: How many of the texts the champion and the candidate answer with no intent.
        left_out: Texts of the test split that one of the two was trained on.
        intents: Recall of each intent, the largest loss first; for the test split alone.
        answers: Texts whose answer changed; for the test split alone.
        pins: Every pin with both answers.
        stale_pins: Pins that expect an intent which is archived or gone; they are not judged.
        words: All this in sentences.
        task: Whether answers are one intent, or any number of them.
        f1: For several labels, micro F1 of champion and candidate on the same texts; else None.
    """

    candidate: str
    champion: str
    basis: Literal["test split", "stored figures", "nothing"]
    n: int
    before: float | None
    after: float | None
    difference: Difference | None
    refused: tuple[int, int]
    left_out: int
    intents: tuple[IntentRecall, ...]
    answers: tuple[PairedAnswer, ...]
    pins: tuple[PinChange, ...]
    stale_pins: int
    words: tuple[str, ...] = ()
    task: Task = "single-label"
    f1: tuple[float, float] | None = None

    def pins_of(self, verdict: str) -> tuple[PinChange, ...]:
        """Pins of one verdict."""
        return tuple(pin for pin in self.pins if pin.verdict == verdict)


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """Whether a candidate may become champion, and why."""

    promote: bool
    reasons: tuple[str, ...]
