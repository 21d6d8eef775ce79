"""The fence of a project: from which score on a text is in scope, and who goes in and out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from app.services.embedding import embed_texts
from app.services.findings import honest_of, labels_of, votes_of
from app.services.live import LiveModel
from app.services.pool import Pool
from app.services.workbench import Workbench
from core.errors import InvalidInput, NotFound
from core.heads.fence import (
    Fence,
    Method,
    crossing,
    fit_fence,
    landscape,
    signals,
    signals_left_out,
    with_intent_limits,
    with_limit,
)
from core.metrics.out_of_scope import auroc
from core.types import ScoreArray
from storage import browse, dataset, projects
from storage.browse import Filter
from storage.records import ProjectRecord, UtteranceRecord

_MOST = 10_000
_SHOWN = 50
_BARE = Fence("votes", (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
"""Familiarity is the largest vote score itself, which the pipeline decides by."""


@dataclass(frozen=True, slots=True)
class FenceSetting:
    """From which score on a text is in scope.

    Attributes:
        limit: Of the project; None is the model's own.
        limits: Of intents by id, where they have one of their own.
    """

    limit: float | None = None
    limits: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Crossed:
    """A text that another fence lets in or keeps out."""

    text: str
    place: str
    intent: str
    score: float
    labelled: str


@dataclass(frozen=True, slots=True)
class FenceView:
    """What a fence does, beside the one that stands.

    Attributes:
        own: The model's own limit.
        stands: The setting that holds now.
        asked: The setting that is looked at.
        span: The smallest and largest score of all texts.
        accuracy: Share of the texts to judge by, in scope, that are answered right: now and then.
        kept: Share of them that are let in.
        recall: Share of the texts labelled out of scope that stay out; None without any.
        judged: How many texts of each there are: in scope, out of scope.
        entering: The first texts that would be let in, and how many.
        leaving: The first that would be kept out, and how many.
        suggested: Limits calibrated on the labels: the project's, and those of larger intents.
        methods: How well each signal tells the two apart (AUROC); empty without texts of both.
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
    methods: dict[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class _Scope:
    """Texts on both sides of a fence, scored.

    Attributes:
        inside: Labelled texts to judge by.
        outside: Texts labelled out of scope; none of them votes.
        pool: Texts without a label.
        scores: Of the three, one after the other, (n, intents).
        suggested: Limits that the labels ask for.
        methods: AUROC of each signal.
    """

    inside: tuple[UtteranceRecord, ...]
    outside: tuple[UtteranceRecord, ...]
    pool: tuple[UtteranceRecord, ...]
    scores: ScoreArray = field(repr=False)
    suggested: FenceSetting
    methods: dict[str, float]

    @property
    def records(self) -> tuple[UtteranceRecord, ...]:
        """All of them, in the order of the scores."""
        return (*self.inside, *self.outside, *self.pool)


def look(bench: Workbench, project: str, asked: FenceSetting | None = None) -> FenceView:
    """Tell what a fence would do; without one, what the standing one does.

    Raises:
        InvalidInput: A limit is no number, or a text may have several intents.
        NotFound: The project has no model.
    """
    found, live = _live(bench, project)
    stands = setting_of(found)
    asked = stands if asked is None else asked
    _check(asked)
    own = bench.models.known[found.id].pipeline.calibration.threshold
    scope = _scope(bench, found, live)
    fences = [_fence(live, own, one) for one in (stands, asked)]
    top, columns = scope.scores.max(1), scope.scores.argmax(1)
    moved = crossing(fences[0], fences[1], top, columns)
    with bench.studio.database.read() as connection:
        names = {i.id: i.name for i in dataset.intents(connection, found.id)}

    def told(rows: NDArray[np.int64]) -> tuple[Crossed, ...]:
        return tuple(_crossed(live, scope, names, row) for row in rows[:_SHOWN].tolist())

    n_inside = len(scope.inside)
    outside = slice(n_inside, n_inside + len(scope.outside))
    let_in = [fence.inside(top, columns) for fence in fences]
    right = _right(live, scope)
    return FenceView(
        own=own,
        stands=stands,
        asked=asked,
        span=(float(top.min(initial=0.0)), float(top.max(initial=1.0))),
        accuracy=_shares([right & one[:n_inside] for one in let_in]),
        kept=_shares([one[:n_inside] for one in let_in]),
        recall=_shares([~one[outside] for one in let_in]),
        judged=(n_inside, len(scope.outside)),
        entering=told(moved.entering),
        n_entering=len(moved.entering),
        leaving=told(moved.leaving),
        n_leaving=len(moved.leaving),
        suggested=scope.suggested,
        methods=scope.methods,
    )


def save(bench: Workbench, project: str, setting: FenceSetting) -> None:
    """Let the project answer by a fence from now on; an empty one leaves it to the model.

    Raises:
        InvalidInput: A limit is no number, or a text may have several intents.
        NotFound: There is no such project or intent.
    """
    _check(setting)
    with bench.studio.database.write() as connection:
        found = projects.find(connection, project)
        _refuse_several(found)
        for key in setting.limits:
            dataset.intent_by_id(connection, found.id, key)
        kept = {"limit": setting.limit, "limits": dict(setting.limits)}
        empty = setting.limit is None and not setting.limits
        projects.change_fence(connection, found.id, None if empty else kept)


def setting_of(project: ProjectRecord) -> FenceSetting:
    """Return the fence that stands."""
    kept = project.fence or {}
    return FenceSetting(kept.get("limit"), kept.get("limits") or {})


def _check(setting: FenceSetting) -> None:
    numbers = [*setting.limits.values(), *([] if setting.limit is None else [setting.limit])]
    if not all(isfinite(one) and abs(one) <= 10.0 for one in numbers):
        raise InvalidInput("A limit is no usable number.", "Use one between -10 and 10.")


def _refuse_several(project: ProjectRecord) -> None:
    if project.task == "multi-label":
        raise InvalidInput(
            "Where a text may have several intents, each has a threshold of its own.",
            "They are chosen when a version is trained.",
        )


def _live(bench: Workbench, project: str) -> tuple[ProjectRecord, LiveModel]:
    with bench.studio.database.read() as connection:
        found = projects.find(connection, project)
    _refuse_several(found)
    live = bench.models.get(found.id)
    if live is None:
        raise NotFound(
            f"'{project}' has no trained model yet.", "Press Train on the Train page first."
        )
    return found, live


def _fence(live: LiveModel, own: float, setting: FenceSetting) -> Fence:
    place = {key: column for column, key in enumerate(live.columns)}
    limits = {place[key]: limit for key, limit in setting.limits.items() if key in place}
    limit = own if setting.limit is None else setting.limit
    return replace(_BARE, limit=limit, limits=limits)


def _crossed(live: LiveModel, scope: _Scope, names: Mapping[str, str], row: int) -> Crossed:
    record, column = scope.records[row], int(scope.scores[row].argmax())
    labels = record.labels
    said = "" if labels is None else ", ".join(names.get(k, "?") for k in labels) or "out of scope"
    intent = names.get(live.columns[column], live.pipeline.head.intents[column])
    return Crossed(record.text, record.split, intent, float(scope.scores[row, column]), said)


def _right(live: LiveModel, scope: _Scope) -> NDArray[np.bool_]:
    won = scope.scores[: len(scope.inside)].argmax(1)
    pairs = zip(scope.inside, won.tolist(), strict=True)
    return np.array([live.columns[c] in (r.labels or ()) for r, c in pairs], dtype=bool)


def _shares(found: Sequence[NDArray[np.bool_]]) -> tuple[float, float] | None:
    now, then = found
    return (float(now.mean()), float(then.mean())) if len(now) else None


def _scope(bench: Workbench, project: ProjectRecord, live: LiveModel) -> _Scope:
    """The texts on both sides, scored once for each revision and look at the pool."""
    pool = bench.pools.wait(project.id)
    looked = None if pool is None else (pool.live.revision, len(pool.records))
    key = ("scope", project.id, live.version.id, live.revision, looked)
    return bench.studio.cache.get(
        key, lambda: _measured(bench, project, live, pool), lambda made: int(made.scores.nbytes)
    )


def _measured(
    bench: Workbench, project: ProjectRecord, live: LiveModel, pool: Pool | None
) -> _Scope:
    with bench.studio.database.read() as connection:
        which = Filter(split="test", state="labelled")
        inside = browse.page(connection, project.id, which, "oldest", (0, _MOST))[0]
        outer = Filter(state="out-of-scope")
        outside = browse.page(connection, project.id, outer, "oldest", (0, _MOST))[0]
    waiting = () if pool is None else pool.records
    records = (*inside, *outside, *waiting)
    rows = live.pipeline.embeddings[:0]
    scores = np.zeros((0, len(live.columns)))
    if records:
        texts = [record.text for record in records]
        rows = embed_texts(bench.studio.database, live.pipeline.encoder, texts)
        scores = live.pipeline.head.scores(rows)
    known = len(inside), len(inside) + len(outside)
    suggested, methods = _calibrated(live, rows[: known[1]], scores[: known[1]], known[0])
    return _Scope(tuple(inside), tuple(outside), waiting, scores, suggested, methods)


def _calibrated(
    live: LiveModel, rows: NDArray[np.float32], scores: ScoreArray, n_inside: int
) -> tuple[FenceSetting, dict[str, float]]:
    """Choose limits by the examples, each judged by the others, and compare the signals."""
    head = votes_of(live)
    honest = honest_of(head)
    familiar, columns = honest.max(1), honest.argmax(1)
    outside = scores[n_inside:].max(1) if len(scores) > n_inside else None
    fence = with_intent_limits(with_limit(_BARE, familiar, outside), familiar, columns)
    labels = labels_of(live)
    limits = {
        live.columns[column]: limit
        for column, limit in fence.limits.items()
        if any(live.columns[column] in of for of in labels)
    }
    suggested = FenceSetting(fence.limit, limits)
    if not n_inside or outside is None:
        return suggested, {}
    where = landscape(head.exemplars, head.targets)
    measured = signals(where, rows, scores)
    left_out = signals_left_out(where, honest)
    methods: dict[str, float] = {}
    for method in get_args(Method):
        found = fit_fence(method, left_out).familiarity(measured)
        methods[method] = auroc(found[:n_inside], found[n_inside:])
    return suggested, methods
