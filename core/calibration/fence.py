"""The fence around what a model knows: how familiar a text is, and the threshold to be in scope.

There are three signals, where higher is more familiar: the largest vote score, the mean cosine of
the nearest exemplars, and minus the Mahalanobis distance to the nearest intent, with a shrunk
covariance that all intents share (Lee et al. 2018). A fence is a weighted sum of them, in standard
deviations of in-scope texts, with a limit for the project and possibly for single intents.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from core.calibration.out_of_scope import in_scope
from core.splits import Rows
from core.types import FloatArray, Method, ScoreArray
from core.vectors import cosines, unit_rows

WEIGHTS: Mapping[Method, tuple[float, float, float]] = {
    "votes": (1.0, 0.0, 0.0),
    "nearest": (0.0, 1.0, 0.0),
    "mahalanobis": (0.0, 0.0, 1.0),
    "mixture": (1.0, 0.5, 0.5),
}
"""Weights of the signals in each method: votes, nearest, Mahalanobis."""

NEAREST = 3
"""Number of nearest exemplars whose mean cosine is the second signal."""

_SHRINKAGE = 0.3
_FEWEST = 20
"""Texts needed for a limit of an intent's own."""

_CHUNK = 512


@dataclass(frozen=True, slots=True, eq=False)
class IntentShapes:
    """Exemplars, their intents' means and shared covariance.

    Attributes:
        unit: Embeddings of length one, (m, d) float32.
        targets: Labels, (m, intents).
        means: Mean embedding of each intent, (intents, d) float64.
        precision: Inverse of the shrunk covariance that intents share, (d, d) float64.
    """

    unit: FloatArray
    targets: ScoreArray
    means: ScoreArray
    precision: ScoreArray


def fit_intent_shapes(
    embeddings: FloatArray, targets: ScoreArray, shrinkage: float = _SHRINKAGE
) -> IntentShapes:
    """Fit means and covariance to exemplars (m, d) of any length, labelled (m, intents).

    Those of several intents count in each. `shrinkage`, in (0, 1], is the weight of a multiple of
    the identity in the covariance.
    """
    unit = unit_rows(embeddings)
    rows, means = unit.astype(np.float64), _means(unit, targets)
    shares = targets / np.maximum(targets.sum(1, keepdims=True), 1e-12)
    apart = rows - shares @ means
    covariance = apart.T @ apart / max(len(rows), 1)
    ball = max(float(np.trace(covariance)) / len(covariance), 1e-6)
    covariance *= 1.0 - shrinkage
    covariance[np.diag_indices_from(covariance)] += shrinkage * ball
    return IntentShapes(unit, targets, means, np.linalg.inv(covariance))


def with_exemplars(
    embeddings: FloatArray, targets: ScoreArray, precision: ScoreArray
) -> IntentShapes:
    """Combine exemplars (m, d), labelled (m, intents), with a precision (d, d) fitted before."""
    unit = unit_rows(embeddings)
    return IntentShapes(unit, targets, _means(unit, targets), precision)


def _means(unit: FloatArray, targets: ScoreArray) -> ScoreArray:
    """Return the mean embedding of each intent, zeros without an exemplar; (intents, d)."""
    means = np.zeros((targets.shape[1], unit.shape[1]))
    for column, of in enumerate(targets.T > 0):
        if of.any():
            means[column] = unit[of].mean(0, dtype=np.float64)
    return means


def signals(shapes: IntentShapes, embeddings: FloatArray, scores: ScoreArray) -> ScoreArray:
    """Measure texts (n, d) with scores (n, intents) by every signal; (n, 3)."""
    unit = unit_rows(embeddings)
    nearest = np.empty(len(unit))
    for start in range(0, len(unit), _CHUNK):
        part = slice(start, start + _CHUNK)
        nearest[part] = _mean_of_largest(cosines(unit[part], shapes.unit))
    away = np.sqrt(_squared(shapes, unit).min(1))
    return np.column_stack([scores.max(1), nearest, -away])


def signals_left_out(
    shapes: IntentShapes,
    left_out: ScoreArray,
    rows: Rows | None = None,
    sources: Rows | None = None,
) -> ScoreArray:
    """Measure exemplars without themselves and the synthetic ones made from them; (n, 3).

    The covariance is not fitted again: a single exemplar moves it by 1 / m.

    Args:
        shapes: The exemplars.
        left_out: Held-out scores of the exemplars, (n, intents).
        rows: Rows of the exemplars to measure, (n,); None: all.
        sources: Row of each exemplar's source, (m,); None: its own.
    """
    every = np.arange(len(shapes.unit))
    chosen, sources = every if rows is None else rows, every if sources is None else sources
    nearest = np.empty(len(chosen))
    for start in range(0, len(chosen), _CHUNK):
        part = chosen[start : start + _CHUNK]
        near = cosines(shapes.unit[part], shapes.unit)
        near[part[:, None] == sources] = -1.0
        nearest[start : start + _CHUNK] = _mean_of_largest(near)
    squared = _squared_left_out(shapes, chosen)
    _leave_out_made(shapes, squared, chosen, sources)
    return np.column_stack([left_out.max(1), nearest, -np.sqrt(squared.min(1))])


def _squared_left_out(shapes: IntentShapes, rows: Rows) -> ScoreArray:
    """Return squared Mahalanobis distances of exemplars to intents, each without itself."""
    squared = _squared(shapes, shapes.unit[rows])
    sizes, own = shapes.targets.sum(0), shapes.targets[rows] > 0
    # Without one of its n texts, a mean is farther from that text by n / (n - 1).
    farther = (np.maximum(sizes, 1.0) / np.maximum(sizes - 1, 1.0)) ** 2
    return np.where(own, np.where(sizes > 1, squared * farther, np.inf), squared)


def _leave_out_made(shapes: IntentShapes, squared: ScoreArray, rows: Rows, sources: Rows) -> None:
    """Correct in place the distances of exemplars with synthetic ones made from them."""
    sizes = (shapes.targets > 0).sum(0)
    found, counts = np.unique(sources, return_counts=True)
    for place in np.flatnonzero(np.isin(rows, found[counts > 1])):
        made = np.flatnonzero(sources == rows[place])
        gone = shapes.targets[made] > 0
        columns = np.flatnonzero(gone.any(0))
        left = (sizes - gone.sum(0))[columns]
        sums = shapes.means[columns] * sizes[columns, None] - gone[:, columns].T @ shapes.unit[made]
        apart = shapes.unit[rows[place]] - sums / np.maximum(left, 1)[:, None]
        away = np.einsum("ci,ij,cj->c", apart, shapes.precision, apart, optimize=True)
        squared[place, columns] = np.where(left > 0, away, np.inf)


def _mean_of_largest(similarity: ScoreArray) -> ScoreArray:
    count = min(NEAREST, similarity.shape[1])
    largest: ScoreArray = np.partition(similarity, -count, axis=1)[:, -count:].mean(1)
    return largest


def _squared(shapes: IntentShapes, unit: FloatArray) -> ScoreArray:
    """Return the squared Mahalanobis distance of every text to every intent; (n, intents)."""
    rows = unit.astype(np.float64)
    turned, means = rows @ shapes.precision, shapes.means @ shapes.precision
    lengths = np.einsum("ij,ij->i", turned, rows)[:, None]
    squared: ScoreArray = (
        lengths - 2.0 * turned @ shapes.means.T + np.einsum("ij,ij->i", means, shapes.means)
    )
    squared[:, shapes.targets.sum(0) == 0] = np.inf
    np.maximum(squared, 0.0, out=squared)
    return squared


@dataclass(frozen=True, slots=True)
class Fence:
    """The familiarity from which on a text is in scope.

    Attributes:
        method: Which signals count.
        centre: Mean of each signal over in-scope texts.
        scale: Standard deviation of each signal over them.
        limit: Least familiarity of a text in scope.
        limits: The same by column, for intents that have a limit of their own.
    """

    method: Method
    centre: tuple[float, ...]
    scale: tuple[float, ...]
    limit: float = -np.inf
    limits: Mapping[int, float] = field(default_factory=dict)

    def familiarity(self, measured: ScoreArray) -> ScoreArray:
        """Return the weighted sum of signals (n, 3); (n,)."""
        weights = weights_of(self.method)
        used = weights > 0  # an unused signal may be infinite
        centre, scale = np.array(self.centre)[used], np.array(self.scale)[used]
        found: ScoreArray = ((measured[:, used] - centre) / scale) @ weights[used]
        return found

    @property
    def slope(self) -> float:
        """Increase of familiarity per unit of the largest score."""
        return float(weights_of(self.method)[0] / self.scale[0])

    def inside(self, familiarity: ScoreArray, columns: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether each text is in scope, by the limit of its intent's column; (n,)."""
        limits = np.full(len(columns), self.limit)
        for column, limit in self.limits.items():
            limits[columns == column] = limit
        return in_scope(familiarity, limits)


def weights_of(method: Method) -> ScoreArray:
    """Return the weights of the signals, (3,); they sum to one."""
    weights = np.array(WEIGHTS[method])
    shares: ScoreArray = weights / weights.sum()
    return shares


def fit_fence(method: Method, inside: ScoreArray) -> Fence:
    """Return a fence in units of in-scope texts, by their held-out signals (n, 3); no limit yet."""
    known = inside[np.isfinite(inside).all(1)]  # the only text of the only intent is not finite
    if not len(known):
        return Fence(method, (0.0,) * 3, (1.0,) * 3)
    scale = np.maximum(known.std(0), 1e-9)
    return Fence(method, tuple(known.mean(0).tolist()), tuple(scale.tolist()))


def with_limit(
    fence: Fence, inside: ScoreArray, outside: ScoreArray | None, rejection: float = 0.05
) -> Fence:
    """Set the project's limit by the familiarity of in-scope and out-of-scope texts.

    With out-of-scope texts, the limit maximises the sum of two shares: in-scope texts kept and
    out-of-scope texts rejected. Without any, it rejects the share `rejection` of the in-scope
    texts.
    """
    if outside is None or not len(outside):
        return replace(fence, limit=float(np.quantile(inside, rejection)))
    limits = np.unique(np.concatenate([inside, outside]))
    kept = 1.0 - np.searchsorted(np.sort(inside), limits, side="left") / len(inside)
    out = np.searchsorted(np.sort(outside), limits, side="left") / len(outside)
    return replace(fence, limit=float(limits[int((kept + out).argmax())]))


def with_intent_limits(
    fence: Fence, inside: ScoreArray, columns: NDArray[np.int64], rejection: float = 0.05
) -> Fence:
    """Give intents with enough texts their own limit, which rejects the share `rejection` of them.

    `inside` is the familiarity of in-scope texts, (n,); `columns` their intents, (n,).
    """
    limits = {
        int(column): float(np.quantile(inside[columns == column], rejection))
        for column, count in zip(*np.unique(columns, return_counts=True), strict=True)
        if count >= _FEWEST
    }
    return replace(fence, limits=limits)


@dataclass(frozen=True, slots=True, eq=False)
class Crossing:
    """Rows of the texts that another limit accepts or rejects, the nearest to the limit first."""

    entering: NDArray[np.int64]
    leaving: NDArray[np.int64]


def crossing(now: NDArray[np.bool_], then: NDArray[np.bool_], familiarity: ScoreArray) -> Crossing:
    """Find the texts that a moved fence accepts or rejects, by familiarity under that fence.

    `now` and `then` tell whether each text is in scope before and after; all are (n,).
    """
    entering, leaving = np.flatnonzero(~now & then), np.flatnonzero(now & ~then)
    return Crossing(
        entering[np.argsort(familiarity[entering], kind="stable")],
        leaving[np.argsort(-familiarity[leaving], kind="stable")],
    )


@dataclass(frozen=True, slots=True, eq=False)
class FamiliarityMeasure:
    """A fence with the exemplars that it measures familiarity by."""

    fence: Fence
    shapes: IntentShapes

    def familiarity(self, embeddings: FloatArray, scores: ScoreArray) -> ScoreArray:
        """Return how familiar texts are, by embeddings (n, d) and scores (n, intents); (n,)."""
        return self.fence.familiarity(signals(self.shapes, embeddings, scores))

    def left_out(self, scores: ScoreArray, rows: Rows, sources: Rows) -> ScoreArray:
        """Return how familiar exemplars, `rows` (n,), are to the others, as `signals_left_out`."""
        return self.fence.familiarity(signals_left_out(self.shapes, scores, rows, sources))
