"""What the report about a model version says: frozen values that its page shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.services.explaining.words import MEASURES
from app.services.reports.judged_again import Bin
from core.types import Task


@dataclass(frozen=True, slots=True)
class IntentLine:
    """An intent that the model knows; figures are None where it was not judged."""

    name: str
    examples: int
    sample: str
    precision: float | None
    recall: float | None
    support: int


@dataclass(frozen=True, slots=True)
class ConfusionLine:
    """Texts of one label that got another answer, with a few of them."""

    actual: str
    said: str
    count: int
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScopeLine:
    """How the model treats what it knows and what it does not.

    Attributes:
        limit: Below which a text is out of scope; None where each intent has its own.
        kept: Share of texts in scope that are answered; None where none were judged.
        outside: Texts known to have no intent.
        refused: Share of them that is refused; None without any.
        measure: What the limit is one of, in words.
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
    """What is different from the version before.

    Attributes:
        name: Of that version.
        data: What changed in the data, in words.
        words: What changed in the answers, in sentences.
        answers: A few texts whose answer changed.
    """

    name: str
    data: tuple[str, ...]
    words: tuple[str, ...]
    answers: tuple[ChangeLine, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """All that the report of a model version says.

    Attributes:
        project: Its name.
        name: `PROJECT@N`.
        state: `champion`, `candidate`, ...
        created_at: When it was made.
        task: Whether answers are one intent, or any number of them.
        recipe: How it was trained.
        base: From which encoder.
        dataset_version: What it learned from; None where that is not known.
        n_examples: How many examples it holds.
        metrics: As it was judged in training.
        intents: The weakest first.
        basis: What confusions, calibration and scope were looked at on.
        confusions: Most frequent first.
        bins: Answers by how sure they are; of several intents a text, pairs of text and intent.
        scope: In and out of scope.
        since: What is new; None for the first version.
        weaknesses: In sentences.
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
