"""Utterances that share words with wrong intents' names only (Siamese vs Non-Siamese, Sec. 4)."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

from core.text import continues_word

_WORD = re.compile(r"[^\W_]+")
_GAP = re.compile(r"[\W_]")

_FEW_INTENTS = 8
"""With fewer intents, half of them may well use a word that tells them apart."""


@dataclass(frozen=True, slots=True)
class Borderline:
    """An utterance whose words point to other intents than its own; `shared` has them by intent."""

    row: int
    shared: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class BorderlineRows:
    """Results of both stages of the selection.

    Attributes:
        without_own: Rows that share no word with their own intent's name.
        selected: Those of them that share a word with another intent's name.
    """

    without_own: tuple[int, ...]
    selected: tuple[Borderline, ...]

    @property
    def rows(self) -> list[int]:
        """The selected rows, ascending."""
        return [borderline.row for borderline in self.selected]


def words_of(text: str) -> frozenset[str]:
    """Cut a text or the name of an intent into words, ignoring case."""
    return frozenset(words_in_order(text))


def words_in_order(text: str) -> list[str]:
    """Cut a text into words, ignoring case.

    Vowel signs and accents stay with their letters: Hindi and Thai words fell into single letters.
    """
    folded = text.casefold()
    if folded.isascii():
        return _WORD.findall(folded)
    kept = _GAP.sub(lambda found: found[0] if continues_word(found[0]) else " ", folded)
    return [word for word in kept.split() if word[0].isalnum()]


def idle_words(
    texts: Sequence[str], intents: Sequence[Hashable], share: float = 0.5
) -> frozenset[str]:
    """Find words that utterances of most intents use, such as "a" and "my"; or of another share.

    They are counted, not listed, which works for any language and domain. `intents` holds the right
    intent of each text.
    """
    n_intents = len(set(intents))
    if n_intents < _FEW_INTENTS:
        return frozenset()
    said = {
        (intent, word)
        for text, intent in zip(texts, intents, strict=True)
        for word in words_of(text)
    }
    users = Counter(word for _, word in said)
    return frozenset(word for word, n in users.items() if n > share * n_intents)


def select_borderline(
    texts: Sequence[str],
    intents: Sequence[str],
    names: Sequence[str],
    idle: frozenset[str] = frozenset(),
    cut: Callable[[str], frozenset[str]] = words_of,
) -> BorderlineRows:
    """Find utterances that share no word with the right name, but one with a wrong name.

    `intents` holds the right one of `names` for each text. Lower-case words in `idle` do not count;
    the paper has none. `cut` cuts texts and names into words.
    """
    words = {name: cut(name) - idle for name in names}
    without_own: list[int] = []
    selected: list[Borderline] = []
    for row, (text, intent) in enumerate(zip(texts, intents, strict=True)):
        said = cut(text)
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
