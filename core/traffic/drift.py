"""Whether two samples of texts differ by more than chance, in meaning or in a figure of each."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.types import FloatArray, Pause, ScoreArray, no_pause
from core.vectors import unit_rows

ALPHA = 0.01
"""Largest chance of telling of any drift where nothing changed, in all comparisons of a report."""

MOST = 1_000
"""Texts of each sample that are compared by meaning; of more, a fair sample."""

_SHUFFLES = 1_999
_WIDTH = 0.3
"""Of the kernel exp((cosine - 1) / width), as that of votes."""
_CHUNK = 250


@dataclass(frozen=True, slots=True)
class Drift:
    """How two samples differ.

    Attributes:
        p_value: How often a random division of both samples together differs as much.
        typical: Rows of the second sample that are most unlike the first one, most of all first.
    """

    p_value: float
    typical: tuple[int, ...] = ()


def meaning_drift(
    first: FloatArray, second: FloatArray, seed: int = 0, pause: Pause = no_pause
) -> Drift:
    """Compare two samples of embeddings, (m, d) and (n, d), by a permutation test.

    The statistic is the squared maximum mean discrepancy (Gretton et al. 2012, Eq. 5) of the kernel
    of the votes. At most `MOST` rows of each are used, drawn by `seed`; `typical` are rows of
    `second` with the largest witness function (Section 2.3).
    """
    rng = np.random.default_rng(seed)
    rows = [np.sort(rng.permutation(len(one))[:MOST]) for one in (first, second)]
    unit = unit_rows(np.concatenate([first[rows[0]], second[rows[1]]]))
    alike = np.exp((unit @ unit.T - 1.0) / np.float32(_WIDTH)).astype(np.float32)
    n_first, n = len(rows[0]), len(unit)
    weights = np.concatenate(
        [np.full(n_first, -1.0 / n_first), np.full(n - n_first, 1.0 / (n - n_first))]
    )
    own = float(weights @ alike @ weights)
    as_much = 0
    for start in range(0, _SHUFFLES, _CHUNK):
        pause()
        several = range(start, min(start + _CHUNK, _SHUFFLES))
        shuffled = np.stack([rng.permutation(weights) for _ in several]).astype(np.float32)
        as_much += int((np.einsum("ij,ij->i", shuffled @ alike, shuffled) >= own).sum())
    witness = (alike @ weights.astype(np.float32))[n_first:]
    typical = rows[1][np.argsort(-witness, kind="stable")]
    return Drift((as_much + 1) / (_SHUFFLES + 1), tuple(typical.tolist()))


def mean_drift(first: ScoreArray, second: ScoreArray, seed: int = 0) -> Drift:
    """Compare the means of two samples of a figure, (m,) and (n,), by a permutation test."""
    rng = np.random.default_rng(seed)
    both = np.concatenate([first, second])
    total, n = both.sum(), len(first)
    own = abs(second.mean() - first.mean())
    as_much = 0
    for _ in range(_SHUFFLES):
        part = rng.permutation(both)[:n].sum()
        as_much += bool(abs((total - part) / len(second) - part / n) >= own - 1e-12)
    return Drift((as_much + 1) / (_SHUFFLES + 1))


def corrected(p_values: Sequence[float]) -> list[float]:
    """Correct the chances of several comparisons for their number (Holm 1979), in their order."""
    order: NDArray[np.int64] = np.argsort(p_values, kind="stable")
    found, largest = [0.0] * len(p_values), 0.0
    for place, row in enumerate(order.tolist()):
        largest = max(largest, min(1.0, p_values[row] * (len(p_values) - place)))
        found[row] = largest
    return found
