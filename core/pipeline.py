"""The one way from texts to predictions: encoder, head, decision, with the evidence."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.calibration.calibration import Calibration, probabilities
from core.encoders.base import Encoder
from core.heads.base import Head
from core.heads.mixture import MixtureHead, voices_of, without_names
from core.heads.neighbours import NeighbourHead, neighbour_votes
from core.heads.targets import target_matrix
from core.heads.votes.fit import VoteHead, votes_for
from core.text import match_key
from core.types import (
    Decision,
    Exemplar,
    FloatArray,
    IntentScore,
    Neighbour,
    Prediction,
    Reason,
    ScoreArray,
    Task,
)
from core.vectors import cosines, nearest, unit_rows

_CHUNK = 256
_DECIMALS = 12


@dataclass(frozen=True, slots=True, eq=False)
class IntentPipeline:
    """Everything that answers a text.

    Attributes:
        encoder: Turns texts into embeddings.
        head: Turns embeddings into scores.
        calibration: Turns scores into probabilities, and decides what is out of scope.
        exemplars: The labelled utterances that are shown as evidence.
        embeddings: Of the exemplars, unit rows, (m, d) float32. For votes these are the voting
            rows.
        n_neighbours: Exemplars that a reason shows.
        exact: Match key to intents; texts with contradicting labels are left out.
        model_version: Name of the model version, or None.
        dataset_version: Name of the dataset version, or None.

    Raises:
        ValueError: Exemplars, embeddings and the rows that vote are not equally many.
    """

    encoder: Encoder
    head: Head
    calibration: Calibration
    exemplars: tuple[Exemplar, ...]
    embeddings: FloatArray
    n_neighbours: int = 5
    exact: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    model_version: str | None = None
    dataset_version: str | None = None

    def __post_init__(self) -> None:
        """Refuse parts that do not belong together."""
        head = without_names(self.head)
        shown = len(self.exemplars)
        voters = len(head.exemplars) if isinstance(head, VoteHead | NeighbourHead) else shown
        if not shown == len(self.embeddings) == voters:
            message = f"{shown} exemplars, {len(self.embeddings)} embeddings, {voters} that vote"
            raise ValueError(message)

    @property
    def task(self) -> Task:
        """Whether an answer holds one intent, or any number of them."""
        return self.calibration.task

    @property
    def by_name(self) -> tuple[str, ...]:
        """Intents without an exemplar, which are answered by their names alone."""
        return tuple(name for at, name in enumerate(self.head.intents) if self._by_name(at))

    @property
    def targets(self) -> ScoreArray:
        """Labels of the exemplars as votes count them, (m, intents)."""
        head = without_names(self.head)
        if isinstance(head, VoteHead | NeighbourHead):
            return head.targets
        return target_matrix(
            [exemplar.intents for exemplar in self.exemplars], head.intents, others=True
        )

    def scores(self, texts: Sequence[str], embeddings: FloatArray | None = None) -> ScoreArray:
        """Score texts, raw and without evidence; (n, intents) float64 in the head's order.

        Args:
            texts: The texts.
            embeddings: Of the texts, where they are computed already; (n, d).
        """
        return self.head.scores(self._embedded(texts, embeddings))

    def predict(
        self, texts: Sequence[str], embeddings: FloatArray | None = None
    ) -> list[Prediction]:
        """Answer texts in their order; each answer is independent of the others.

        Args:
            texts: The texts.
            embeddings: Of the texts, where they are computed already; (n, d).
        """
        rows = self._embedded(texts, embeddings)
        answers: list[Prediction] = []
        for start in range(0, len(texts), _CHUNK):
            part = slice(start, start + _CHUNK)
            answers += self._predict_chunk(texts[part], rows[part])
        return answers

    def _embedded(self, texts: Sequence[str], embeddings: FloatArray | None) -> FloatArray:
        if embeddings is None:
            return self.encoder.encode(texts)
        if len(embeddings) != len(texts):
            message = f"{len(texts)} texts came with {len(embeddings)} embeddings"
            raise ValueError(message)
        return embeddings

    def _predict_chunk(self, texts: Sequence[str], embeddings: FloatArray) -> list[Prediction]:
        scores = self.head.scores(embeddings)
        voices = voices_of(self.head, embeddings)
        ranked = _ranked(self.head.intents, scores, probabilities(scores, self.calibration))
        if self.task == "multi-label":
            decided = [self._decide_many(*row) for row in zip(texts, scores, strict=True)]
        else:
            familiarity = self.calibration.familiarity(embeddings, scores).tolist()
            decided = [self._decide(*row) for row in zip(texts, scores, familiarity, strict=True)]
        similarity = cosines(unit_rows(embeddings), self.embeddings)
        reasons = self._reasons(similarity, scores, voices, [columns for _, columns in decided])
        return [
            Prediction(
                text, ranked[row], decision, reasons[row], self.model_version, self.dataset_version
            )
            for row, (text, (decision, _)) in enumerate(zip(texts, decided, strict=True))
        ]

    def _decide(
        self, text: str, scores: ScoreArray, familiarity: float
    ) -> tuple[Decision, list[int]]:
        """Decide on the intent of the highest score; also its column, to give the reason for."""
        best = int(scores.argmax())
        name, threshold = self.head.intents[best], float(self.calibration.limits(len(scores))[best])
        twin = self.exact.get(match_key(text))
        rule: Literal["exact", "votes", "out-of-scope"] = "exact"
        if twin is None:
            rule = "votes" if familiarity >= threshold else "out-of-scope"
            twin = (name,) if rule == "votes" else ()
        measure = self.calibration.measure
        by_fence = None if measure == "votes" else familiarity
        score = float(scores[best])
        return Decision(twin, rule, score, threshold, name, measure, by_fence), [best]

    def _decide_many(self, text: str, scores: ScoreArray) -> tuple[Decision, list[int]]:
        """Decide on every intent by its own threshold; also the columns to give reasons for."""
        names, thresholds = self.head.intents, self.calibration.limits(len(scores))
        twin = self.exact.get(match_key(text))
        if twin is None:
            chosen = np.flatnonzero(scores >= thresholds)
        else:
            chosen = np.array([at for at, name in enumerate(names) if name in twin], dtype=np.int64)
        columns = chosen[np.argsort(-scores[chosen], kind="stable")].tolist()
        leading = columns[0] if columns else int((scores - thresholds).argmax())
        rule: Literal["exact", "votes", "no-intent"] = "votes" if columns else "no-intent"
        if twin is not None:
            rule = "exact"
        decision = Decision(
            tuple(names[column] for column in columns),
            rule,
            float(scores[leading]),
            float(thresholds[leading]),
            names[leading],
        )
        return decision, columns or [leading]

    def _reasons(
        self,
        similarity: ScoreArray,
        scores: ScoreArray,
        voices: ScoreArray,
        columns: Sequence[Sequence[int]],
    ) -> list[tuple[Reason, ...]]:
        """Explain for each text the scores of some columns, at least of one."""
        thresholds = self.calibration.limits(scores.shape[1]).tolist()
        rows = np.repeat(np.arange(len(columns)), [len(of_text) for of_text in columns])
        flat = np.array([column for of_text in columns for column in of_text], dtype=np.int64)
        if len(rows) > len(columns):  # else each text has one row already, and needs no copy
            similarity = similarity[rows]
        evidence = iter(self._evidence(similarity, flat))
        return [
            tuple(
                Reason(
                    self.head.intents[column],
                    float(scores[row, column]),
                    thresholds[column],
                    self._prior(column),
                    next(evidence),
                    float(voices[row, column]),
                    self._by_name(column),
                )
                for column in of_text
            )
            for row, of_text in enumerate(columns)
        ]

    def _evidence(
        self, similarity: ScoreArray, columns: NDArray[np.int64]
    ) -> list[tuple[Neighbour, ...]]:
        """Show for each row of cosines the exemplars that moved the score of its column most.

        Votes are ordered by their size, for or against; where there are none, by cosine.
        """
        weight = similarity
        match without_names(self.head):
            case VoteHead() as head:
                votes = votes_for(head, similarity, columns)
                # For an intent that has a name alone none votes: there the nearest are shown.
                weight = np.where(head.labelled[columns][:, None], np.abs(votes), similarity)
            case NeighbourHead() as head:
                votes = neighbour_votes(head, similarity, columns)
            case _:
                votes = np.zeros_like(similarity)
        # Sums of products differ in their last bits with the number of texts asked at once;
        # rounded, exemplars that weigh the same keep their order.
        places = nearest(np.round(weight, _DECIMALS), self.n_neighbours)
        near = np.take_along_axis(similarity, places, 1).tolist()
        voted = np.take_along_axis(votes, places, 1).tolist()
        return [
            tuple(
                Neighbour(exemplar.id, exemplar.text, exemplar.intents, cosine, vote)
                for exemplar, cosine, vote in zip(
                    (self.exemplars[place] for place in row), near[at], voted[at], strict=True
                )
            )
            for at, row in enumerate(places.tolist())
        ]

    def _prior(self, column: int) -> float:
        """The part of a score that no exemplar gave."""
        head = without_names(self.head)
        return float(head.prior[column]) if isinstance(head, VoteHead) else 0.0

    def _by_name(self, column: int) -> bool:
        head = without_names(self.head)
        if isinstance(head, VoteHead):  # the prior is the intent's share of the labels
            return isinstance(self.head, MixtureHead) and not head.labelled[column]
        return not self.exemplars


def _ranked(
    intents: tuple[str, ...], scores: ScoreArray, shares: ScoreArray
) -> list[tuple[IntentScore, ...]]:
    """Name scores and probabilities in falling order of the scores."""
    order = np.argsort(-scores, axis=1, kind="stable")
    names = np.array(intents, dtype=object)[order].tolist()
    by_score = np.take_along_axis(scores, order, 1).tolist()
    by_share = np.take_along_axis(shares, order, 1).tolist()
    return [
        tuple(map(IntentScore, *columns)) for columns in zip(names, by_score, by_share, strict=True)
    ]


def exact_answers(exemplars: Sequence[Exemplar]) -> dict[str, tuple[str, ...]]:
    """Map each text's match key to its intents, where all exemplars of that text agree."""
    labels: dict[str, set[frozenset[str]]] = defaultdict(set)
    for exemplar in exemplars:
        labels[match_key(exemplar.text)].add(frozenset(exemplar.intents))
    return {key: tuple(sorted(*same)) for key, same in labels.items() if len(same) == 1}
