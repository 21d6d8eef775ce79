"""Batches of (context, response) pairs from a stream that may be larger than memory."""

from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np

from core.formats.dialogues import Pair

PairSource = Callable[[], Iterator[Pair]]
"""Starts the stream of pairs from its beginning, in the same order each time."""

_ROW = 4  # consecutive pairs in a batch: five turns to encode instead of eight


def stream_batches(
    source: PairSource, size: int, buffer: int, seed: int
) -> Iterator[tuple[int, list[Pair]]]:
    """Deal the pairs into batches without end, each with its pass over the data, from 1.

    Up to four consecutive pairs of a conversation share a batch, since most turns are then encoded
    once as a response and as the next context. They are drawn from a buffer of `buffer` pairs.
    Equal seeds give equal batches; a last batch of one pair is dropped.
    """
    epoch = 0
    while True:
        epoch += 1
        rows = _mixed(_rows(source()), max(1, buffer // _ROW), np.random.default_rng([seed, epoch]))
        mixed = (pair for row in rows for pair in row)
        any_batch = False
        while batch := list(islice(mixed, size)):
            if len(batch) > 1:
                any_batch = True
                yield epoch, batch
        if not any_batch:
            return


def count_pairs(source: PairSource) -> int:
    """Count the pairs of one pass."""
    return sum(1 for _ in source())


def _rows(pairs: Iterator[Pair]) -> Iterator[list[Pair]]:
    row: list[Pair] = []
    for pair in pairs:
        if row and (len(row) == _ROW or pair.context != row[-1].response):
            yield row
            row = []
        row.append(pair)
    if row:
        yield row


def _mixed(
    rows: Iterator[list[Pair]], buffer: int, generator: np.random.Generator
) -> Iterator[list[Pair]]:
    held = list(islice(rows, buffer))
    for row in rows:
        place = int(generator.integers(len(held)))
        yield held[place]
        held[place] = row
    for place in generator.permutation(len(held)):
        yield held[place]
