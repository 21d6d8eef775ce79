"""A project's fence setting, and its effect on the project's texts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.types import Method


@dataclass(frozen=True, slots=True)
class FenceSetting:
    """The least familiarity of a text in scope; None is the model's own.

    Familiarity is the largest vote score, or by other methods in standard deviations of the
    examples.
    """

    limit: float | None = None
    limits: Mapping[str, float] = field(default_factory=dict)
    method: Method = "votes"


@dataclass(frozen=True, slots=True)
class Crossed:
    """A text that another fence accepts or rejects; `score` is its familiarity by that fence."""

    text: str
    place: str
    intent: str
    score: float
    labelled: str


@dataclass(frozen=True, slots=True)
class LineOutcome:
    """What a fence does to all texts: what it gives up, and what it gains.

    Attributes:
        right: Number of in-scope test texts that are accepted and answered right.
        outside: Number of texts labelled out of scope that are refused.
        unlabelled: Number of texts without a label that are refused.
    """

    right: int
    outside: int
    unlabelled: int


@dataclass(frozen=True, slots=True)
class WishedLimit:
    """A limit that is offered, with what it does.

    `lost` is the share of right answers that it refuses, as near as the texts allow; None for the
    limit that is wrong as rarely about texts in scope as about others.
    """

    lost: float | None
    limit: float
    outcome: LineOutcome


@dataclass(frozen=True, slots=True)
class PinTurn:
    """A pin whose answer another fence changes; all in words. `kept` is by the new answer."""

    text: str
    expected: str
    before: str
    after: str
    kept: bool


@dataclass(frozen=True, slots=True)
class FenceView:
    """Effect of the fence `asked`, compared with `stands`, the one in force; pairs are (now, then).

    Attributes:
        own: The model's own threshold, by the method of `asked`.
        span: Smallest and largest familiarity of all texts, by the method of `asked`.
        accuracy: Share of the in-scope test texts that are accepted and answered right.
        kept: Share of the in-scope test texts that are accepted.
        recall: Share of the texts labelled out of scope that are rejected; None without any.
        judged: Number of in-scope test texts, and of texts labelled out of scope.
        suggested: Thresholds calibrated on the labels: the project's, and those of larger intents.
        equal: The limit by the method of `asked` that accepts as many in-scope test texts as
            `stands` does or, without any, as many of all texts.
        pins: Pins whose answer changes.
        unlabelled: Number of texts without a label among those entering, and leaving.
        outside_tested: Whether the texts labelled out of scope are of the test set.
        lost: Number of in-scope test texts that are answered right now, and then refused.
        won: Number of those that are refused now, and then answered right.
        total: Number of all texts whose answers are compared, without pins.
        refused: Number of those that are out of scope.
        default: The setting of a project that has saved none: the model's own.
        in_force: What `stands` does.
        wished: Limits from lenient to strict, then the one that weighs both kinds of error alike;
            empty without a test text that is answered right.
        methods: AUROC of each method, in scope against out of scope; empty without texts of both.
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
    equal: float = 0.0
    pins: tuple[PinTurn, ...] = ()
    unlabelled: tuple[int, int] = (0, 0)
    outside_tested: bool = False
    lost: int = 0
    won: int = 0
    total: int = 0
    refused: tuple[int, int] = (0, 0)
    in_force: LineOutcome = field(default_factory=lambda: LineOutcome(0, 0, 0))
    wished: tuple[WishedLimit, ...] = ()
    default: FenceSetting = field(default_factory=FenceSetting)
