"""The fence of a project: from where on a text is in scope, by which method, and who crosses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import TYPE_CHECKING, get_args

import numpy as np
from numpy.typing import NDArray

from app.services.answering.as_project import exemplar_signals, own_threshold
from app.services.answering.opened import Space
from app.services.embedding import embed_texts
from app.services.live.live_model import LiveModel
from app.services.live.pool import Pool
from app.services.live.server_state import LiveStudio, open_live
from app.services.review.findings import honest_with_names, labels_of
from core.calibration.fence import Fence, crossing, signals, with_intent_limits, with_limit
from core.errors import InvalidInput
from core.metrics.out_of_scope import auroc
from core.types import FloatArray, Method, ScoreArray
from storage import projects
from storage.queries import dataset, utterances
from storage.queries.utterances import Filter, Page
from storage.records import ProjectRecord, UtteranceRecord

if TYPE_CHECKING:
    from core.calibration.fence_units import ExemplarSignals

_MOST = 10_000
_SHOWN = 50
_BARE = Fence("votes", (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
"""Familiarity is the largest vote score itself, which the pipeline decides by."""

_FARTHEST: Mapping[bool, float] = {True: 10.0, False: 1_000.0}
"""How far a limit may lie: of votes, and of what is measured in standard deviations."""


@dataclass(frozen=True, slots=True)
class FenceSetting:
    """From where on a text is in scope.

    Attributes:
        limit: Of the project; None is the model's own.
        limits: Of intents by id, where they have one of their own.
        method: What they are limits of: the largest vote score, or how familiar a text is in
            standard deviations of the examples.
    """

    limit: float | None = None
    limits: Mapping[str, float] = field(default_factory=dict)
    method: Method = "votes"


@dataclass(frozen=True, slots=True)
class Crossed:
    """A text that another fence lets in or keeps out; `score` is by the method looked at."""

    text: str
    place: str
    intent: str
    score: float
    labelled: str


@dataclass(frozen=True, slots=True)
class FenceView:
    """What a fence does, beside the one that stands.

    Attributes:
        own: The model's own limit, by the method that is looked at.
        stands: The setting that holds now.
        asked: The setting that is looked at.
        span: The smallest and largest familiarity of all texts, by that method.
        accuracy: Share of the texts to judge by, in scope, that are answered right: now and then.
        kept: Share of them that are let in.
        recall: Share of the texts labelled out of scope that stay out; None without any.
        judged: How many texts of each there are: in scope, out of scope.
        entering: The first texts that would be let in, and how many.
        leaving: The first that would be kept out, and how many.
        suggested: Limits calibrated on the labels: the project's, and those of larger intents.
        methods: How well each tells the two apart (AUROC); empty without texts of both.
        best: The method that does so best; None without.
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


@dataclass(frozen=True, slots=True, eq=False)
class _Scope:
    """Texts on both sides of a fence, scored.

    Attributes:
        inside: Labelled texts to judge by.
        outside: Texts labelled out of scope; none of them votes.
        pool: Texts without a label.
        scores: Of the three, one after the other, (n, intents).
        rows: Their embeddings, (n, d).
        suggested: Limits of votes that the labels ask for.
    """

    inside: tuple[UtteranceRecord, ...]
    outside: tuple[UtteranceRecord, ...]
    pool: tuple[UtteranceRecord, ...]
    scores: ScoreArray = field(repr=False)
    rows: FloatArray = field(repr=False)
    suggested: FenceSetting

    @property
    def sides(self) -> tuple[slice, slice]:
        """Where texts in scope, and those out of it, are among the scores."""
        n_inside = len(self.inside)
        return slice(0, n_inside), slice(n_inside, n_inside + len(self.outside))

    @property
    def records(self) -> tuple[UtteranceRecord, ...]:
        """All of them, in the order of the scores."""
        return (*self.inside, *self.outside, *self.pool)


def look(live_studio: LiveStudio, project: str, asked: FenceSetting | None = None) -> FenceView:
    """Tell what a fence would do; without one, what the standing one does.

    Raises:
        InvalidInput: A limit is no number, or a text may have several intents.
        NotFound: The project has no model.
    """
    found, live = open_live(live_studio, project)
    _refuse_several(found)
    trained = live.base.pipeline.calibration
    stands = setting_of(found, trained.measure)
    asked = _checked(asked or stands)
    case = _case(live_studio, found, live)
    own = {m: own_threshold(trained, m, case.ask) for m in {stands.method, asked.method}}
    by = {m: case.familiarity(m) for m in own}
    now, then = (
        _fence(live, own[one.method], one).inside(by[one.method], case.scope.scores.argmax(1))
        for one in (stands, asked)
    )
    familiar = by[asked.method]
    moved = crossing(now, then, familiar)
    with live_studio.studio.database.read() as connection:
        names = {i.id: i.name for i in dataset.intents(connection, found.id)}

    def told(rows: NDArray[np.int64]) -> tuple[Crossed, ...]:
        chosen = rows[:_SHOWN].tolist()
        return tuple(_crossed(live, case.scope, names, (row, familiar[row])) for row in chosen)

    (inside, outside), methods = case.scope.sides, case.methods()
    right = _right(live, case.scope)
    return FenceView(
        own=own[asked.method],
        stands=stands,
        asked=asked,
        span=_span(asked.method, familiar, own[asked.method]),
        accuracy=_shares([right & now[inside], right & then[inside]]),
        kept=_shares([now[inside], then[inside]]),
        recall=_shares([~now[outside], ~then[outside]]),
        judged=(len(case.scope.inside), len(case.scope.outside)),
        entering=told(moved.entering),
        n_entering=len(moved.entering),
        leaving=told(moved.leaving),
        n_leaving=len(moved.leaving),
        suggested=case.suggested(asked.method),
        methods=methods,
        best=max(methods, key=lambda method: methods[method], default=None),
    )


def _span(method: Method, familiar: ScoreArray, own: float) -> tuple[float, float]:
    low, high = (0.0, 1.0) if method == "votes" else (own, own)
    return float(familiar.min(initial=low)), float(familiar.max(initial=high))


def save(live_studio: LiveStudio, project: str, setting: FenceSetting) -> None:
    """Let the project answer by a fence from now on; an empty one leaves it to the model.

    Raises:
        InvalidInput: A limit is no number, or a text may have several intents.
        NotFound: There is no such project or intent.
    """
    _checked(setting)
    with live_studio.studio.database.read() as connection:
        found = projects.find(connection, project)
    _refuse_several(found)
    live = live_studio.models.get(found.id) if setting.method != "votes" else None
    if setting.method != "votes" and (live is None or not live.pipeline.exemplars):
        raise InvalidInput(
            "Only the score is known without examples that vote.", "Label some, and train."
        )
    known = live_studio.models.peek(found.id)
    own = "votes" if known is None else known.pipeline.calibration.measure
    with live_studio.studio.database.write() as connection:
        for key in setting.limits:
            dataset.intent_by_id(connection, found.id, key)
        kept = {"limit": setting.limit, "limits": dict(setting.limits), "method": setting.method}
        empty = setting.limit is None and not setting.limits and setting.method == own
        projects.change_fence(connection, found.id, None if empty else kept)


def setting_of(project: ProjectRecord, measure: Method = "votes") -> FenceSetting:
    """Return the fence that stands; where there is none, the model's own `measure`."""
    kept = project.fence
    if kept is None:
        return FenceSetting(method=measure)
    return FenceSetting(kept.get("limit"), kept.get("limits") or {}, kept.get("method", "votes"))


def _checked(setting: FenceSetting) -> FenceSetting:
    numbers = [*setting.limits.values(), *([] if setting.limit is None else [setting.limit])]
    most = _FARTHEST[setting.method == "votes"]
    if not all(isfinite(one) and abs(one) <= most for one in numbers):
        raise InvalidInput(
            "A limit is no usable number.", f"Use one between -{most:g} and {most:g}."
        )
    return setting


def _refuse_several(project: ProjectRecord) -> None:
    if project.task == "multi-label":
        raise InvalidInput(
            "Where a text may have several intents, each has a threshold of its own.",
            "They are chosen when a version is trained.",
        )


def _fence(live: LiveModel, own: float, setting: FenceSetting) -> Fence:
    place = {key: column for column, key in enumerate(live.columns)}
    limits = {place[key]: limit for key, limit in setting.limits.items() if key in place}
    limit = own if setting.limit is None else setting.limit
    return replace(_BARE, limit=limit, limits=limits)


def _crossed(
    live: LiveModel, scope: _Scope, names: Mapping[str, str], at: tuple[int, float]
) -> Crossed:
    row, familiar = at
    record, column = scope.records[row], int(scope.scores[row].argmax())
    labels = record.labels
    said = "" if labels is None else ", ".join(names.get(k, "?") for k in labels) or "out of scope"
    intent = names.get(live.columns[column], live.pipeline.head.intents[column])
    return Crossed(record.text, record.split, intent, float(familiar), said)


def _right(live: LiveModel, scope: _Scope) -> NDArray[np.bool_]:
    won = scope.scores[: len(scope.inside)].argmax(1)
    pairs = zip(scope.inside, won.tolist(), strict=True)
    return np.array([live.columns[c] in (r.labels or ()) for r, c in pairs], dtype=bool)


def _shares(found: Sequence[NDArray[np.bool_]]) -> tuple[float, float] | None:
    now, then = found
    return (float(now.mean()), float(then.mean())) if len(now) else None


@dataclass(frozen=True, slots=True, eq=False)
class _Case:
    """A project's texts, and how familiar they are; what is dear is kept by the cache.

    Attributes:
        live_studio: The open studio and its live models.
        project: The project.
        live: The model.
        scope: The texts.
        key: Of what was measured: of a revision, and of a look at the pool.
    """

    live_studio: LiveStudio
    project: ProjectRecord
    live: LiveModel
    scope: _Scope
    key: tuple[object, ...]

    def ask(self) -> "ExemplarSignals":
        """Return how familiar the version's exemplars are to each other."""
        return exemplar_signals(self.live_studio.studio, Space(self.project, self.live.version))

    def familiarity(self, method: Method) -> ScoreArray:
        """How familiar all texts are; (n,)."""
        if method == "votes":
            largest: ScoreArray = self.scope.scores.max(1)
            return largest
        parts = self._signals("labelled"), self._signals("pool")
        return self._fence(method).familiarity(np.concatenate(parts))

    def methods(self) -> dict[Method, float]:
        """How well each method tells texts in scope from the others; empty without both."""
        inside, outside = self.scope.sides
        if not (self.scope.inside and self.scope.outside and self.live.pipeline.exemplars):
            return {}
        measured = self._signals("labelled")
        return {
            method: auroc(found[inside], found[outside])
            for method in get_args(Method)
            for found in [self._fence(method).familiarity(measured)]
        }

    def suggested(self, method: Method) -> FenceSetting:
        """Limits that the labels ask for, by the examples, each judged by the others."""
        if method == "votes":
            return self.scope.suggested
        outside = self.familiarity(method)[self.scope.sides[1]]
        inside, columns = self.ask().familiarity(method)
        if not len(inside):
            return FenceSetting(self.ask().limit(method, 0.0), {}, method)
        fence = with_intent_limits(
            with_limit(self._fence(method), inside, outside), inside, columns
        )
        return FenceSetting(fence.limit, _by_intent(self.live, fence), method)

    def _fence(self, method: Method) -> Fence:
        return self.ask().fence(method)

    def _signals(self, which: str) -> ScoreArray:
        n_labelled, made = self.scope.sides[1].stop, self.scope
        part = slice(0, n_labelled) if which == "labelled" else slice(n_labelled, None)

        def measure() -> ScoreArray:
            pipeline = self.live.pipeline
            shapes = self.ask().measure_on("mixture", pipeline.embeddings, pipeline.targets).shapes
            return signals(shapes, made.rows[part], made.scores[part])

        return self.live_studio.studio.cache.get(
            ("signals", which, *self.key), measure, lambda found: int(found.nbytes)
        )


def _case(live_studio: LiveStudio, project: ProjectRecord, live: LiveModel) -> _Case:
    """The texts on both sides, scored once for each revision and look at the pool."""
    pool = live_studio.pools.wait(project.id)
    looked = None if pool is None else (pool.live.revision, len(pool.records))
    key = (project.id, live.version.id, live.revision, looked)
    scope = live_studio.studio.cache.get(
        ("scope", *key),
        lambda: _scope(live_studio, project, live, pool),
        lambda made: int(made.scores.nbytes + made.rows.nbytes),
    )
    return _Case(live_studio, project, live, scope, key)


def _scope(
    live_studio: LiveStudio, project: ProjectRecord, live: LiveModel, pool: Pool | None
) -> _Scope:
    with live_studio.studio.database.read() as connection:
        page, which = Page(0, _MOST), Filter(split="test", state="labelled")
        inside, _ = utterances.read_page(connection, project.id, which, "oldest", page)
        outer = Filter(state="out-of-scope")
        outside, _ = utterances.read_page(connection, project.id, outer, "oldest", page)
    waiting = () if pool is None else pool.records
    records = (*inside, *outside, *waiting)
    rows = live.pipeline.embeddings[:0]
    scores = np.zeros((0, len(live.columns)))
    if records:
        texts = [record.text for record in records]
        rows = embed_texts(live_studio.studio.database, live.pipeline.encoder, texts)
        scores = live.pipeline.head.scores(rows)
    outer_scores = scores[len(inside) : len(inside) + len(outside)]
    suggested = _suggested_by_votes(live, outer_scores)
    return _Scope(tuple(inside), tuple(outside), waiting, scores, rows, suggested)


def _suggested_by_votes(live: LiveModel, outer: ScoreArray) -> FenceSetting:
    """Choose limits by the examples, each judged by the others."""
    honest = honest_with_names(live)
    familiar, columns = honest.max(1), honest.argmax(1)
    outside = outer.max(1) if len(outer) else None
    fence = with_intent_limits(with_limit(_BARE, familiar, outside), familiar, columns)
    return FenceSetting(fence.limit, _by_intent(live, fence))


def _by_intent(live: LiveModel, fence: Fence) -> dict[str, float]:
    """Limits of intents that have examples, by id."""
    labels = labels_of(live)
    return {
        live.columns[column]: limit
        for column, limit in fence.limits.items()
        if any(live.columns[column] in of for of in labels)
    }
