"""How familiar watched texts are after a change, without asking for all exemplars again.

A change of labels moves the means of the intents that it touches and leaves the cosines alone; a
removal concerns the texts whose nearest exemplars it takes; a new exemplar is compared with every
text. The covariance belongs to the version and stays. Equal to measuring all shapes again.
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
"""Below this width of a vote the kernel of a text that is far from all is zero in float32."""


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings:
    """Texts among exemplars.

    Attributes:
        shapes: The exemplars.
        unit: Embeddings of the texts, of length one, (n, d).
        near: Cosines of the nearest exemplars, (n, 3).
        rows: Which those are, (n, 3).
        turned: The texts times the precision, (n, d).
        lengths: Those times the texts, (n,).
        squared: Squared Mahalanobis distances, (n, intents).
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
    """Look around watched texts, once for any number of changes; O(n m).

    Args:
        shapes: The exemplars that they are watched for.
        watched: The texts.
        tau: Width of a vote in their kernel.
        pause: Called between heavy products.
    """
    unit, count = watched.unit, min(NEAREST, len(shapes.unit))
    rows = np.empty((len(unit), count), np.int64)
    for start in range(0, len(unit), _CHUNK):
        pause()
        part = slice(start, start + _CHUNK)
        like: NDArray[np.floating] = watched.kernel[part]  # it grows with the cosine
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
    """Return the signals that are no scores, with a change: nearest, and away; (n, 2)."""
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
        count = min(near.shape[1], len(kept))  # where fewer are left, every text feels it
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
    """Squared distances with the means of the intents that a change touches; (n, wider)."""
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
    """Squared distances to means (k, d) of `sizes` (k,) exemplars each; (n, k)."""
    own = np.einsum("kd,kd->k", means @ around.shapes.precision, means)
    squared: ScoreArray = around.lengths[:, None] - 2.0 * around.turned @ means.T + own
    np.maximum(squared, 0.0, out=squared)
    squared[:, sizes < 0.5] = np.inf
    return squared
