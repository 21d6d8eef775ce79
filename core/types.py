"""Frozen values that the parts of the program exchange."""

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
"""Whether an utterance has one intent, or any number of them including none."""

Precision = Literal["float32", "bfloat16"]
"""Number format in which a tuning multiplies."""

AskedPrecision = Literal["auto", "float32", "bfloat16"]
"""A number format, or the one in which this machine is quick."""

EncodingPrecision = Literal["float32", "bfloat16", "int8"]
"""Number format of the products of an encoder that only reads."""

AskedEncodingPrecision = Literal["auto", "float32", "bfloat16", "int8"]
"""A number format for reading, or the one in which this machine is quick."""

Method = Literal["votes", "nearest", "mahalanobis", "mixture"]
"""How a fence measures whether a text is familiar."""

Pause = Callable[[], None]
"""Called between steps of a long computation, every few hundredths of a second, so that the caller
can run more urgent work."""


Told = Callable[[float], None]
"""Told, between steps of a long computation, which share of it is done, in [0, 1]."""


def no_pause() -> None:
    """Continue at once."""


def told_nobody(_share: float) -> None:
    """Report to nobody."""


@dataclass(frozen=True, slots=True)
class Exemplar:
    """A labelled utterance that votes; a multi-label one names several intents, or none.

    `synthetic` is the id of the exemplar whose template it fills; empty for a real one.
    """

    id: str
    text: str
    intents: tuple[str, ...]
    synthetic: str = ""


@dataclass(frozen=True, slots=True)
class Intent:
    """An intent with its description."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An exemplar that took part in a decision, with its cosine to the text, in [-1, 1].

    `vote` is its signed part of the explained score: all votes, the prior and the part of the
    intent's name sum to it. Where other exemplars with its label say nearly the same, `twins` may
    hold their texts; then `vote` is the sum of all their votes.
    """

    exemplar_id: str
    text: str
    intents: tuple[str, ...]
    cosine: float
    vote: float
    twins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IntentScore:
    """One intent with its raw score and its calibrated probability in [0, 1]."""

    intent: str
    score: float
    probability: float


@dataclass(frozen=True, slots=True)
class Decision:
    """The pipeline's answer, and the rule behind it.

    Attributes:
        intents: The answer, by falling score; empty when out of scope, or when none fits.
        rule: `exact` the text is an exemplar's, `votes` the scores decided,
            `out-of-scope` the largest score is below the threshold,
            `no-intent` each score is below its own threshold (multi-label).
        score: The score compared with the threshold. For multi-label, that of the answer's highest
            ranked intent, or of the one nearest to its threshold.
        threshold: Lowest score in scope, or lowest score of that intent.
        leading: The intent of that score.
        measure: What the threshold applies to: the score, or another method's familiarity.
        familiarity: None where the score decides.
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
        """The value compared with the threshold."""
        return self.score if self.familiarity is None else self.familiarity

    @property
    def out_of_scope(self) -> bool:
        """Whether no intent fits where one had to."""
        return self.rule == "out-of-scope"

    @property
    def words(self) -> str:
        """The answer in words."""
        return " and ".join(self.intents) or ("out of scope" if self.out_of_scope else "no intent")


@dataclass(frozen=True, slots=True)
class Reason:
    """Why an intent has its score: prior, name and the votes of all exemplars sum to it.

    Attributes:
        threshold: Lowest score with which the intent is answered.
        prior: The part of the score that no exemplar gave (the intent's share of labels).
        neighbours: The exemplars that moved this score most, by falling absolute vote.
        voice: The part that the intent's name and description gave.
        by_name: Whether only its name decides, since no exemplar of the intent has a vote.
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
    """The answer for one text, with its evidence; versions are None outside a project.

    Attributes:
        ranked: Intents by falling score.
        reasons: For multi-label, one for each intent of the answer, in its order; otherwise one,
            for the intent whose score was compared with the threshold.
    """

    text: str
    ranked: tuple[IntentScore, ...]
    decision: Decision
    reasons: tuple[Reason, ...]
    model_version: str | None = None
    dataset_version: str | None = None

    @property
    def intent(self) -> str:
        """The highest ranked intent, for any decision."""
        return self.ranked[0].intent

    @property
    def reason(self) -> Reason:
        """The first reason: that of the intent whose score decided."""
        return self.reasons[0]
