"""Names of groups from the words that set them apart: TF-IDF with groups in place of texts."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import log

import numpy as np
from numpy.typing import NDArray

from core.review.borderline import words_in_order
from core.text import plain_name

_TERMS, _NAMING = 3, 2
"""Terms of a description; the first ones are the name."""

_FEWEST = 2
"""A term of one text alone names no group, unless the group is that text."""

_TELLING = log(2)
"""A term with a lower logarithm is used by more than half of the groups, such as `is` and `my`."""

_OF_INTENTS = 3
"""A word of more than one in so many intents says nothing about any."""

_HEARD = 60
"""Words of a text that can name its group: of e-mails, all pairs of words fill the memory."""

_SPOKEN = (4, 6)
"""Words of a name that stands as people say it: "charged a fee", "extra fee on my statement"."""

_STEM = 3
"""Letters from which on a word that begins another one says the same: `card` and `cards`."""

_SAME_BEGINNING, _OWN_END = 6, 3
"""Words that begin alike, and end in a few letters, say the same: `activate`, `activating`."""

_IDLE_WORDS = """
a about all am an and any are as at be been but by can come comes coming could did do does doing for
from get gets getting go goes going got had has have how i if in into is it its just let like make
me my no not of on one or our out please should so some something that the their them then there
they thing this to up us want was we were what when where which who whose why will with would
you your
"""
_IDLE = frozenset(_IDLE_WORDS.split())
"""English words that tell nothing of what a text is about: such words alone are no name."""

_NOT_AT_THE_BEGINNING = frozenset(("a", "an", "and", "be", "is", "of", "or", "s", "the"))
_NOT_AT_THE_END = _NOT_AT_THE_BEGINNING | {"my", "your"}
"""English words that a name of several words does not begin or end with."""

_LONGEST = 40
"""Signs of a word or of a text that can be a name: a longer one is an address, or a sentence."""


def group_terms(
    texts: Sequence[str],
    of: NDArray[np.int64],
    n_groups: int,
    beside: Sequence[Sequence[str]] = (),
) -> tuple[tuple[str, ...], ...]:
    """Return the three words and pairs of words of each group that say most about it.

    The best come first, but for the first two, which stand as they are spoken.

    A term's weight is its share of the group's texts times log(groups / groups that use it, in at
    least two texts); a pair's logarithm is at most that of its rarer word. `of` has each text's
    group, (n,). A term that shares a word with a better one, or its beginning, is left out. So are
    terms that more than half of the groups use, or more than a third of the intents, whose texts
    are `beside`, and numbers, unless a group has no others: of a few groups often one alone asks
    `which`.
    """
    counts: list[Counter[str]] = [Counter() for _ in range(n_groups)]
    for text, group in zip(texts, of.tolist(), strict=True):
        counts[group].update(set(_terms(text)))
    sizes = np.bincount(of, minlength=n_groups).tolist()
    usual = [_usual(counted, size) for counted, size in zip(counts, sizes, strict=True)]
    users = Counter(term for shares in usual for term in shares)
    rare = {term: log(n_groups / number) for term, number in users.items()}
    rare |= dict.fromkeys(_common(beside) & rare.keys(), 0.0)
    # Two common words say no more together: "for a" is rare in other groups, and tells nothing.
    rare = {term: min(rare[term], max(rare[word] for word in term.split())) for term in rare}
    best = [_best(shares, rare) for shares in usual]
    return _as_spoken(texts, of, best)


def _as_spoken(
    texts: Sequence[str], of: NDArray[np.int64], best: list[tuple[str, ...]]
) -> tuple[tuple[str, ...], ...]:
    """Put the first two terms of each group, which name it, into their usual order in its texts."""
    turned = [0] * len(best)
    for text, group in zip(texts, of.tolist(), strict=True):
        spoken = f" {' '.join(_heard(text))} "
        pair = [spoken.find(f" {term} ") for term in best[group][:_NAMING]]
        if len(pair) == _NAMING and min(pair) >= 0:
            turned[group] += 1 if pair[0] > pair[1] else -1
    return tuple(
        (terms[1], terms[0], *terms[2:]) if turns > 0 else terms
        for terms, turns in zip(best, turned, strict=True)
    )


def _common(beside: Sequence[Sequence[str]]) -> set[str]:
    """Return the words that more than a third of some intents use, given the texts of each."""
    usual = (
        _usual(Counter(t for text in said for t in set(_terms(text))), len(said)) for said in beside
    )
    users = Counter(term for shares in usual for term in shares)
    return {term for term, number in users.items() if number * _OF_INTENTS > len(beside)}


def name_of(terms: Sequence[str], texts: Sequence[str] = ()) -> str:
    """Name a group by its first two terms, such as `lost card`; empty where they say nothing.

    Where at least two of its texts have both terms within four words, in whichever order, or else
    within six, the name is what most of them say from one to the other: `change my pin` rather
    than `change pin`. Else it is the shortest text with both, if it is no longer than a name.
    Terms say nothing if there are none, or if they are words such as `where` and `come` alone.
    """
    name = _trimmed(_spoken_name(terms, texts))
    return name if tells_something(name) else ""


def tells_something(term: str) -> bool:
    """Tell whether a word of a term says what a text is about, unlike `how` and `is`."""
    return not _IDLE.issuperset(words_in_order(term))


def _trimmed(name: str) -> str:
    """Leave out what a name does not begin or end with, and the `s` of `bill's minimum`."""
    words = name.split()
    if len(words) < _FEWEST:
        return name
    while words and words[0] in _NOT_AT_THE_BEGINNING:
        words.pop(0)
    while words and words[-1] in _NOT_AT_THE_END:
        words.pop()
    return " ".join(word for word in words if word != "s")


def _spoken_name(terms: Sequence[str], texts: Sequence[str]) -> str:
    pair = [term.split() for term in terms[:_NAMING]]
    if len(pair) < _NAMING:
        return " ".join(terms)
    said = [_heard(text) for text in texts]
    both = [row for row, words in enumerate(said) if all(_has(words, term) for term in pair)]
    for length in _SPOKEN:
        spans = Counter(span for row in both for span in _spans(said[row], pair, length))
        usual = [span for span, n in spans.items() if n >= _FEWEST]
        if usual:
            return min(usual, key=lambda span: (-spans[span], len(span), span))
    return _shortest([texts[row] for row in both]) or " ".join(terms[:_NAMING])


def _shortest(texts: Sequence[str]) -> str:
    """Return the shortest text that is no longer than a name; empty if there is none."""
    names = (plain_name(" ".join(text.split())).rstrip("?!. ") for text in texts)
    return min((name for name in names if len(name) <= _LONGEST), key=_by_length, default="")


def _by_length(name: str) -> tuple[int, str]:
    return len(name), name


def _has(words: Sequence[str], term: Sequence[str]) -> bool:
    return f" {' '.join(term)} " in f" {' '.join(words)} "


def _spans(words: Sequence[str], pair: Sequence[Sequence[str]], most: int) -> set[str]:
    """Return what is said from one of two terms to the other in so many words, each once."""
    found: set[str] = set()
    for head, tail in (pair, pair[::-1]):
        for length in range(len(head) + len(tail), most + 1):
            for at in range(len(words) - length + 1):
                span = list(words[at : at + length])
                if span[: len(head)] == list(head) and span[-len(tail) :] == list(tail):
                    found.add(" ".join(span))
    return found


def name_after(text: str) -> str:
    """Return the beginning of a text, to name a group whose texts have no term in common.

    Texts of a language without spaces have none, unless they repeat whole sentences.
    """
    whole = plain_name(" ".join(text.split()))
    if len(whole) <= _LONGEST:
        return whole
    return whole[: _LONGEST + 1].rpartition(" ")[0] or whole[:_LONGEST]


def _heard(text: str) -> Sequence[str]:
    return words_in_order(text)[:_HEARD]


def _terms(text: str) -> Iterator[str]:
    words = [word for word in _heard(text) if len(word) <= _LONGEST]
    yield from words
    yield from (f"{first} {second}" for first, second in pairwise(words))


def _usual(counted: Counter[str], size: int) -> dict[str, float]:
    """Return the terms of enough texts of a group to name it, with their shares of the texts."""
    fewest = min(_FEWEST, size)
    return {term: n / size for term, n in counted.items() if n >= fewest}


def _best(shares: dict[str, float], rare: dict[str, float]) -> tuple[str, ...]:
    telling = [term for term in shares if rare[term] >= _TELLING and not _has_number(term)]
    best: list[str] = []
    used: set[str] = set()
    weights = {term: (-shares[term] * rare[term], -shares[term]) for term in telling or shares}
    for term in sorted(weights, key=lambda term: (*weights[term], *_order(term))):
        words = set(term.split())
        if not any(_alike(word, other) for word in words for other in used):
            best.append(term)
            used |= words
        if len(best) == _TERMS:
            break
    return tuple(best)


def _has_number(term: str) -> bool:
    """Whether a word of it is a number, such as somebody's PIN."""
    return any(word.isdigit() for word in term.split())


def _alike(word: str, other: str) -> bool:
    """Tell whether two words are forms of one, as `expire` and `expires`, or `activating`."""
    short, long = sorted((word, other), key=len)
    if short == long or (len(short) >= _STEM and long.startswith(short)):
        return True
    same = max(_SAME_BEGINNING, len(long) - _OWN_END)
    return len(short) >= same and short[:same] == long[:same]


def _order(term: str) -> tuple[int, int, str]:
    """Order terms of equal weight: words before pairs, long ones first."""
    return term.count(" "), -len(term), term
