"""How familiar watched texts are after a change, without comparing with all exemplars again.

A change of labels moves the means of the intents it touches and no cosine. A removal concerns only
texts whose nearest exemplars it removes. An added exemplar is compared with every text. The
covariance belongs to the version and does not change. The result equals measuring all shapes again.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from core.calibration.fence import NEAREST, IntentShapes
from core.explain.blast_radius import ExemplarChange, Watched
from core.explain.one_text import widened
from core.types import FloatArray, Pause, ScoreArray, no_pause
from core.vectors import cosines, unit_rows

_CHUNK = 512
_SHARPEST = 0.02
"""For a smaller tau, the kernel of a text far from all exemplars is zero in float32."""


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings:
    """Watched texts among exemplars.

    Attributes:
        near: Cosines of the nearest exemplars, (n, 3).
        rows: Rows of the nearest exemplars, (n, 3).
        turned: `unit` times the precision matrix, (n, d).
        lengths: Row-wise product of `turned` and `unit`, (n,).
        squared: Squared Mahalanobis distances to the intents, (n, intents).
    """

    shapes: IntentShapes
    unit: FloatArray = field(repr=False)
    near: ScoreArray = field(repr=False)
    rows: NDArray[np.int64] = field(repr=False)
    turned: ScoreArray = field(repr=False)
    lengths: ScoreArray = field(repr=False)
    squared: ScoreArray = field(repr=False)


def surround(
    shapes: IntentShapes, watched: Watched, tau: float, pause: Pause = no_pause
) -> Surroundings:
    """Find the surroundings of watched texts, once for any number of changes; O(n m).

    `tau` is the width of a vote in their kernel; `pause` is called between heavy products.
    """
    unit, count = watched.unit, min(NEAREST, len(shapes.unit))
    rows = np.empty((len(unit), count), np.int64)
    for start in range(0, len(unit), _CHUNK):
        pause()
        part = slice(start, start + _CHUNK)
        like: NDArray[np.floating] = watched.kernel[part]  # the kernel grows with the cosine
        if tau < _SHARPEST:
            like = cosines(unit[part], shapes.unit)
        rows[part] = np.argpartition(like, -count, axis=1)[:, -count:]
    near = np.einsum("nd,nkd->nk", unit, shapes.unit[rows]).astype(np.float64)
    turned = unit.astype(np.float64) @ shapes.precision
    lengths = np.einsum("nd,nd->n", turned, unit)
    around = Surroundings(shapes, unit, near, rows, turned, lengths, np.empty((len(unit), 0)))
    sizes = shapes.targets.sum(0)
    squared = _squared(around, shapes.means, sizes)
    return Surroundings(shapes, unit, near, rows, turned, lengths, squared)


def beside_scores(around: Surroundings, change: ExemplarChange | None) -> ScoreArray:
    """Return the signals other than scores, with a change: nearest, and away; (n, 2)."""
    if change is None:
        return _signals(around.near, around.squared)
    near = _near(around, list(change.removed), unit_rows(change.added))
    return _signals(near, _moved(around, change))


def _signals(near: ScoreArray, squared: ScoreArray) -> ScoreArray:
    return np.column_stack([near.mean(1), -np.sqrt(squared.min(1))])


def _near(around: Surroundings, gone: list[int], added: FloatArray) -> ScoreArray:
    near = around.near
    felt = np.flatnonzero(np.isin(around.rows, gone).any(1)) if gone else np.zeros(0, np.int64)
    if len(felt):
        kept = np.setdiff1d(np.arange(len(around.shapes.unit)), gone)
        count = min(near.shape[1], len(kept))  # with fewer left, every text is affected
        near = near[:, :count].copy()
        left = around.shapes.unit[kept]
        for start in range(0, len(felt), _CHUNK):
            rows = felt[start : start + _CHUNK]
            near[rows] = _largest(cosines(around.unit[rows], left), count)
    if len(added):
        both = np.hstack([near, cosines(around.unit, added)])
        near = _largest(both, min(NEAREST, both.shape[1]))
    return near


def _largest(similarity: ScoreArray, count: int) -> ScoreArray:
    if not count:
        return similarity[:, :0]
    found: ScoreArray = np.partition(similarity, -count, axis=1)[:, -count:]
    return found


def _moved(around: Surroundings, change: ExemplarChange) -> ScoreArray:
    """Return squared distances with the changed means of touched intents; (n, wider)."""
    shapes = around.shapes
    targets = widened(shapes.targets, max(change.wide, shapes.targets.shape[1]))
    wide = targets.shape[1]
    rows = [*change.removed, *change.relabelled]
    different = np.concatenate(
        [
            -targets[list(change.removed)],
            widened(change.relabels, wide)[: len(change.relabelled)]
            - targets[list(change.relabelled)],
            widened(change.labels, wide),
        ]
    )
    units = np.concatenate([shapes.unit[rows], unit_rows(change.added)]).astype(np.float64)
    touched = np.flatnonzero(different.any(0))
    had = targets[:, touched].sum(0)
    sums = np.concatenate([shapes.means, np.zeros((wide - len(shapes.means), units.shape[1]))])
    sums = sums[touched] * had[:, None] + different[:, touched].T @ units
    sizes = had + different[:, touched].sum(0)
    squared = np.full((len(around.unit), wide), np.inf)
    squared[:, : around.squared.shape[1]] = around.squared
    squared[:, touched] = _squared(around, sums / np.maximum(sizes, 1.0)[:, None], sizes)
    return squared


def _squared(around: Surroundings, means: ScoreArray, sizes: ScoreArray) -> ScoreArray:
    """Return squared distances to means (k, d) of `sizes` (k,) exemplars each; (n, k)."""
    own = np.einsum("kd,kd->k", means @ around.shapes.precision, means)
    squared: ScoreArray = around.lengths[:, None] - 2.0 * around.turned @ means.T + own
    np.maximum(squared, 0.0, out=squared)
    squared[:, sizes < 0.5] = np.inf
    return squared
