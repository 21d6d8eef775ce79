"""Values of the report about a model version, shown on its page."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.services.explaining.words import MEASURES
from app.services.reports.judged_again import Bin
from core.types import Task


@dataclass(frozen=True, slots=True)
class IntentLine:
    """An intent of the model; figures are None where it was not evaluated."""

    name: str
    examples: int
    sample: str
    precision: float | None
    recall: float | None
    support: int


@dataclass(frozen=True, slots=True)
class ConfusionLine:
    """Texts of one label that got another answer, with a few examples."""

    actual: str
    said: str
    count: int
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScopeLine:
    """Threshold of scope (None where each intent has its own), and its effect.

    `kept` is the share of in-scope texts that are answered, `refused` the share of the `outside`
    texts without intent that are rejected.
    """

    limit: float | None
    kept: float | None
    outside: int
    refused: float | None
    measure: str = MEASURES["votes"]


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """A text that the version before answered differently."""

    text: str
    expected: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Since:
    """Changes since the version before, with a few texts whose answer changed."""

    name: str
    data: tuple[str, ...]
    words: tuple[str, ...]
    answers: tuple[ChangeLine, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """The report of a model version.

    Attributes:
        name: `PROJECT@N`.
        state: `champion`, `candidate`, ...
        base: Encoder that the training started from.
        intents: The weakest first.
        basis: Texts from which confusions, calibration and scope were measured.
        confusions: The most frequent first.
        bins: Answers by confidence; with several intents, pairs of text and intent.
    """

    project: str
    name: str
    state: str
    created_at: str
    task: Task
    recipe: str
    base: str
    dataset_version: str | None
    n_examples: int
    metrics: Mapping[str, Any]
    intents: tuple[IntentLine, ...]
    basis: str
    confusions: tuple[ConfusionLine, ...]
    bins: tuple[Bin, ...]
    scope: ScopeLine
    since: Since | None
    weaknesses: tuple[str, ...]
