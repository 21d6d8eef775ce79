"""The texts that a fence accepts or rejects, and how familiar each of them is."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from app.services.answering.as_project import exemplar_signals
from app.services.answering.opened import Space
from app.services.cache import of_version
from app.services.embedding import embed_texts
from app.services.live.answered_tests import (
    MOST,
    ScoredTests,
    labelled_tests,
    said_exactly,
    told_apart,
)
from app.services.live.live_model import LiveModel
from app.services.live.live_studio import LiveStudio
from app.services.live.pool import Pool
from app.services.live.row_answers import echoed_ids
from app.services.review.fence_views import Crossed, FenceSetting, LineOutcome, PinTurn
from app.services.review.findings import held_out_with_names, labels_of
from app.services.studio import Studio
from app.services.what_if.views import MOST_TOLD
from core.calibration.fence import Fence, signals, with_intent_limits, with_limit
from core.calibration.out_of_scope import in_scope
from core.heads.folds import said_rows, sources_of
from core.metrics.out_of_scope import auroc
from core.text import label_words
from core.types import FloatArray, Method, ScoreArray
from storage import pinned_texts
from storage.queries import utterances
from storage.queries.utterances import Filter, Page
from storage.records import PinRecord, ProjectRecord, UtteranceRecord

if TYPE_CHECKING:
    from core.calibration.fence_units import ExemplarSignals

_BY_VOTES = Fence("votes", (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
"""A fence whose familiarity is the largest vote score itself, not standardised."""


@dataclass(frozen=True, slots=True, eq=False)
class _ScoredTexts:
    """Texts on both sides of a fence, with their scores.

    Scores (n, intents) and embeddings `rows` (n, d) are of inside, outside, pool and pins, in this
    order; `exact` are texts that an example decides, (n,), whatever their familiarity.
    """

    inside: tuple[UtteranceRecord, ...]
    outside: tuple[UtteranceRecord, ...]
    pool: tuple[UtteranceRecord, ...]
    pins: tuple[PinRecord, ...]
    scores: ScoreArray = field(repr=False)
    rows: FloatArray = field(repr=False)
    exact: NDArray[np.bool_] = field(repr=False)
    suggested: FenceSetting


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredTexts:
    """Scored texts with their familiarity; the studio's cache keeps their signals under `key`."""

    studio: Studio
    project: ProjectRecord
    live: LiveModel
    scored: _ScoredTexts
    key: tuple[object, ...]

    @property
    def inside(self) -> tuple[UtteranceRecord, ...]:
        """Labelled texts of the test split."""
        return self.scored.inside

    @property
    def outside(self) -> tuple[UtteranceRecord, ...]:
        """Texts labelled out of scope, of the test split if it has any."""
        return self.scored.outside

    @property
    def n_texts(self) -> int:
        """Number of texts without pins, which come after them."""
        return len(self.scored.scores) - len(self.scored.pins)

    @property
    def sides(self) -> tuple[slice, slice]:
        """Rows of the texts in scope, and of those out of scope."""
        n_inside = len(self.inside)
        return slice(0, n_inside), slice(n_inside, n_inside + len(self.outside))

    def signals(self) -> "ExemplarSignals":
        """Return the signals of the exemplars that the version was trained with."""
        return exemplar_signals(self.studio, Space(self.project, self.live.version))

    def familiarity(self, method: Method) -> ScoreArray:
        """Return how familiar all texts are; (n,)."""
        if method == "votes":
            largest: ScoreArray = self.scored.scores.max(1)
            return largest
        parts = self._text_signals("labelled"), self._text_signals("pool")
        return self.signals().fence(method).familiarity(np.concatenate(parts))

    def let_in(self, setting: FenceSetting, own: float) -> NDArray[np.bool_]:
        """Return which texts a setting accepts, (n,); `own` is the model's own threshold."""
        method = setting.method
        fence = _BY_VOTES if method == "votes" else self.signals().fence(method)
        column = {key: at for at, key in enumerate(self.live.columns)}
        limits = {column[key]: limit for key, limit in setting.limits.items() if key in column}
        limit = own if setting.limit is None else setting.limit
        fence = replace(fence, limit=limit, limits=limits)
        inside = fence.inside(self.familiarity(method), self.scored.scores.argmax(1))
        return self.scored.exact | inside

    def let_in_from(self, limit: float, familiarity: ScoreArray) -> NDArray[np.bool_]:
        """Return which texts one limit for all intents accepts, by their familiarity; (n,)."""
        return self.scored.exact | in_scope(familiarity, np.full(len(familiarity), limit))

    def outcome(self, let_in: NDArray[np.bool_], right: NDArray[np.bool_]) -> LineOutcome:
        """Count what accepting some texts, (n,), does; `right` are in-scope texts, (inside,)."""
        inside, outside = self.sides
        refused = ~let_in[: self.n_texts]
        return LineOutcome(
            right=int((right & let_in[inside]).sum()),
            outside=int(refused[outside].sum()),
            unlabelled=int(refused[outside.stop :].sum()),
        )

    def answered_right(self) -> NDArray[np.bool_]:
        """Return which in-scope texts are answered with one of their labels if accepted."""
        rows = self.sides[0]
        return ScoredTests(
            self.live, self.inside, self.scored.rows[rows], self.scored.scores[rows]
        ).best_is_right()

    def turned_pins(
        self, now: NDArray[np.bool_], then: NDArray[np.bool_], names: Mapping[str, str]
    ) -> tuple[PinTurn, ...]:
        """Return the pins whose answer changes, by whether they are accepted now and then, (m,)."""
        best = self.scored.scores[self.n_texts :].argmax(1).tolist()
        turned = list[PinTurn]()
        for row in np.flatnonzero(now != then).tolist():
            pin, intent = self.scored.pins[row], self.live.columns[best[row]]
            name = names.get(intent, self.live.pipeline.head.intents[best[row]])
            expected = label_words([names.get(key, "?") for key in pin.intents], "single-label")
            before, after = (name if was else "out of scope" for was in (now[row], then[row]))
            kept = intent in pin.intents if then[row] else not pin.intents
            turned.append(PinTurn(pin.text, expected, before, after, kept))
        return tuple(turned)

    def crossed(
        self, rows: NDArray[np.int64], familiarity: ScoreArray, names: Mapping[str, str]
    ) -> tuple[Crossed, ...]:
        """Return the first texts of some rows, with their familiarity; `names` are by intent id."""
        records = (*self.inside, *self.outside, *self.scored.pool)
        crossed = list[Crossed]()
        for row in rows[:MOST_TOLD].tolist():
            record, column = records[row], int(self.scored.scores[row].argmax())
            label = "" if record.labels is None else "out of scope"
            if record.labels:
                label = ", ".join(names.get(key, "?") for key in record.labels)
            best = names.get(self.live.columns[column], self.live.pipeline.head.intents[column])
            score = float(familiarity[row])
            crossed.append(Crossed(record.text, record.split, best, score, label))
        return tuple(crossed)

    def methods(self) -> dict[Method, float]:
        """Return the AUROC of each method, in scope against out of scope; empty without both."""
        inside, outside = self.sides
        if not (self.inside and self.outside and self.live.pipeline.exemplars):
            return {}
        measured = self._text_signals("labelled")
        return {
            method: auroc(familiarity[inside], familiarity[outside])
            for method in get_args(Method)
            for familiarity in [self.signals().fence(method).familiarity(measured)]
        }

    def suggested(self, method: Method) -> FenceSetting:
        """Return thresholds calibrated on the examples, each scored by the others."""
        if method == "votes":
            return self.scored.suggested
        outside = self.familiarity(method)[self.sides[1]]
        inside, columns = self.signals().familiarity(method)
        if not len(inside):
            return FenceSetting(self.signals().limit(method, 0.0), {}, method)
        fence = with_limit(self.signals().fence(method), inside, outside)
        fence = with_intent_limits(fence, inside, columns)
        return FenceSetting(fence.limit, _by_intent(self.live, fence), method)

    def _text_signals(self, part: Literal["labelled", "pool"]) -> ScoreArray:
        n_labelled = self.sides[1].stop
        rows = slice(0, n_labelled) if part == "labelled" else slice(n_labelled, None)

        def measure() -> ScoreArray:
            pipeline = self.live.pipeline
            shapes = (
                self.signals().measure_on("mixture", pipeline.embeddings, pipeline.targets).shapes
            )
            return signals(shapes, self.scored.rows[rows], self.scored.scores[rows])

        *of, moment = self.key
        return self.studio.cache.get_newest(
            ("signals", part, *of), moment, measure, lambda made: int(made.nbytes)
        )


def measured_texts(
    live_studio: LiveStudio, project: ProjectRecord, live: LiveModel
) -> MeasuredTexts:
    """Score the texts on both sides, once for each revision and state of the pool."""
    pool = live_studio.pools.wait(project.id)
    pool_state = None if pool is None else (pool.live.revision, len(pool.records))
    with live_studio.studio.database.read() as connection:
        pins = tuple(pinned_texts.list_all(connection, project.id))
    of = of_version(live.version)
    moment = (live.revision, pool_state, pins, bool(echoed_ids(live)))
    scored = live_studio.studio.cache.get_newest(
        ("scope", of),
        moment,
        lambda: _score(live_studio.studio, live, pool, _labelled(live_studio, project, live), pins),
        lambda made: int(made.scores.nbytes + made.rows.nbytes),
    )
    return MeasuredTexts(live_studio.studio, project, live, scored, (of, moment))


_Sides = tuple[tuple[UtteranceRecord, ...], tuple[UtteranceRecord, ...]]


def _labelled(live_studio: LiveStudio, project: ProjectRecord, live: LiveModel) -> _Sides:
    """Return the labelled texts of the test split, and its texts labelled out of scope.

    Texts that the model has learned are left out, as from the accuracy on every page. Without texts
    of no intent in the test split, all texts labelled out of scope are returned.
    """
    database = live_studio.studio.database
    tests, _ = told_apart(live, labelled_tests(database, project.id, with_none=True))
    inside = tuple(one for one in tests if one.labels)
    outside = tuple(one for one in tests if not one.labels)
    if outside:
        return inside, outside
    outer = Filter(state="out-of-scope")
    with database.read() as connection:
        rows, _ = utterances.read_page(connection, project.id, outer, "oldest", Page(0, MOST))
    return inside, tuple(rows)


def _score(
    studio: Studio,
    live: LiveModel,
    pool: Pool | None,
    labelled: _Sides,
    pins: tuple[PinRecord, ...],
) -> _ScoredTexts:
    inside, outside = labelled
    waiting = () if pool is None else pool.records
    texts = [one.text for one in (*inside, *outside, *waiting)] + [pin.text for pin in pins]
    rows = embed_texts(studio.database, live.pipeline.encoder, texts)
    scores = live.pipeline.head.scores(rows) if texts else np.zeros((0, len(live.columns)))
    exact = said_exactly(live, texts)
    outer = scores[len(inside) : len(inside) + len(outside)]
    suggested = _suggested_by_votes(studio, live, outer)
    return _ScoredTexts(inside, outside, waiting, pins, scores, rows, exact, suggested)


def _suggested_by_votes(studio: Studio, live: LiveModel, outer: ScoreArray) -> FenceSetting:
    """Choose thresholds by held-out scores of the real examples, and by out-of-scope texts."""
    held_out = held_out_with_names(studio, live)[said_rows(sources_of(live.pipeline.exemplars))]
    familiarity, columns = held_out.max(1), held_out.argmax(1)
    outside = outer.max(1) if len(outer) else None
    fence = with_intent_limits(with_limit(_BY_VOTES, familiarity, outside), familiarity, columns)
    return FenceSetting(fence.limit, _by_intent(live, fence))


def _by_intent(live: LiveModel, fence: Fence) -> dict[str, float]:
    labels = labels_of(live)
    return {
        live.columns[column]: limit
        for column, limit in fence.limits.items()
        if any(live.columns[column] in of for of in labels)
    }
