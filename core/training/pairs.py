"""Batches of (context, response) pairs out of a stream that may be larger than memory."""

from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np

from core.formats.dialogues import Pair

PairSource = Callable[[], Iterator[Pair]]
"""Begins the stream of pairs anew, in the same order each time."""


def stream_batches(
    source: PairSource, size: int, buffer: int, seed: int
) -> Iterator[tuple[int, list[Pair]]]:
    """Deal the pairs into batches without end, pass after pass, each with its pass from 1.

    Pairs are drawn from a buffer, which holds so many of them and is refilled from the stream.
    The same seed gives the same batches; a last batch of one pair is left out.
    """
    epoch = 0
    while True:
        epoch += 1
        mixed = _mixed(source(), buffer, np.random.default_rng([seed, epoch]))
        found = False
        while batch := list(islice(mixed, size)):
            if len(batch) > 1:
                found = True
                yield epoch, batch
        if not found:
            return


def count_pairs(source: PairSource) -> int:
    """Count the pairs of one pass."""
    return sum(1 for _ in source())


def _mixed(pairs: Iterator[Pair], buffer: int, generator: np.random.Generator) -> Iterator[Pair]:
    held = list(islice(pairs, buffer))
    for pair in pairs:
        place = int(generator.integers(len(held)))
        yield held[place]
        held[place] = pair
    for place in generator.permutation(len(held)):
        yield held[place]
