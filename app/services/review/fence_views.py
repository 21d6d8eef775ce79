"""The setting of a project's fence, and what a fence does to the project's texts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.types import Method


@dataclass(frozen=True, slots=True)
class FenceSetting:
    """The thresholds of familiarity from which on a text is in scope.

    Attributes:
        limit: Threshold of the project; None is the model's own.
        limits: Thresholds of single intents, by intent id.
        method: What the thresholds are of: the largest vote score, or the familiarity of a text in
            standard deviations of the examples.
    """

    limit: float | None = None
    limits: Mapping[str, float] = field(default_factory=dict)
    method: Method = "votes"


@dataclass(frozen=True, slots=True)
class Crossed:
    """A text that another fence lets in or keeps out; `score` is its familiarity by that fence."""

    text: str
    place: str
    intent: str
    score: float
    labelled: str


@dataclass(frozen=True, slots=True)
class FenceView:
    """What a fence does, compared with the one in force. Pairs are in this order: now, then.

    Attributes:
        own: The model's own threshold, by the method of `asked`.
        stands: The setting in force.
        asked: The setting that is tried.
        span: Smallest and largest familiarity of all texts, by the method of `asked`.
        accuracy: Share of the test texts in scope that are let in and answered right.
        kept: Share of the test texts in scope that are let in.
        recall: Share of the texts labelled out of scope that stay out; None without any.
        judged: Number of test texts in scope, and of texts labelled out of scope.
        entering: The first texts that would be let in.
        n_entering: Number of texts that would be let in.
        leaving: The first texts that would be kept out.
        n_leaving: Number of texts that would be kept out.
        suggested: Thresholds calibrated on the labels: the project's, and those of larger intents.
        methods: AUROC of each method, in scope against out of scope; empty without texts of both.
        best: The method of the highest AUROC; None without any.
    """

    own: float
    stands: FenceSetting
    asked: FenceSetting
    span: tuple[float, float]
    accuracy: tuple[float, float] | None
    kept: tuple[float, float] | None
    recall: tuple[float, float] | None
    judged: tuple[int, int]
    entering: tuple[Crossed, ...]
    n_entering: int
    leaving: tuple[Crossed, ...]
    n_leaving: int
    suggested: FenceSetting
    methods: dict[Method, float]
    best: Method | None
