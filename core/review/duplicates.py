"""Texts that say the same, under one intent or under different ones."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.nearby.search import Nearby
from core.review.opposites import contrasts_of
from core.text import match_key
from core.types import ScoreArray

DUPLICATE = 0.97
"""Cosine from which on texts with the same label are duplicates."""

_CONFLICT = 0.92
"""Cosine from which on texts whose labels differ are conflicts: lower, since these do harm."""

ONLY_SAME_TEXTS = math.inf
"""With this in its place, only texts that differ in case, space or outer punctuation are."""


@dataclass(frozen=True, slots=True)
class Twins:
    """Two texts, in rising order of rows, that say nearly the same.

    Attributes:
        same_text: Whether they differ in case, space or outer punctuation at most.
        conflict: Whether their labels differ.
    """

    first: int
    second: int
    cosine: float
    same_text: bool
    conflict: bool


def twins(
    texts: Sequence[str],
    targets: ScoreArray,
    near: Nearby,
    duplicate: float = DUPLICATE,
) -> list[Twins]:
    """List pairs that say the same, conflicts first, then the nearest first.

    Texts that differ by one opposing or negating word do not say the same. Those of one label are
    no duplicates either where, among other words, such a word or a number differs.

    `duplicate` is the cosine from which on texts with the same label are duplicates.
    """
    pairs = {
        (min(row, other), max(row, other)): cosine
        for row, (others, cosines) in enumerate(
            zip(near.rows.tolist(), near.cosines.tolist(), strict=True)
        )
        for other, cosine in zip(others, cosines, strict=True)
        if cosine >= min(duplicate, _CONFLICT)
    }
    keys = [match_key(text) for text in texts]
    for first, second in _same_texts(keys):
        pairs.setdefault((first, second), 1.0)
    contrasts = contrasts_of(texts, [tuple(np.flatnonzero(row).tolist()) for row in targets])
    found = list[Twins]()
    for (first, second), cosine in pairs.items():
        same = keys[first] == keys[second]
        differ = bool(np.any(targets[first] != targets[second]))
        if not same and cosine < (_CONFLICT if differ else duplicate):
            continue
        told_apart = contrasts.told_apart if differ else contrasts.says_otherwise
        apart = contrasts.opposed(first, second) or told_apart(first, second)
        if same or not apart:
            found.append(Twins(first, second, cosine, same, differ))
    return sorted(found, key=lambda pair: (not pair.conflict, -pair.cosine, pair.first))


def _same_texts(keys: Sequence[str]) -> list[tuple[int, int]]:
    """Pair each text with the last earlier one that has the same match key."""
    last: dict[str, int] = {}
    found = list[tuple[int, int]]()
    for row, key in enumerate(keys):
        if key in last:
            found.append((last[key], row))
        last[key] = row
    return found
