"""Batches that contain pairs with a shared intent and pairs without."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def epoch_batches(
    labels: Sequence[int], intents: int, utterances: int, generator: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Deal all rows into batches, each row once; return the row numbers of each batch.

    A batch has at most `intents` different intents, and at most `utterances` rows of each. The
    rows of an intent are dealt in near-equal groups, so that a row is alone with its intent only
    where the intent has no other.
    """
    names = np.asarray(labels, dtype=np.int64)
    groups: list[NDArray[np.int64]] = []
    for name in np.unique(names):
        rows = generator.permutation(np.flatnonzero(names == name))
        groups += np.array_split(rows, -(-len(rows) // utterances))
    waiting = [groups[place] for place in generator.permutation(len(groups))]
    left = Counter(int(names[group[0]]) for group in waiting)
    batches: list[NDArray[np.int64]] = []
    while waiting:
        chosen, waiting = _take_distinct(waiting, names, min(intents, len(left)))
        left -= Counter(int(names[group[0]]) for group in chosen)
        batches.append(np.concatenate(chosen))
    return _without_lonely_end(batches, names)


def even_batches(n_rows: int, size: int, generator: np.random.Generator) -> list[NDArray[np.int64]]:
    """Deal all rows at random into near-equal batches of at most `size` rows, each row once.

    For multi-label utterances: each shares an intent with many others, so that a batch of a few
    dozen has pairs of both kinds.
    """
    order = generator.permutation(n_rows)
    return np.array_split(order, max(1, -(-n_rows // size)))


def _take_distinct(
    groups: list[NDArray[np.int64]], names: NDArray[np.int64], intents: int
) -> tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]]:
    """Take the first groups of so many different intents; the rest keeps its order.

    It looks no further than to the last that it takes: of a frequent intent thousands may wait.
    """
    chosen: list[NDArray[np.int64]] = []
    rest: list[NDArray[np.int64]] = []
    seen: set[int] = set()
    for place, group in enumerate(groups):
        if len(chosen) == intents:
            return chosen, rest + groups[place:]
        name = int(names[group[0]])
        if name in seen:
            rest.append(group)
        else:
            seen.add(name)
            chosen.append(group)
    return chosen, rest


def _without_lonely_end(
    batches: list[NDArray[np.int64]], names: NDArray[np.int64]
) -> list[NDArray[np.int64]]:
    """Join batches of a single intent to those before: they have no pair to push apart.

    They come last, when all other intents are dealt. Each joins another batch, from the last one
    backwards: of a frequent intent they would otherwise make one batch of thousands of rows.
    """
    mixed = len(batches)
    while mixed > 1 and len(np.unique(names[batches[mixed - 1]])) < 2:
        mixed -= 1
    joined = batches[:mixed]
    for turn, lonely in enumerate(batches[mixed:]):
        place = mixed - 1 - turn % mixed
        joined[place] = np.concatenate([joined[place], lonely])
    return joined
