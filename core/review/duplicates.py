"""Texts that say the same: twice under one intent, or under different ones."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.review.nearby import Nearby
from core.text import match_key
from core.types import ScoreArray


@dataclass(frozen=True, slots=True)
class Twins:
    """Two texts that say nearly the same.

    Attributes:
        first: The earlier row.
        second: The later row.
        cosine: How near they are.
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
    duplicate: float = 0.97,
    conflict: float = 0.92,
) -> list[Twins]:
    """List pairs that say the same, conflicts first, the nearest first.

    Args:
        texts: All of them.
        targets: Their labels, (n, intents).
        near: Their neighbours.
        duplicate: Cosine from which on two texts of one intent are duplicates.
        conflict: The same for texts whose labels differ: a lower one, since these do harm.
    """
    pairs = {
        (min(row, other), max(row, other)): cosine
        for row, (others, cosines) in enumerate(
            zip(near.rows.tolist(), near.cosines.tolist(), strict=True)
        )
        for other, cosine in zip(others, cosines, strict=True)
        if cosine >= min(duplicate, conflict)
    }
    keys = [match_key(text) for text in texts]
    for first, second in _same_texts(keys):
        pairs.setdefault((first, second), 1.0)
    found = list[Twins]()
    for (first, second), cosine in pairs.items():
        same = keys[first] == keys[second]
        differ = bool(np.any(targets[first] != targets[second]))
        if same or cosine >= (conflict if differ else duplicate):
            found.append(Twins(first, second, cosine, same, differ))
    return sorted(found, key=lambda pair: (not pair.conflict, -pair.cosine, pair.first))


def _same_texts(keys: Sequence[str]) -> list[tuple[int, int]]:
    """Pair each text with the one before it that says the same."""
    last: dict[str, int] = {}
    found = list[tuple[int, int]]()
    for row, key in enumerate(keys):
        if key in last:
            found.append((last[key], row))
        last[key] = row
    return found
