"""Names of groups from the words that set them apart: class-based TF-IDF."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import log

import numpy as np
from numpy.typing import NDArray

from core.review.borderline import words_in_order

_TERMS = 3
_FEWEST = 2
"""A term of one text alone names no group, unless the group is that text."""


def group_terms(
    texts: Sequence[str], of: NDArray[np.int64], n_groups: int, count: int = _TERMS
) -> tuple[tuple[str, ...], ...]:
    """Return the words and pairs of words of each group that say most about it, the best first.

    A term's weight is its share of the group's texts times log(1 + mean terms of a group / its
    occurrences in all groups) (Grootendorst 2022, Eq. 2). `of` has each text's group, (n,). A term
    within a better one, or that shares a word with it, is left out.
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
    return tuple(
        _best(counted, size, rare, count) for counted, size in zip(counts, sizes, strict=True)
    )


def name_of(terms: Sequence[str]) -> str:
    """Join a group's terms to a name such as `lost card`; empty for texts without words."""
    return " ".join(terms[:2])


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
