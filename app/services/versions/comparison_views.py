"""The result of comparing two model versions, and the gate's decision about it."""

from dataclasses import dataclass
from typing import Literal

from core.metrics.paired import Difference, IntentRecall, PairedAnswer
from core.types import Task

Outcome = Literal["better", "alike", "worse", "unknown"]
Moment = Literal["now", "trained"]


@dataclass(frozen=True, slots=True)
class PinChange:
    """A pin and the answers of both models; an empty answer is out of scope, or no intent."""

    text: str
    expected: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def verdict(self) -> Literal["fixed", "broken", "kept", "missed"]:
        """What changes about the pin; `missed` is wrong both times."""
        was_right, is_right = (
            set(said) == set(self.expected) for said in (self.before, self.after)
        )
        if is_right:
            return "kept" if was_right else "fixed"
        return "broken" if was_right else "missed"


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """A candidate compared with a champion.

    Attributes:
        moment: `now`: each as it would answer if it were in use now, with all labels up to now;
            `trained`: without the labels given since its training.
        basis: Basis of the accuracies: the present test split, the figures stored with both
            versions (when evaluated alike), or nothing.
        before: Share of the champion's right answers, in [0, 1], or None without a basis. A text
            that is refused is answered wrongly; of several labels only exact matches are right.
        after: The same of the candidate.
        refused: Number of texts with an intent that are answered with none, by champion and
            candidate.
        outside_n: Number of test texts that fit no intent; for one intent a text only.
        outside_refused: How many of these champion and candidate refuse.
        outside_difference: Change of the share of these that is refused; None without such texts.
        left_out: Texts of the test split that one of the two was trained on.
        intents: Recall of each intent, the largest loss first; for the test split only.
        f1: For several labels, micro F1 of champion and candidate on the same texts; else None.
        outcome: Whether the candidate is better or worse, alike within chance, or nobody knows.
        verdict: How many texts each answers right, in words, and whether the difference is luck.
        chose_line: Whether a person has chosen the limit for out of scope by the same texts.
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
    outcome: Outcome = "unknown"
    verdict: str = ""
    moment: Moment = "trained"
    outside_n: int = 0
    outside_refused: tuple[int, int] = (0, 0)
    outside_difference: Difference | None = None
    chose_line: bool = False

    def pins_of(self, verdict: str) -> tuple[PinChange, ...]:
        """Return the pins of one verdict."""
        return tuple(pin for pin in self.pins if pin.verdict == verdict)


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """Whether a candidate may become champion, and why."""

    promote: bool
    reasons: tuple[str, ...]
