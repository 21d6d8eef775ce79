"""The one way from texts to predictions: encoder, head, decision, with the evidence."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from core.encoders.base import Encoder
from core.heads.base import Head
from core.heads.decision import Calibration, probabilities
from core.heads.kernel import kernel_of_cosines
from core.heads.votes import VoteHead
from core.text import match_key
from core.types import (
    Decision,
    Exemplar,
    FloatArray,
    IntentScore,
    Neighbour,
    Prediction,
    ScoreArray,
)
from core.vectors import unit_rows

_CHUNK = 256


@dataclass(frozen=True, slots=True, eq=False)
class IntentPipeline:
    """Everything that answers a text.

    Attributes:
        encoder: Texts to embeddings.
        head: Embeddings to scores.
        calibration: Scores to probabilities and to "out of scope".
        exemplars: The labelled utterances that are shown as evidence.
        embeddings: Theirs, unit rows, (m, d) float32. For votes these are the voting rows.
        n_neighbours: How many an answer shows.
        exact: Match key to intents; texts with contradicting labels are left out.
        model_version: Name of the model version, or None.
        dataset_version: Name of the dataset version, or None.
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

    def predict(
        self, texts: Sequence[str], embeddings: FloatArray | None = None
    ) -> list[Prediction]:
        """Answer texts in their order.

        Args:
            texts: What is asked.
            embeddings: Theirs, where they are known already; (n, d).
        """
        if embeddings is None:
            embeddings = self.encoder.encode(texts)
        answers: list[Prediction] = []
        for start in range(0, len(texts), _CHUNK):
            part = slice(start, start + _CHUNK)
            answers += self._predict_chunk(texts[part], embeddings[part])
        return answers

    def _predict_chunk(self, texts: Sequence[str], embeddings: FloatArray) -> list[Prediction]:
        scores = self.head.scores(embeddings)
        shares = probabilities(scores, self.calibration)
        order = np.argsort(-scores, axis=1, kind="stable")
        evidence = _Evidence.gather(self, embeddings, order[:, 0])
        answers: list[Prediction] = []
        for row, text in enumerate(texts):
            ranked = tuple(
                IntentScore(self.head.intents[j], float(scores[row, j]), float(shares[row, j]))
                for j in order[row]
            )
            twin = self.exact.get(match_key(text))
            answers.append(
                Prediction(
                    text=text,
                    ranked=ranked,
                    decision=self._decide(ranked[0], twin),
                    neighbours=evidence.of(self, row),
                    prior=evidence.prior(self.head, int(order[row, 0])),
                    model_version=self.model_version,
                    dataset_version=self.dataset_version,
                )
            )
        return answers

    def _decide(self, best: IntentScore, twin: tuple[str, ...] | None) -> Decision:
        limit = self.calibration.threshold
        if twin is not None:
            return Decision(twin, "exact", best.score, limit)
        if best.score < limit:
            return Decision((), "out-of-scope", best.score, limit)
        return Decision((best.intent,), "votes", best.score, limit)


@dataclass(frozen=True, slots=True)
class _Evidence:
    """Cosines and votes of every exemplar for a chunk of texts, and which of them to show."""

    cosines: ScoreArray
    votes: ScoreArray
    shown: np.ndarray[tuple[int, int], np.dtype[np.int64]]

    @staticmethod
    def gather(
        pipeline: IntentPipeline,
        embeddings: FloatArray,
        winners: np.ndarray[tuple[int], np.dtype[np.int64]],
    ) -> "_Evidence":
        cosines = (unit_rows(embeddings) @ pipeline.embeddings.T).astype(np.float64)
        votes = np.zeros_like(cosines)
        weight = cosines
        if isinstance(pipeline.head, VoteHead):
            votes = kernel_of_cosines(cosines, pipeline.head.tau) * pipeline.head.weights.T[winners]
            weight = np.abs(votes)
        n = min(pipeline.n_neighbours, weight.shape[1])
        shown = np.argpartition(-weight, n - 1, axis=1)[:, :n]
        by_weight = np.argsort(-np.take_along_axis(weight, shown, 1), axis=1, kind="stable")
        return _Evidence(cosines, votes, np.take_along_axis(shown, by_weight, 1))

    def of(self, pipeline: IntentPipeline, row: int) -> tuple[Neighbour, ...]:
        """The exemplars to show for one text, the weightiest first."""
        return tuple(
            Neighbour(
                exemplar_id=pipeline.exemplars[place].id,
                text=pipeline.exemplars[place].text,
                intents=pipeline.exemplars[place].intents,
                cosine=float(self.cosines[row, place]),
                vote=float(self.votes[row, place]),
            )
            for place in self.shown[row]
        )

    def prior(self, head: Head, column: int) -> float:
        """The part of a score that no exemplar gave."""
        return float(head.prior[column]) if isinstance(head, VoteHead) else 0.0


def exact_answers(exemplars: Sequence[Exemplar]) -> dict[str, tuple[str, ...]]:
    """Map each text's match key to its intents, where all exemplars of that text agree."""
    found: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for exemplar in exemplars:
        found[match_key(exemplar.text)].add(tuple(sorted(exemplar.intents)))
    return {key: next(iter(kinds)) for key, kinds in found.items() if len(kinds) == 1}
