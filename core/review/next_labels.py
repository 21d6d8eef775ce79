"""The next texts to label: those whose labels settle the most doubt."""

from dataclasses import dataclass

import numpy as np

from core.heads.votes.kernel import kernel_of_cosines
from core.types import FloatArray, ScoreArray

_CHUNK = 512


@dataclass(frozen=True, slots=True)
class Worth:
    """A text's row, and the doubt that its label would settle.

    `settles` is in texts: the sum over waiting texts of doubt times the share of the text's
    variance that an exemplar in this row explains.
    """

    row: int
    settles: float


def next_labels(
    unit: FloatArray, doubts: ScoreArray, tau: float, ridge: float, n: int
) -> list[Worth]:
    """Choose n texts whose labels settle most doubt, each given the choices before it.

    An exemplar at text x explains the share k(x, i)^2 / (1 + ridge) of text i's variance; the next
    choice goes by the doubt that remains. Texts are unit rows, (n, d) float32, with doubts in [0,
    1], (n,): for example one minus the margin.
    """
    left, chosen = doubts.astype(np.float64), list[Worth]()
    settled = _settled(unit, left, tau, ridge)
    while len(chosen) < min(n, len(unit)):
        row = int(settled.argmax())
        if settled[row] <= 0.0:
            break
        chosen.append(Worth(row, float(settled[row])))
        share = _shares(unit, unit[[row]], tau, ridge)[:, 0]
        lost, left = left * share, left * (1.0 - share)
        settled -= _settled(unit, lost, tau, ridge, np.flatnonzero(lost > 1e-4))
        settled[[one.row for one in chosen]] = -np.inf
    return chosen


def _shares(left: FloatArray, right: FloatArray, tau: float, ridge: float) -> ScoreArray:
    weight = kernel_of_cosines((left @ right.T).astype(np.float64), tau)
    shares: ScoreArray = np.minimum(weight**2 / (1.0 + ridge), 1.0)
    return shares


def _settled(
    unit: FloatArray,
    doubts: ScoreArray,
    tau: float,
    ridge: float,
    among: np.ndarray[tuple[int], np.dtype[np.int64]] | None = None,
) -> ScoreArray:
    """Return the doubt that a label of each text would settle; (n,)."""
    rows = np.arange(len(unit)) if among is None else among
    found = np.zeros(len(unit))
    for start in range(0, len(rows), _CHUNK):
        part = rows[start : start + _CHUNK]
        found += _shares(unit, unit[part], tau, ridge) @ doubts[part]
    return found
