"""From texts to predictions: encoder, head, decision, and the evidence."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray

from core.calibration.calibration import Calibration, probabilities
from core.deciding import Decided, Decider, Measured
from core.encoders.base import Encoder
from core.heads.base import Head
from core.heads.mixture import MixtureHead, voices_of, without_names
from core.heads.neighbours import NeighbourHead, neighbour_votes
from core.heads.targets import target_matrix
from core.heads.votes.fit import VoteHead, votes_for
from core.text import as_hidden, hidden_key, match_key, match_keys
from core.types import (
    Exemplar,
    FloatArray,
    Prediction,
    ScoreArray,
    Task,
)
from core.vectors import cosines, unit_rows

_CHUNK = 256


class Answerer(Protocol):
    """What answers texts and tells what it has learned: a pipeline, or a graph made of one."""

    @property
    def task(self) -> Task:
        """Whether an answer is one intent, or any number of them."""
        ...

    @property
    def encoder(self) -> Encoder | None:
        """What embeds texts for `predict`; None where the model does so itself."""
        ...

    @property
    def intents(self) -> tuple[str, ...]:
        """Names of the intents, in the order of the scores."""
        ...

    @property
    def exemplars(self) -> tuple[Exemplar, ...]:
        """The labelled utterances that are shown as evidence."""
        ...

    @property
    def exact(self) -> Mapping[str, tuple[str, ...]]:
        """Match key to intents."""
        ...

    @property
    def learned(self) -> frozenset[str]:
        """Hashes of the texts that the encoder learned beside the exemplars."""
        ...

    def predict(
        self, texts: Sequence[str], embeddings: FloatArray | None = None
    ) -> list[Prediction]:
        """Answer texts in their order; their embeddings may be given."""
        ...

    def renamed(self, intents: tuple[str, ...]) -> Self:
        """Return the same with other names of its intents."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class IntentPipeline:
    """Everything that answers a text.

    Attributes:
        calibration: Turns scores into probabilities, and decides what is out of scope.
        exemplars: The labelled utterances that are shown as evidence.
        embeddings: Unit rows of the exemplars, (m, d) float32; for votes the voting rows.
        n_neighbours: Number of exemplars in a reason.
        exact: Match key to intents; texts with contradicting labels are absent.
        learned: Hashes of the texts that the encoder learned beside the exemplars, by `hashes_of`:
            unlabelled ones, and those of the versions that it was trained from. Of the model in
            use also those of the examples to which it was tuned.

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
    learned: frozenset[str] = field(default=frozenset(), repr=False)
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
    def intents(self) -> tuple[str, ...]:
        """Names of the intents, in the order of the scores."""
        return self.head.intents

    def renamed(self, intents: tuple[str, ...]) -> Self:
        """Return a pipeline whose intents, in the order of its scores, have these names."""
        decider = self.decider.renamed(intents)
        head = _renamed_head(self.head, intents)
        return replace(self, head=head, exemplars=decider.exemplars, exact=decider.exact)

    @property
    def by_name(self) -> tuple[str, ...]:
        """Intents without an exemplar, which are answered by their names."""
        by_name = self.decider.by_name
        return tuple(name for name, alone in zip(self.head.intents, by_name, strict=True) if alone)

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
        rows, decider = self._embedded(texts, embeddings), self.decider
        decided: list[Decided] = []
        for start in range(0, len(texts), _CHUNK):
            part = slice(start, start + _CHUNK)
            scores = self.head.scores(rows[part])
            shares = probabilities(scores, self.calibration)
            familiarity = self._familiarity(rows[part], scores)
            decided += decider.decided(texts[part], scores, shares, familiarity)
        return decided

    def _familiarity(self, embeddings: FloatArray, scores: ScoreArray) -> ScoreArray:
        """Return what is compared with the thresholds of one intent; (n,)."""
        if self.task == "multi-label":
            return np.zeros(len(scores))
        return self.calibration.familiarity(embeddings, scores)

    def _embedded(self, texts: Sequence[str], embeddings: FloatArray | None) -> FloatArray:
        if embeddings is None:
            return self.encoder.encode(texts)
        if len(embeddings) != len(texts):
            message = f"{len(texts)} texts came with {len(embeddings)} embeddings"
            raise ValueError(message)
        return embeddings

    def _predict_chunk(self, texts: Sequence[str], embeddings: FloatArray) -> list[Prediction]:
        scores = self.head.scores(embeddings)
        similarity = cosines(unit_rows(embeddings), self.embeddings)
        found = Measured(
            scores,
            probabilities(scores, self.calibration),
            voices_of(self.head, embeddings),
            self._familiarity(embeddings, scores),
            similarity,
            partial(_votes_of, without_names(self.head), similarity),
        )
        return self.decider.decide(texts, found)

    @property
    def decider(self) -> Decider:
        """Everything that decides on an answer, besides the scores."""
        names, voting = self.head.intents, without_names(self.head)
        by_votes = np.zeros(len(names), dtype=np.bool_)
        by_name = np.full(len(names), not self.exemplars)
        prior = np.zeros(len(names))
        if isinstance(voting, VoteHead):  # the prior is the intent's share of the labels
            by_votes, prior = voting.labelled, voting.prior
            by_name = ~by_votes & isinstance(self.head, MixtureHead)
        return Decider(
            names,
            self.task,
            self.calibration.limits(len(names)),
            self.calibration.measure,
            self.exemplars,
            self.n_neighbours,
            prior,
            by_votes,
            by_name,
            self.exact,
            self.model_version,
            self.dataset_version,
        )


def _votes_of(
    head: Head, similarity: ScoreArray, rows: NDArray[np.int64], columns: NDArray[np.int64]
) -> ScoreArray:
    """Return the exemplars' votes on the score of each row's column; zeros where none votes."""
    if len(rows) > len(similarity):
        similarity = similarity[rows]
    match head:
        case VoteHead():
            return votes_for(head, similarity, columns)
        case NeighbourHead():
            return neighbour_votes(head, similarity, columns)
        case _:
            return np.zeros_like(similarity)


def exact_answers(exemplars: Sequence[Exemplar]) -> dict[str, tuple[str, ...]]:
    """Map the match key of each text to its intents, if all its exemplars agree."""
    labels: dict[str, set[frozenset[str]]] = defaultdict(set)
    for exemplar in exemplars:
        labels[match_key(exemplar.text)].add(frozenset(exemplar.intents))
    return {key: tuple(sorted(*same)) for key, same in labels.items() if len(same) == 1}


def exact_answers_now(
    stored: Mapping[str, tuple[str, ...]], exemplars: Sequence[Exemplar]
) -> Mapping[str, tuple[str, ...]]:
    """Return stored intents of texts by the match keys of now, where an earlier release had others.

    A key under which labels contradict each other by now is left out. Hashes stay as they are.
    """
    renewed = {key: match_key(key) for key in stored}
    if all(key == now for key, now in renewed.items()):
        return stored
    labels: dict[str, set[frozenset[str]]] = defaultdict(set)
    for exemplar in exemplars:
        labels[match_key(exemplar.text)].add(frozenset(exemplar.intents))
    for key, now in renewed.items():
        labels[now].add(frozenset(stored[key]))
    return {now: stored[key] for key, now in renewed.items() if len(labels[now]) == 1}


def _renamed_head(head: Head, intents: tuple[str, ...]) -> Head:
    if isinstance(head, MixtureHead):
        first, names = _renamed_head(head.first, intents), replace(head.names, intents=intents)
        return replace(head, first=first, names=names)
    found: Any = head  # every other head is a value with its intents
    return cast("Head", replace(found, intents=intents))


@dataclass(frozen=True, slots=True)
class LearnedTexts:
    """What the texts say that a model has learned, by match key, or by its hash.

    A model whose texts are left out has no hash of examples with contradicting labels.
    """

    keys: frozenset[str]

    def __contains__(self, text: str) -> bool:
        """Whether an example, or an unlabelled text that was learned, says the same as a text."""
        known = match_keys(text)
        return any(key in self.keys or hidden_key(key) in self.keys for key in known)

    @property
    def hashes(self) -> frozenset[str]:
        """The same, all by their hashes."""
        return frozenset(as_hidden(key) for key in self.keys)


def said_by(exemplars: Sequence[Exemplar], exact: Iterable[str] = ()) -> LearnedTexts:
    """Return what exemplars say; `exact` are match keys, or their hashes, of more of them."""
    return LearnedTexts(frozenset((*(match_key(one.text) for one in exemplars), *exact)))


def learned_texts(model: Answerer) -> LearnedTexts:
    """Return what a model has learned."""
    return said_by(model.exemplars, (*model.exact, *model.learned))


def learned_hashes(model: Answerer) -> frozenset[str]:
    """Return the hashes of the texts that a model has learned, with those of its exemplars."""
    return learned_texts(model).hashes


def hashes_of(texts: Iterable[str]) -> frozenset[str]:
    """Return the hashes of the match keys of texts."""
    return frozenset(hidden_key(match_key(text)) for text in texts)
