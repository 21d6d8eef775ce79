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
        vote: Signed share of the winning intent's score; all votes and the prior sum to the score.
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
        intents: The answer; empty when out of scope.
        rule: `exact` the text is an exemplar's, `votes` the scores decided,
            `out-of-scope` the largest score stayed under the threshold.
        score: The score that was held against the threshold.
        threshold: Score from which on a text counts as in scope.
    """

    intents: tuple[str, ...]
    rule: Literal["exact", "votes", "out-of-scope"]
    score: float
    threshold: float

    @property
    def out_of_scope(self) -> bool:
        """Whether no intent was found to fit."""
        return self.rule == "out-of-scope"


@dataclass(frozen=True, slots=True)
class Prediction:
    """The answer for one text, with its evidence.

    Attributes:
        text: The text as it was asked.
        ranked: Intents by falling score.
        decision: The answer and the rule that gave it.
        neighbours: The exemplars that weighed most, by falling absolute vote.
        prior: The part of the winning score that no exemplar gave (the intent's share of labels).
        model_version: Name of the model version, or None outside a project.
        dataset_version: Name of the dataset version it was trained on, or None.
    """

    text: str
    ranked: tuple[IntentScore, ...]
    decision: Decision
    neighbours: tuple[Neighbour, ...]
    prior: float = 0.0
    model_version: str | None = None
    dataset_version: str | None = None

    @property
    def intent(self) -> str:
        """The highest ranked intent, whatever the decision."""
        return self.ranked[0].intent
