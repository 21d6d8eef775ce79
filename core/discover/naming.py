"""Names of groups from the words that set them apart: class-based TF-IDF."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import log

import numpy as np
from numpy.typing import NDArray

from core.review.borderline import words_in_order

_TERMS, _NAMING = 3, 2
"""Terms of a description; the first ones are the name."""

_FEWEST = 2
"""A term of one text alone names no group, unless the group is that text."""


def group_terms(
    texts: Sequence[str], of: NDArray[np.int64], n_groups: int, count: int = _TERMS
) -> tuple[tuple[str, ...], ...]:
    """Return the words and pairs of words of each group that say most about it.

    The best come first, but for the first two, which stand as they are spoken.

    A term's weight is its share of the group's texts times log(1 + mean terms of a group / its
    occurrences in all groups) (Grootendorst 2022, Eq. 2); a pair's logarithm is at most that of its
    rarer word. `of` has each text's group, (n,). A term that shares a word with a better one is
    left out.
    """
    counts: list[Counter[str]] = [Counter() for _ in range(n_groups)]
    for text, group in zip(texts, of.tolist(), strict=True):
        counts[group].update(set(_terms(text)))
    total: Counter[str] = Counter()
    for counted in counts:
        total.update(counted)
    mean = sum(total.values()) / max(1, n_groups)
    sizes = np.bincount(of, minlength=n_groups).tolist()
    rare = {term: log(1 + mean / number) for term, number in total.items()}
    # Two common words say no more together: "for a" is rare in other groups, and tells nothing.
    rare = {term: min(rare[term], max(rare[word] for word in term.split())) for term in rare}
    best = [_best(counted, size, rare, count) for counted, size in zip(counts, sizes, strict=True)]
    return _as_spoken(texts, of, best)


def _as_spoken(
    texts: Sequence[str], of: NDArray[np.int64], best: list[tuple[str, ...]]
) -> tuple[tuple[str, ...], ...]:
    """Put the first two terms of each group, which name it, into their usual order in its texts."""
    turned = [0] * len(best)
    for text, group in zip(texts, of.tolist(), strict=True):
        spoken = f" {' '.join(words_in_order(text))} "
        pair = [spoken.find(f" {term} ") for term in best[group][:_NAMING]]
        if len(pair) == _NAMING and min(pair) >= 0:
            turned[group] += 1 if pair[0] > pair[1] else -1
    return tuple(
        (terms[1], terms[0], *terms[2:]) if turns > 0 else terms
        for terms, turns in zip(best, turned, strict=True)
    )


def name_of(terms: Sequence[str]) -> str:
    """Join a group's terms to a name such as `lost card`; empty for texts without words."""
    return " ".join(terms[:_NAMING])


def _terms(text: str) -> Iterator[str]:
    words = words_in_order(text)
    yield from words
    yield from (f"{first} {second}" for first, second in pairwise(words))


def _best(counted: Counter[str], size: int, rare: dict[str, float], count: int) -> tuple[str, ...]:
    fewest = min(_FEWEST, size)
    weights = {t: n / size * rare[t] for t, n in counted.items() if n >= fewest}
    best: list[str] = []
    used: set[str] = set()
    for term in sorted(weights, key=lambda term: (-weights[term], term)):
        words = set(term.split())
        if not words & used:
            best.append(term)
            used |= words
        if len(best) == count:
            break
    return tuple(best)
