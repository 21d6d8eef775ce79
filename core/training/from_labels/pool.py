"""Labels for unlabelled texts: the votes of labelled texts, smoothed over a graph of neighbours.

Votes give each unlabelled text soft scores B. A graph joins every text, labelled or not, with its
nearest neighbours; along it F <- alpha S F + (1 - alpha) B spreads the scores (Zhou et al. 2004,
"Learning with Local and Global Consistency", Section 2; there B are labels alone). The label of an
unlabelled text is the largest entry of its row.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from scipy import sparse

from core.nearby.joined import joined
from core.nearby.search import Nearby, nearby
from core.splits import Rows, drawn_rows
from core.text import worded_anew
from core.types import FloatArray, ScoreArray
from core.vectors import unit_rows

_NEIGHBOURS = 10
_WIDTH = 0.05
"""Difference of the cosine over which an edge loses a factor e."""
_ALPHA = 0.8
_ROUNDS = 40
_SMALLEST = 1e-9


def usable_texts(
    pool: Sequence[str], known: Iterable[str], most: int, seed: int
) -> tuple[str, ...]:
    """Return the texts of a pool that differ from known texts and from each other, in order.

    Above `most` texts, so many are drawn.
    """
    found = list(worded_anew(pool, known))
    return tuple(found[row] for row in drawn_rows(len(found), most, seed))


def neighbour_graph(embeddings: FloatArray, k: int = _NEIGHBOURS) -> sparse.csr_array:
    """Join each of n texts with its k nearest others; S = D^-1/2 W D^-1/2, (n, n) float64.

    W holds exp((cosine - 1) / 0.05) for neighbours in either direction. Embeddings (n, d) may have
    any length. Memory: blocks of 512 rows, and at most 2 k n edges.
    """
    near = nearby(unit_rows(embeddings), k)
    order = np.argsort(near.rows, axis=1)  # the order of a sum decides its last bits
    rows = np.take_along_axis(near.rows, order, 1)
    both = joined(Nearby(rows, np.take_along_axis(near.cosines, order, 1)), _WIDTH)
    scale = 1.0 / np.sqrt(np.maximum(both.sum(1), np.finfo(np.float64).tiny))
    degrees = sparse.dia_array((scale[None], [0]), shape=both.shape)
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
