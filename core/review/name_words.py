"""The words of intent names that tell intents apart, found in texts by their stems."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from core.review.borderline import words_of

_HUMP = re.compile(r"(?<=[a-z\d])(?=[A-Z])")
_FEWEST_NAMES = 3
_LARGE_SHARE = 0.125
"""A word in more names than this share says little about any of them."""

_STEM, _ENDING = 4, 3


def parts_of(name: str) -> frozenset[str]:
    """Cut a name such as "cardArrival" or "card_arrival" into words, ignoring case."""
    return words_of(_HUMP.sub(" ", name))


def shared_parts(names: Sequence[str]) -> frozenset[str]:
    """Return the words that many of the names share, such as "card" in the names of a bank."""
    users = Counter(word for name in names for word in parts_of(name))
    most = max(_FEWEST_NAMES - 1, _LARGE_SHARE * len(names))
    return frozenset(word for word, n in users.items() if n > most)


def one_stem(first: str, second: str) -> bool:
    """Whether two words are alike but for endings of at most three letters.

    Counted in letters, without a list of endings, so that it works in most languages.
    """
    if first == second:
        return True
    alike = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        alike += 1
    return alike >= _STEM and max(len(first), len(second)) - alike <= _ENDING


def reader_of(names: Sequence[str]) -> Callable[[str], frozenset[str]]:
    """Return a function that cuts texts and names into words, with name words for their stems."""
    by_start: dict[str, list[str]] = defaultdict(list)
    for word in sorted({word for name in names for word in parts_of(name)}):
        by_start[word[:_STEM]].append(word)
    known: dict[str, str] = {}

    def stemmed(word: str) -> str:
        if word not in known:
            alike = (other for other in by_start[word[:_STEM]] if one_stem(word, other))
            known[word] = next(alike, word)
        return known[word]

    return lambda text: frozenset(stemmed(word) for word in parts_of(text))


def similar_names(name: str, others: Sequence[str]) -> tuple[str, ...]:
    """Return the names that have a word of `name` in common, but for endings; the closest first.

    Words that many of the names share do not count. The closest has the largest share of common
    words among all words of the two.
    """
    shared = shared_parts(others)
    words = parts_of(name) - shared
    close: dict[str, float] = {}
    for other in others:
        parts = parts_of(other) - shared
        alike = {part for part in parts if any(one_stem(part, word) for word in words)}
        if alike:
            close[other] = len(alike) / (len(parts) + len(words) - len(alike))
    return tuple(sorted(close, key=lambda other: (-close[other], other)))
