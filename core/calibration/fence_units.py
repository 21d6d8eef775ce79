"""The units of a fence: how familiar a trained version's exemplars are to each other.

Units belong to the version and do not change when labels join. Only the exemplars that a text is
compared with, and their intents' means, follow the labels. A limit thus keeps its meaning until the
next training, and a single label's effect on a fence can be computed from that label alone.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.calibration.fence import (
    FamiliarityMeasure,
    Fence,
    fit_fence,
    fit_intent_shapes,
    signals_left_out,
    with_exemplars,
)
from core.heads.base import Head
from core.heads.build import config_of
from core.heads.cross_validation import cross_validated_scores, fold_scores
from core.heads.folds import left_with_source, said_rows, with_made
from core.heads.mixture import MixtureHead
from core.heads.votes.fit import VoteHead
from core.splits import Rows, stratified_folds
from core.types import FloatArray, Method, ScoreArray

_FOLDS = 5
_OPEN = -1e6
"""A limit that rejects nothing: where an exemplar has no other to be compared with."""


@dataclass(frozen=True, slots=True, eq=False)
class ExemplarSignals:
    """The real exemplars of a trained version, each measured by the others.

    Attributes:
        signals: Familiarity signals of the exemplars, (n, 3).
        columns: Columns of the intents that the others' votes give them, (n,).
        precision: Inverse of the shrunk covariance that all intents share, (d, d).
    """

    signals: ScoreArray
    columns: NDArray[np.int64]
    precision: ScoreArray

    def measure_on(
        self, method: Method, embeddings: FloatArray, targets: ScoreArray
    ) -> FamiliarityMeasure:
        """Return a method's measure on the present exemplars, (m, d) and (m, intents)."""
        shapes = with_exemplars(embeddings, targets, self.precision)
        return FamiliarityMeasure(self.fence(method), shapes)

    def fence(self, method: Method) -> Fence:
        """Return a fence in the units of the exemplars; its limit rejects nothing."""
        return fit_fence(method, self.signals)

    def familiarity(self, method: Method) -> tuple[ScoreArray, NDArray[np.int64]]:
        """Return the exemplars' familiarity to the others, and the columns of their intents.

        An exemplar that has nothing to be compared with is left out.
        """
        found = self.fence(method).familiarity(self.signals)
        known = np.isfinite(found)
        return found[known], self.columns[known]

    def rejection(self, threshold: float) -> float:
        """Return which share of the exemplars a threshold of scores rejects, in [0, 1].

        It is the inverse of `limit` for votes; where it is asked for scores below all, 0.
        """
        found = np.sort(self.signals[:, 0])
        if len(found) < 2:
            return float(len(found) == 1 and threshold > found[0])
        return float(np.interp(threshold, found, np.linspace(0.0, 1.0, len(found))))

    def limit(self, method: Method, rejection: float) -> float:
        """Return the limit that rejects a share of the exemplars; for votes, a limit of scores."""
        found = self.signals[:, 0] if method == "votes" else self.familiarity(method)[0]
        return float(np.quantile(found, rejection)) if len(found) else _OPEN


def measure_exemplars(
    head: Head, embeddings: FloatArray, targets: ScoreArray, sources: Rows | None = None
) -> ExemplarSignals:
    """Measure a version's exemplars, (m, d) with labels (m, intents), as it was trained.

    `sources` is the result of `core.heads.folds.sources_of`; without it none counts as synthetic.
    """
    whose = np.arange(len(targets)) if sources is None else sources
    shapes, rows = fit_intent_shapes(embeddings, targets), said_rows(whose)
    scores = _left_out_scores(head, embeddings, targets, whose)[rows]
    signals = signals_left_out(shapes, scores, rows, whose)
    return ExemplarSignals(signals, scores.argmax(1), shapes.precision)


def _left_out_scores(
    head: Head, embeddings: FloatArray, targets: ScoreArray, sources: Rows
) -> ScoreArray:
    """Score exemplars by the others; by the head itself where fitting it takes a training."""
    if isinstance(head, MixtureHead):
        first = _left_out_scores(head.first, embeddings, targets, sources)
        return first + head.voices(embeddings)
    config = config_of(head)
    if config is None:
        return head.scores(embeddings)
    if isinstance(head, VoteHead):
        scores = cross_validated_scores(head, config, embeddings, targets)
        return left_with_source(head, scores, sources)
    rows = said_rows(sources)
    labels = [str(row) for row in targets[rows].argmax(1)]
    folds = stratified_folds(labels, min(_FOLDS, len(labels)), seed=0)
    whole = [with_made(rows[fold], sources) for fold in folds]
    return fold_scores(head, config, embeddings, targets, whole)
