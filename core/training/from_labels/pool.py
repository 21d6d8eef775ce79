"""Labels for unlabelled texts: the votes of labelled texts, smoothed over a graph of neighbours.

Votes give each unlabelled text soft scores B. A graph joins every text, labelled or not, with its
nearest neighbours; along it F <- alpha S F + (1 - alpha) B spreads the scores (Zhou et al. 2004,
"Learning with Local and Global Consistency", Section 2; there B are labels alone). The label of an
unlabelled text is the largest entry of its row.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from core.splits import Rows, drawn_rows
from core.text import match_key
from core.types import FloatArray, ScoreArray
from core.vectors import unit_rows

_NEIGHBOURS = 10
_WIDTH = 0.05
"""Difference of the cosine over which an edge loses a factor e."""
_ALPHA = 0.8
_ROUNDS = 40
_BLOCK = 512
_SMALLEST = 1e-9


def usable_texts(
    pool: Sequence[str], known: Iterable[str], most: int, seed: int
) -> tuple[str, ...]:
    """Return the texts of a pool that differ from known texts and from each other, in order.

    Texts are compared as `core.text.match_key` does. Above `most` texts, so many are drawn.
    """
    seen = {match_key(text) for text in known}
    found: list[str] = []
    for text in pool:
        key = match_key(text)
        if key not in seen:
            seen.add(key)
            found.append(text)
    return tuple(found[row] for row in drawn_rows(len(found), most, seed))


def neighbour_graph(embeddings: FloatArray, k: int = _NEIGHBOURS) -> sparse.csr_array:
    """Join each of n texts with its k nearest others; S = D^-1/2 W D^-1/2, (n, n) float64.

    W holds exp((cosine - 1) / 0.05) for neighbours in either direction. Embeddings (n, d) may have
    any length. Memory: blocks of 512 rows, and at most 2 k n edges.
    """
    unit = unit_rows(embeddings)
    n = len(unit)
    k = min(k, n - 1)
    columns: list[NDArray[np.int64]] = []
    weights: list[ScoreArray] = []
    for start in range(0, n, _BLOCK):
        near = unit[start : start + _BLOCK] @ unit.T
        rows = np.arange(len(near))
        near[rows, start + rows] = -np.inf  # a text is no neighbour of its own
        chosen = np.sort(np.argpartition(-near, k - 1, axis=1)[:, :k], axis=1)
        cosine = np.take_along_axis(near, chosen, 1).astype(np.float64)
        columns.append(chosen)
        weights.append(np.exp((cosine - 1.0) / _WIDTH))
    ends = np.arange(0, n * k + 1, k)
    one_way = sparse.csr_array(
        (np.concatenate(weights).ravel(), np.concatenate(columns).ravel(), ends), shape=(n, n)
    )
    both = one_way.maximum(one_way.T).tocsr()
    scale = 1.0 / np.sqrt(np.maximum(both.sum(1), np.finfo(np.float64).tiny))
    degrees = sparse.dia_array((scale[None], [0]), shape=(n, n))
    return sparse.csr_array(degrees @ both @ degrees)


def spread(graph: sparse.csr_array, given: ScoreArray) -> ScoreArray:
    """Spread shares (n, intents) along a graph; each row of the result sums to 1, or is 0.

    40 iterations of F <- 0.8 S F + 0.2 B (Zhou et al. 2004, Section 2).
    """
    found = given.copy()
    for _ in range(_ROUNDS):
        found = _ALPHA * (graph @ found) + (1.0 - _ALPHA) * given
    sums = found.sum(1, keepdims=True)
    shares: ScoreArray = np.divide(found, sums, out=np.zeros_like(found), where=sums > 0)
    return shares


def pool_columns(
    known: tuple[FloatArray, ScoreArray], embeddings: FloatArray, votes: ScoreArray
) -> Rows:
    """Return the number of the intent of each of n unlabelled texts, (n,) int64.

    `known` are embeddings (m, d) and labels (m, intents) of labelled texts; `embeddings` (n, d)
    those of the unlabelled ones, and `votes` (n, intents) the labelled texts' votes on them.
    """
    graph = neighbour_graph(np.concatenate([known[0], embeddings]))
    shares = spread(graph, np.concatenate([known[1], as_shares(votes)]))
    columns: Rows = shares[len(known[1]) :].argmax(1)
    return columns


def as_shares(scores: ScoreArray) -> ScoreArray:
    """Divide the positive part of each row of scores by its sum, (n, intents).

    A row without a positive score becomes an even one.
    """
    positive = np.maximum(scores, _SMALLEST)
    shares: ScoreArray = positive / positive.sum(1, keepdims=True)
    return shares
