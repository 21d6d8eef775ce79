"""Which two intents are mixed up, and by which texts: one rule for the map, Review and reports."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from core.text import counted

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class WrongAnswer(Generic[T]):
    """A text with a label that got another answer.

    Attributes:
        is_test: Whether it is a test text; else it is an example, answered without its own vote.
    """

    label: str
    answer: str
    text: T
    is_test: bool


@dataclass(frozen=True, slots=True)
class MixUp(Generic[T]):
    """Two intents of which texts of one get the other as answer, counted both ways.

    Attributes:
        pair: First the one of which more texts are answered as the other.
        wrong: The test texts first, then the examples.
    """

    pair: tuple[str, str]
    wrong: tuple[WrongAnswer[T], ...]

    @property
    def n_back(self) -> int:
        """Number of texts of the second that are answered as the first."""
        return sum(one.label == self.pair[1] for one in self.wrong)

    @property
    def measure(self) -> str:
        """How many texts these are, test texts and examples apart, in words."""
        n_tests = sum(one.is_test for one in self.wrong)
        kinds = ((n_tests, "test text"), (len(self.wrong) - n_tests, "example"))
        return ", ".join(counted(n, kind) for n, kind in kinds if n)


def mixed_up(wrong: Iterable[WrongAnswer[T]]) -> list[MixUp[T]]:
    """Gather wrong answers by the two intents of label and answer, the most frequent pair first."""
    found: dict[tuple[str, str], list[WrongAnswer[T]]] = {}
    for one in wrong:
        low, high = sorted((one.label, one.answer))
        found.setdefault((low, high), []).append(one)
    pairs = [_mix_up(pair, texts) for pair, texts in found.items()]
    return sorted(pairs, key=lambda one: (-len(one.wrong), one.pair))


def _mix_up(pair: tuple[str, str], wrong: list[WrongAnswer[T]]) -> MixUp[T]:
    n_low = sum(one.label == pair[0] for one in wrong)
    ways = pair if 2 * n_low >= len(wrong) else (pair[1], pair[0])
    return MixUp(ways, tuple(sorted(wrong, key=lambda one: not one.is_test)))
