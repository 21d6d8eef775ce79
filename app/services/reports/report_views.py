"""Values of the report about a model version, shown on its page."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.services.explaining.words import MEASURES
from app.services.reports.judged_again import Bin
from app.services.versions.comparison_views import Outcome
from app.services.versions.verdict import Advice, Level
from core.text import FEW
from core.types import Task


@dataclass(frozen=True, slots=True)
class IntentLine:
    """An intent of the model; figures are None where it was not evaluated.

    `said` counts the answers with it, of which `precision` are right.
    """

    name: str
    examples: int
    sample: str
    precision: float | None
    recall: float | None
    support: int
    said: int = 0

    @property
    def is_sure(self) -> bool:
        """Whether enough texts tell how well it works; receipts say the same of it."""
        return self.recall is not None and self.support >= FEW

    @property
    def share(self) -> float | None:
        """What goes wrong most: texts that are not found, or answers that are not right."""
        return min((one for one in (self.recall, self.precision) if one is not None), default=None)


REFUSED = ""
"""Stands for the answer of a line whose texts were refused."""


@dataclass(frozen=True, slots=True)
class ConfusionLine:
    """Texts of one label that got another answer or, as `REFUSED` says, none.

    Attributes:
        count: Number of the texts, both ways: also those of label `said` that got `actual`.
        measure: The same in words, test texts and examples told apart.
        texts: A few of them.
    """

    actual: str
    said: str
    count: int
    measure: str
    texts: tuple["WrongLine", ...]


@dataclass(frozen=True, slots=True)
class WrongLine:
    """A text, and its label and answer in words; `REFUSED` for no answer."""

    text: str
    label: str
    answer: str


@dataclass(frozen=True, slots=True)
class ScopeLine:
    """Threshold of scope (None where each intent has its own), and its effect.

    `kept` is the share of in-scope texts that are answered, `refused` the share of the `outside`
    texts without intent that are rejected; `known` if these are not of the test set.
    """

    limit: float | None
    kept: float | None
    outside: int
    refused: float | None
    measure: str = MEASURES["votes"]
    known: bool = False


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """A text that the version before answered differently."""

    text: str
    expected: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Since:
    """Changes since another version: the one that was live before, or is live, or came before.

    Attributes:
        name: `PROJECT@N` of the other version.
        version: The same in words: "version N".
        data: What changed in the data, in words; None where it is not known.
        words: The comparison in sentences, with its figures.
        verdict: How many are right in each, in words, and whether the difference is luck.
        better: A few texts that are answered right now and were not; `n_better` is their number.
        worse: A few texts that were answered right and are not now.
        advice: Whether to use this version or the other; None where neither is live.
    """

    name: str
    version: str
    data: tuple[str, ...] | None
    verdict: str
    outcome: Outcome
    words: tuple[str, ...]
    better: tuple[ChangeLine, ...]
    n_better: int
    worse: tuple[ChangeLine, ...]
    n_worse: int
    advice: Advice | None = None


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """A figure for a manager: its name, its value, what it rests on, and what it means."""

    name: str
    value: str
    basis: str


@dataclass(frozen=True, slots=True)
class Readiness:
    """The answer to "can we use it?": a level, its title, why, sentences and figures.

    `headline` is the title, and where that is to be decided, also whether to use it.
    `mark` is its sign, `look` the level whose colour it has. `reasons` are what keeps it from
    being ready; empty if nothing does. `gap` says what the verdict leaves out, because nothing
    tells it.
    """

    level: Level
    headline: str
    title: str
    reasons: tuple[str, ...]
    rule: str
    sentences: tuple[str, ...]
    figures: tuple[KeyFigure, ...]
    gap: str = ""
    mark: str = ""
    look: Level = "unknown"


@dataclass(frozen=True, slots=True)
class Report:
    """The report of a model version: the first page for a manager, the rest as an appendix.

    Attributes:
        name: `PROJECT@N`.
        number: Its number.
        state: `champion`, `candidate`, ...
        ready: Whether it can be used, in sentences and three figures.
        steps: What to do next.
        work: How its training learned, in plain words.
        later: Number of changes since its training that all figures count; None: none count any.
        base: Encoder that the training started from.
        intents: The weakest first.
        basis: Texts from which confusions, calibration and scope were measured.
        confusions: The most frequent first, and not all.
        n_wrong: Number of all wrong answers, those of `confusions` among them.
        bins: Answers by confidence; with several intents, pairs of text and intent.
    """

    project: str
    name: str
    number: int
    state: str
    ready: Readiness
    created_at: str
    task: Task
    work: str
    base: str
    dataset_version: str | None
    later: int | None
    metrics: Mapping[str, Any]
    intents: tuple[IntentLine, ...]
    basis: str
    confusions: tuple[ConfusionLine, ...]
    n_wrong: int
    bins: tuple[Bin, ...]
    scope: ScopeLine
    since: Since | None
    steps: tuple[str, ...]
