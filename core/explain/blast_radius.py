"""The blast radius of a change: the answers it would change, computed before it is saved.

For a text x, exemplars B with inverse G, weights A and prior p: a change relabels some exemplars
(by dY), removes some (D) and adds some (C). The text's score F becomes

    F + (p' - p)(1 - k_x'o) + k_x'G dY - k_x'P z + k_xC z_C,

with o = G 1, P = G [K_BC, I_D] and z the solution of one equation for each added or removed
exemplar (`core.heads.votes.amending`). A change thus costs a few columns of G and one product of
them with the stored kernel of the texts. The result is exact for the present encoder; it does not
predict a training.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from core.explain.decisions import Columns, decided, leads
from core.explain.one_text import widened
from core.explain.solved_votes import SolvedVotes
from core.heads.votes.kernel import kernel, square_kernel
from core.types import FloatArray, Pause, ScoreArray, no_pause
from core.vectors import unit_rows

_CHUNK = 1_024
_GUARD = 1e-3
"""Smaller leads are computed again in float64: the error of float32 was at most 1e-4."""


@dataclass(frozen=True, slots=True, eq=False)
class ExemplarChange:
    """A planned change of the exemplars that vote.

    Labels may have more columns than the votes (wider > intents), for new intents.

    Attributes:
        added: Embeddings of new exemplars, (n, d), of any length.
        labels: Labels of the added exemplars, (n, wider).
        relabelled: Rows of relabelled exemplars, none of them removed.
        relabels: New labels of the relabelled exemplars, (relabelled, wider).
        counts_as: From an intent's column to the column its answers count as, for a merged intent.
        voices: Change of what intent names add to the watched texts' scores, (n, wider); None for
            no change.
        heard: Kernel of the added exemplars with the watched texts, (added, n) float64; None: it is
            computed. Many changes that add the same exemplars share it.
    """

    added: FloatArray
    labels: ScoreArray
    removed: tuple[int, ...] = ()
    relabelled: tuple[int, ...] = ()
    relabels: ScoreArray = field(default_factory=lambda: np.zeros((0, 0)))
    counts_as: Mapping[int, int] = field(default_factory=dict)
    voices: ScoreArray | None = field(default=None, repr=False)
    heard: ScoreArray | None = field(default=None, repr=False)

    @property
    def wide(self) -> int:
        """Number of columns of the labels."""
        widths: tuple[int, int] = self.labels.shape[1], self.relabels.shape[1]
        return max(widths)


def adding(embeddings: FloatArray, labels: ScoreArray) -> ExemplarChange:
    """Add exemplars embedded (n, d), labelled (n, wider)."""
    return ExemplarChange(embeddings, np.asarray(labels, np.float64))


def removing(votes: SolvedVotes, rows: Sequence[int]) -> ExemplarChange:
    """Remove the exemplars of these rows."""
    return ExemplarChange(*_nothing_added(votes), removed=tuple(rows))


def relabelling(votes: SolvedVotes, rows: Sequence[int], labels: ScoreArray) -> ExemplarChange:
    """Give the exemplars of these rows other labels, (rows, wider)."""
    relabels = np.asarray(labels, np.float64)
    return ExemplarChange(*_nothing_added(votes), relabelled=tuple(rows), relabels=relabels)


def merging(votes: SolvedVotes, source: int, into: int) -> ExemplarChange:
    """Relabel all exemplars of one intent as another; old answers of the first count as the other.

    Without that, a merge would seem to change every answer of the removed intent, and its accuracy
    would be compared with answers that are no longer possible.
    """
    rows = np.flatnonzero(votes.head.targets[:, source])
    wide = max(into + 1, votes.head.targets.shape[1])
    labels = widened(votes.head.targets[rows], wide)
    labels[:, into] = np.maximum(labels[:, into], labels[:, source])
    labels[:, source] = 0.0
    change = relabelling(votes, rows.tolist(), labels)
    return ExemplarChange(
        change.added,
        change.labels,
        relabelled=change.relabelled,
        relabels=labels,
        counts_as={source: into},
    )


def _nothing_added(votes: SolvedVotes) -> tuple[FloatArray, ScoreArray]:
    n_intents, dim = votes.head.targets.shape[1], votes.head.exemplars.shape[1]
    return np.zeros((0, dim), np.float32), np.zeros((0, n_intents))


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """Texts whose answers are watched, with what every change needs of them.

    Attributes:
        unit: Embeddings of length one, (n, d) float32.
        kernel: Kernel with the m exemplars, (n, m) float32: 400 MB for 10,000 of each.
        ones: Kernel times G 1, (n,) float64.
    """

    unit: FloatArray
    kernel: FloatArray
    ones: ScoreArray
    scores: ScoreArray


def watch(
    votes: SolvedVotes,
    embeddings: FloatArray,
    pause: Pause = no_pause,
    voices: ScoreArray | None = None,
) -> Watched:
    """Prepare texts, embedded (n, d), for any number of changes; O(n m d), once.

    `voices` is what intent names add to their scores, (n, intents), or None for nothing; `pause` is
    called between products, to let other work run first.
    """
    unit = unit_rows(embeddings)
    head = votes.head
    kept = np.empty((len(unit), len(head.exemplars)), np.float32)
    ones, scores = np.empty(len(unit)), np.empty((len(unit), len(head.intents)))
    for start in range(0, len(unit), _CHUNK):
        pause()
        part = slice(start, start + _CHUNK)
        weight = kernel(unit[part], head.exemplars, head.tau)
        kept[part] = weight
        ones[part] = weight @ votes.ones
        scores[part] = weight @ head.weights + head.prior
    if voices is not None:
        scores += voices
    return Watched(unit, kept, ones, scores)


@dataclass(frozen=True, slots=True, eq=False)
class Radius:
    """Verdicts on watched texts before and after a change, with their leads over other verdicts.

    Attributes:
        before: Column of each present verdict, after `counts_as`, (n,); or `OUT_OF_SCOPE`.
        after: Column of each verdict with the change, (n,).
        scores: (n, wider) with the change; exact to 1e-4, and to 1e-10 where the lead is below
            1e-3.
    """

    before: Columns
    after: Columns
    lead_before: ScoreArray
    lead_after: ScoreArray
    scores: ScoreArray

    @property
    def changed(self) -> Columns:
        """Rows of the texts that get another verdict, the largest lead first."""
        rows = np.flatnonzero(self.before != self.after)
        return rows[np.argsort(-self.lead_after[rows], kind="stable")]


def blast_radius(
    votes: SolvedVotes,
    watched: Watched,
    change: ExemplarChange,
    limit: float | None = None,
    unsure: Callable[[ScoreArray], NDArray[np.bool_]] | None = None,
) -> Radius:
    """Find the watched texts whose verdict a change alters; equal to fitting again.

    Largest scores below `limit` are out of scope (None: nothing is). `unsure` selects further rows
    of scores (n, wider) that need an error below 1e-10; it returns (n,) bool.

    Raises:
        ValueError: No exemplar would be left.
    """
    shift = _shift_of(votes, change)
    scores = _shifted(shift, watched, slice(None), watched.kernel)
    after = decided(scores, limit)
    margin = leads(scores, after, limit)
    guarded = margin < _GUARD
    close = np.flatnonzero(guarded if unsure is None else guarded | unsure(scores))
    for start in range(0, len(close), _CHUNK):
        rows = close[start : start + _CHUNK]
        exact = kernel(watched.unit[rows], votes.head.exemplars, votes.head.tau)
        scores[rows] = _shifted(shift, watched, rows, exact)
    after[close] = decided(scores[close], limit)
    margin[close] = leads(scores[close], after[close], limit)
    before = decided(watched.scores, limit)
    lead_before = leads(watched.scores, before, limit)
    counted = before.copy()
    for column, other in change.counts_as.items():
        counted[before == column] = other
    return Radius(counted, after, lead_before, margin, scores)


@dataclass(frozen=True, slots=True, eq=False)
class _Shift:
    """The part of a change of scores that does not depend on the text."""

    prior: ScoreArray  # p' - p, (wider,)
    columns: ScoreArray  # of G, or sums of them, (m, q)
    factors: ScoreArray  # what each column adds, (q, wider)
    units: FloatArray  # embeddings of added exemplars
    weights: ScoreArray  # weights of added exemplars, (n, wider)
    tau: float
    voices: ScoreArray | None  # change of what names add, (n, wider)
    heard: ScoreArray | None  # kernel of added exemplars with the watched texts, (added, n)


def _shifted(
    shift: _Shift,
    watched: Watched,
    rows: slice | NDArray[np.int64],
    weight: FloatArray | ScoreArray,
) -> ScoreArray:
    """Score some watched texts after a change, in the precision of `weight`."""
    scores = widened(watched.scores[rows], len(shift.prior))
    scores += (1.0 - watched.ones[rows])[:, None] * shift.prior
    scores += (weight @ shift.columns.astype(weight.dtype)).astype(np.float64) @ shift.factors
    if len(shift.units):
        heard = shift.heard
        if heard is None:
            heard = kernel(shift.units, watched.unit[rows], shift.tau)
        else:
            heard = heard[:, rows]
        scores += heard.T @ shift.weights
    if shift.voices is not None:
        scores += shift.voices[rows]
    return scores


def _shift_of(votes: SolvedVotes, change: ExemplarChange) -> _Shift:
    head = votes.head
    wide = max(change.wide, len(head.intents))
    added, labels = unit_rows(change.added), widened(change.labels, wide)
    moved, gone, n_exemplars = list(change.relabelled), list(change.removed), len(head.targets)
    had, lost = widened(head.targets[moved], wide), widened(head.targets[gone], wide)
    different = widened(change.relabels, wide)[: len(moved)] - had
    left = n_exemplars + len(added) - len(gone)
    if left < 1:
        message = "votes need at least one exemplar"
        raise ValueError(message)
    old = widened(head.prior, wide)
    total = n_exemplars * old + different.sum(0) + labels.sum(0) - lost.sum(0)
    prior: ScoreArray = total / left
    right, factors = _relabelled(n_exemplars, moved, different)
    met = np.hstack([votes.kernel(added), _picked(n_exemplars, gone)])
    columns = votes.times(np.hstack([right, met]))
    turned, lifted = columns[:, : right.shape[1]], columns[:, right.shape[1] :]
    schur: ScoreArray = -met.T @ lifted
    wanted = np.outer(met.T @ votes.ones, prior) - widened(met.T @ votes.solved, wide)
    wanted -= (met.T @ turned) @ factors
    schur[: len(added), : len(added)] += square_kernel(added, head.tau, head.ridge)
    wanted[: len(added)] += labels - prior
    symmetric: ScoreArray = (schur + schur.T) / 2.0
    extra = np.asarray(np.linalg.solve(symmetric, wanted), dtype=np.float64)
    every: ScoreArray = np.concatenate([factors, -extra])
    return _Shift(
        prior - old,
        columns,
        every,
        added,
        extra[: len(added)],
        head.tau,
        change.voices,
        change.heard,
    )


def _picked(n_exemplars: int, rows: list[int]) -> ScoreArray:
    """Return columns `rows` of the identity, (m, rows)."""
    picked = np.zeros((n_exemplars, len(rows)))
    picked[rows, range(len(rows))] = 1.0
    return picked


def _relabelled(
    n_exemplars: int, rows: list[int], different: ScoreArray
) -> tuple[ScoreArray, ScoreArray]:
    """Write the difference of the labels as columns (m, q) times factors (q, wider), q small."""
    touched = np.flatnonzero(different.any(0))
    if len(rows) <= len(touched):
        return _picked(n_exemplars, rows), different
    right = np.zeros((n_exemplars, len(touched)))
    right[rows] = different[:, touched]
    return right, np.eye(different.shape[1])[touched]
