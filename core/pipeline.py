"""From texts to predictions: encoder, head, decision, and the evidence."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from core.calibration.calibration import Calibration, probabilities
from core.calibration.out_of_scope import in_scope
from core.encoders.base import Encoder
from core.heads.base import Head
from core.heads.mixture import MixtureHead, voices_of, without_names
from core.heads.neighbours import NeighbourHead, neighbour_votes
from core.heads.targets import target_matrix
from core.heads.votes.fit import VoteHead, votes_for
from core.text import hidden_key, match_key
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


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision without its evidence.

    Attributes:
        columns: Columns of the scores that an explanation of the decision is about.
        probabilities: Of the intents of the decision, in their order.
    """

    decision: Decision
    columns: list[int]
    probabilities: tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class IntentPipeline:
    """Everything that answers a text.

    Attributes:
        calibration: Turns scores into probabilities, and decides what is out of scope.
        exemplars: The labelled utterances that are shown as evidence.
        embeddings: Unit rows of the exemplars, (m, d) float32; for votes the voting rows.
        n_neighbours: Number of exemplars in a reason.
        exact: Match key to intents; texts with contradicting labels are absent.

    Raises:
        ValueError: Exemplars, embeddings and voting rows differ in number.
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
        head = without_names(self.head)
        shown = len(self.exemplars)
        voters = len(head.exemplars) if isinstance(head, VoteHead | NeighbourHead) else shown
        if not shown == len(self.embeddings) == voters:
            message = f"{shown} exemplars, {len(self.embeddings)} embeddings, {voters} that vote"
            raise ValueError(message)

    @property
    def task(self) -> Task:
        """Whether an answer is one intent, or any number of them."""
        return self.calibration.task

    @property
    def by_name(self) -> tuple[str, ...]:
        """Intents without an exemplar, which are answered by their names."""
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
        """Score texts, or given embeddings (n, d); (n, intents) float64 in the head's order."""
        return self.head.scores(self._embedded(texts, embeddings))

    def predict(
        self, texts: Sequence[str], embeddings: FloatArray | None = None
    ) -> list[Prediction]:
        """Answer texts in their order, each independently; (n, d) embeddings may be given."""
        rows = self._embedded(texts, embeddings)
        answers: list[Prediction] = []
        for start in range(0, len(texts), _CHUNK):
            part = slice(start, start + _CHUNK)
            answers += self._predict_chunk(texts[part], rows[part])
        return answers

    def decide(self, texts: Sequence[str], embeddings: FloatArray | None = None) -> list[Decided]:
        """Answer texts as `predict` does, without the evidence, which takes most of its memory."""
        rows = self._embedded(texts, embeddings)
        decided: list[Decided] = []
        for start in range(0, len(texts), _CHUNK):
            part = slice(start, start + _CHUNK)
            decided += self._decided(texts[part], rows[part], self.head.scores(rows[part]))
        return decided

    def _decided(
        self, texts: Sequence[str], embeddings: FloatArray, scores: ScoreArray
    ) -> list[Decided]:
        if self.task == "multi-label":
            found = [self._decide_many(*row) for row in zip(texts, scores, strict=True)]
        else:
            familiarity = self.calibration.familiarity(embeddings, scores)
            limits = self.calibration.limits(scores.shape[1])[scores.argmax(1)]
            inside = in_scope(familiarity, limits).tolist()
            rows = zip(texts, scores, familiarity.tolist(), inside, strict=True)
            found = [self._decide(*row, inside=within) for *row, within in rows]
        column = {name: at for at, name in enumerate(self.head.intents)}
        shares = probabilities(scores, self.calibration)
        return [
            Decided(
                decision,
                columns,
                tuple(float(of_text[column[name]]) for name in decision.intents if name in column),
            )
            for (decision, columns), of_text in zip(found, shares, strict=True)
        ]

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
        decided = self._decided(texts, embeddings, scores)
        similarity = cosines(unit_rows(embeddings), self.embeddings)
        reasons = self._reasons(similarity, scores, voices, [one.columns for one in decided])
        return [
            Prediction(
                text,
                ranked[row],
                found.decision,
                reasons[row],
                self.model_version,
                self.dataset_version,
            )
            for row, (text, found) in enumerate(zip(texts, decided, strict=True))
        ]

    def _twin(self, text: str) -> tuple[str, ...] | None:
        """Return the intents of an exemplar that says the same; None where none does."""
        key = match_key(text)
        twin = self.exact.get(key)
        return self.exact.get(hidden_key(key)) if twin is None else twin

    def _decide(
        self, text: str, scores: ScoreArray, familiarity: float, *, inside: bool
    ) -> tuple[Decision, list[int]]:
        """Decide by the highest score; also return its column."""
        best = int(scores.argmax())
        name, threshold = self.head.intents[best], float(self.calibration.limits(len(scores))[best])
        twin = self._twin(text)
        rule: Literal["exact", "votes", "out-of-scope"] = "exact"
        if twin is None:
            rule = "votes" if inside else "out-of-scope"
            twin = (name,) if rule == "votes" else ()
        measure = self.calibration.measure
        by_fence = None if measure == "votes" else familiarity
        score = float(scores[best])
        return Decision(twin, rule, score, threshold, name, measure, by_fence), [best]

    def _decide_many(self, text: str, scores: ScoreArray) -> tuple[Decision, list[int]]:
        """Decide on every intent by its own threshold; also return the columns to explain."""
        names, thresholds = self.head.intents, self.calibration.limits(len(scores))
        twin = self._twin(text)
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
        """Explain the scores of at least one column for each text."""
        thresholds = self.calibration.limits(scores.shape[1]).tolist()
        rows = np.repeat(np.arange(len(columns)), [len(of_text) for of_text in columns])
        flat = np.array([column for of_text in columns for column in of_text], dtype=np.int64)
        if len(rows) > len(columns):  # saves a copy where each text has one row
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
        """Return the exemplars that explain the score of each row's column.

        The votes head orders them by absolute vote, other heads by cosine.
        """
        weight = similarity
        match without_names(self.head):
            case VoteHead() as head:
                votes = votes_for(head, similarity, columns)
                # An intent without examples has no votes, so the nearest exemplars are shown.
                weight = np.where(head.labelled[columns][:, None], np.abs(votes), similarity)
            case NeighbourHead() as head:
                votes = neighbour_votes(head, similarity, columns)
            case _:
                votes = np.zeros_like(similarity)
        # The last bits of a product depend on the number of texts in the batch; rounding keeps
        # the order of exemplars with equal weight.
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
        """Return the part of a score that no exemplar gave."""
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
    """Pair scores and probabilities with intents, in falling order of the scores."""
    order = np.argsort(-scores, axis=1, kind="stable")
    names = np.array(intents, dtype=object)[order].tolist()
    by_score = np.take_along_axis(scores, order, 1).tolist()
    by_share = np.take_along_axis(shares, order, 1).tolist()
    return [
        tuple(map(IntentScore, *columns)) for columns in zip(names, by_score, by_share, strict=True)
    ]


def exact_answers(exemplars: Sequence[Exemplar]) -> dict[str, tuple[str, ...]]:
    """Map the match key of each text to its intents, if all its exemplars agree."""
    labels: dict[str, set[frozenset[str]]] = defaultdict(set)
    for exemplar in exemplars:
        labels[match_key(exemplar.text)].add(frozenset(exemplar.intents))
    return {key: tuple(sorted(*same)) for key, same in labels.items() if len(same) == 1}


def renamed(pipeline: IntentPipeline, intents: tuple[str, ...]) -> IntentPipeline:
    """Return a pipeline whose intents, in the order of its scores, have these names."""
    to = dict(zip(pipeline.head.intents, intents, strict=True))

    def named(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(sorted(to.get(name, name) for name in names))

    return replace(
        pipeline,
        head=_renamed_head(pipeline.head, intents),
        exemplars=tuple(replace(e, intents=named(e.intents)) for e in pipeline.exemplars),
        exact={key: named(names) for key, names in pipeline.exact.items()},
    )


def _renamed_head(head: Head, intents: tuple[str, ...]) -> Head:
    if isinstance(head, MixtureHead):
        first, names = _renamed_head(head.first, intents), replace(head.names, intents=intents)
        return replace(head, first=first, names=names)
    found: Any = head  # every other head is a value with its intents
    return cast("Head", replace(found, intents=intents))
