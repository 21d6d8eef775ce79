"""The values that travel between the parts: frozen, without behaviour beyond derived readings."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]
"""Embeddings, (n, d) float32."""

ScoreArray = NDArray[np.float64]
"""Scores or targets, (n, intents) float64."""

Split = Literal["train", "test", "pool"]

Task = Literal["single-label", "multi-label"]
"""Whether an utterance has one intent, or any number of them and perhaps none."""


@dataclass(frozen=True, slots=True)
class Exemplar:
    """A labelled utterance that votes. A multi-label one names several intents, or none."""

    id: str
    text: str
    intents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Intent:
    """An intent as training and explanation need it."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An exemplar that took part in a decision.

    Attributes:
        exemplar_id: Id of the exemplar in its project.
        text: The exemplar's text.
        intents: The exemplar's label, as a person gave it.
        cosine: Cosine similarity to the text asked about, in [-1, 1].
        vote: Signed share of the score that is explained; all votes and the prior sum to it.
    """

    exemplar_id: str
    text: str
    intents: tuple[str, ...]
    cosine: float
    vote: float


@dataclass(frozen=True, slots=True)
class IntentScore:
    """One intent with its raw score and its calibrated probability in [0, 1]."""

    intent: str
    score: float
    probability: float


@dataclass(frozen=True, slots=True)
class Decision:
    """What the pipeline answers, and by which rule.

    Attributes:
        intents: The answer, by falling score; empty when out of scope, or when none fits.
        rule: `exact` the text is an exemplar's, `votes` the scores decided,
            `out-of-scope` the largest score stayed under the threshold,
            `no-intent` each score stayed under its own threshold, which several labels allow.
        score: The score that was held against the threshold; where there are many, that of the
            highest ranked intent in the answer, or of the one that came nearest to it.
        threshold: Score from which on a text counts as in scope, or as that intent's.
        leading: The intent whose score that is.
    """

    intents: tuple[str, ...]
    rule: Literal["exact", "votes", "out-of-scope", "no-intent"]
    score: float
    threshold: float
    leading: str = ""

    @property
    def out_of_scope(self) -> bool:
        """Whether no intent was found to fit where one had to."""
        return self.rule == "out-of-scope"

    @property
    def words(self) -> str:
        """The answer as a person reads it."""
        return " and ".join(self.intents) or ("out of scope" if self.out_of_scope else "no intent")


@dataclass(frozen=True, slots=True)
class Reason:
    """Why one of several intents is in the answer.

    Attributes:
        intent: The intent.
        score: Its score.
        threshold: Its own threshold.
        prior: The part of the score that no exemplar gave (the intent's share of labels).
        neighbours: The exemplars that moved this score most, by falling absolute vote.
    """

    intent: str
    score: float
    threshold: float
    prior: float
    neighbours: tuple[Neighbour, ...]


@dataclass(frozen=True, slots=True)
class Prediction:
    """The answer for one text, with its evidence.

    Attributes:
        text: The text as it was asked.
        ranked: Intents by falling score.
        decision: The answer and the rule that gave it.
        neighbours: The exemplars that weighed most on the decision's score, by falling absolute
            vote.
        prior: The part of that score that no exemplar gave (the intent's share of labels).
        model_version: Name of the model version, or None outside a project.
        dataset_version: Name of the dataset version it was trained on, or None.
        reasons: One for each intent of a multi-label answer, in its order; else empty.
    """

    text: str
    ranked: tuple[IntentScore, ...]
    decision: Decision
    neighbours: tuple[Neighbour, ...]
    prior: float = 0.0
    model_version: str | None = None
    dataset_version: str | None = None
    reasons: tuple[Reason, ...] = ()

    @property
    def intent(self) -> str:
        """The highest ranked intent, whatever the decision."""
        return self.ranked[0].intent
