"""Utterances that share words with wrong intent names alone (Siamese vs Non-Siamese, Section 4)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Borderline:
    """An utterance whose words speak for other intents than its own.

    Attributes:
        row: Which utterance.
        shared: Intents whose names it shares words with, and these words, both in order.
    """

    row: int
    shared: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class BorderlineRows:
    """What both stages of the selection leave.

    Attributes:
        without_own: Rows that share no word with their own intent's name.
        selected: Those of them that share one with another's.
    """

    without_own: tuple[int, ...]
    selected: tuple[Borderline, ...]

    @property
    def rows(self) -> list[int]:
        """Numbers of the borderline rows, rising."""
        return [one.row for one in self.selected]


def words_of(text: str) -> frozenset[str]:
    """Cut a text or the name of an intent into words, letter case apart."""
    return frozenset(_WORD.findall(text.casefold()))


def select_borderline(
    texts: Sequence[str], intents: Sequence[str], names: Sequence[str]
) -> BorderlineRows:
    """Find utterances that share no word with the right name, but one with a wrong one.

    Args:
        texts: The utterances.
        intents: The right intent of each, one of `names`.
        names: All intents.
    """
    words = {name: words_of(name) for name in names}
    without_own: list[int] = []
    selected: list[Borderline] = []
    for row, (text, intent) in enumerate(zip(texts, intents, strict=True)):
        said = words_of(text)
        if said & words[intent]:
            continue
        without_own.append(row)
        shared = {
            name: tuple(sorted(said & words[name]))
            for name in names
            if name != intent and said & words[name]
        }
        if shared:
            selected.append(Borderline(row, shared))
    return BorderlineRows(tuple(without_own), tuple(selected))
