"""The values that travel between the parts: frozen, without behaviour beyond derived readings."""

from collections.abc import Callable
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


Method = Literal["votes", "nearest", "mahalanobis", "mixture"]
"""How it is told whether a text is familiar: what a fence goes by."""

Pause = Callable[[], None]
"""Called between steps of a long computation, every few hundredths of a second, so that its caller
can let more urgent work go first."""


def no_pause() -> None:
    """Go on at once."""


@dataclass(frozen=True, slots=True)
class Exemplar:
    """A labelled utterance that votes. A multi-label one names several intents, or none.

    `synthetic` is the id of the exemplar whose template it fills; empty for a real one.
    """

    id: str
    text: str
    intents: tuple[str, ...]
    synthetic: str = ""


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
        vote: Signed share of the score that is explained; all votes, the prior and the
            voice of the intent's name sum to it.
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
        measure: What the threshold is one of: the score, or with another method the familiarity.
        familiarity: By that other method; None where the score decides.
    """

    intents: tuple[str, ...]
    rule: Literal["exact", "votes", "out-of-scope", "no-intent"]
    score: float
    threshold: float
    leading: str = ""
    measure: Method = "votes"
    familiarity: float | None = None

    @property
    def held(self) -> float:
        """What was held against the threshold."""
        return self.score if self.familiarity is None else self.familiarity

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
    """Why an intent has its score: prior, voice and the votes of all exemplars sum to it.

    Attributes:
        threshold: From which on the intent is answered.
        prior: The part of the score that no exemplar gave (the intent's share of labels).
        neighbours: The exemplars that moved this score most, by falling absolute vote.
        voice: The part that the intent's name and description gave.
        by_name: Whether no exemplar of the intent has a vote, so that its name alone decides.
    """

    intent: str
    score: float
    threshold: float
    prior: float
    neighbours: tuple[Neighbour, ...]
    voice: float = 0.0
    by_name: bool = False


@dataclass(frozen=True, slots=True)
class Prediction:
    """The answer for one text, with its evidence.

    Attributes:
        text: The text as it was asked.
        ranked: Intents by falling score.
        decision: The answer and the rule that gave it.
        reasons: One for each intent of a multi-label answer, in its order; else one, for the
            intent whose score was held against the threshold.
        model_version: Name of the model version, or None outside a project.
        dataset_version: Name of the dataset version it was trained on, or None.
    """

    text: str
    ranked: tuple[IntentScore, ...]
    decision: Decision
    reasons: tuple[Reason, ...]
    model_version: str | None = None
    dataset_version: str | None = None

    @property
    def intent(self) -> str:
        """The highest ranked intent, whatever the decision."""
        return self.ranked[0].intent

    @property
    def reason(self) -> Reason:
        """The first of the reasons: that of the intent whose score decided."""
        return self.reasons[0]
