"""The live model's answers to unlabelled utterances, computed in threads of the server."""

import logging
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from app.services.background import RETRY_SECONDS, in_background, rest_after
from app.services.embedding import embed_texts
from app.services.live.live_model import AnswersBy, LiveModel
from app.services.live.models import MOST_PROJECTS, LiveModels
from app.services.live.traffic import Traffic
from app.services.studio import Studio
from core.calibration.calibration import probabilities
from core.errors import StudioError
from core.review.labelling_order import alike_from, asked_worth, margins, spread, worth
from core.types import FloatArray, Pause, ScoreArray, Task, no_pause
from core.vectors import unit_rows
from storage import models, projects
from storage.log import events
from storage.queries import utterances
from storage.records import UtteranceRecord
from storage.said.traffic import times_said

MOST = 5_000
"""Of a larger pool, a fixed sample of this many utterances is evaluated."""

_CHUNK = 128
_PATIENCE_SECONDS = 30.0
_POLL_SECONDS = 0.02
_LOG = logging.getLogger("app.services")
_UNLABELLED = utterances.Filter(state="unlabelled")
_DAYS_ASKED = 28
"""Days of traffic that tell what people ask for; the last ones that there are."""

FEW_CHANGES = 50
"""So many changes move figures by no more than a person can follow."""

NEXT = 20
"""Texts that are labelled next, of which it is told how many are likely answered badly."""

_UNSEEN_SHARE = 0.05
"""Of the sample of a larger pool, so many may be labelled before it is drawn again at once."""


@dataclass(frozen=True, slots=True)
class Pool:
    """Unlabelled utterances as evaluated by the live model.

    Attributes:
        embeddings: Unit rows, (n, d) float32.
        probabilities: Of each intent, (n, intents) float64.
        margins: Score minus threshold of each intent, (n, intents) float64.
        familiarity: Largest cosine to an exemplar, (n,) float64.
        alike_from: Cosine above which two of them count as alike.
        outside: Whether each is answered with no intent, (n,) bool.
        worth: How much a label of each teaches, (n,) float64; None until it is computed.
        asked: How much doubt about the traffic a label of each settles, (n,) float64; 0 for what
            nobody said in the last four weeks with traffic. None until it is computed.
        answered_badly: How many of the `NEXT` texts whose labels teach most are likely answered
            wrongly or not at all; None until `worth` is computed, and with several intents a text.
        revision: Revision of the project at which the records were read; that of the model where
            the labels of a large set had not joined yet.
    """

    records: tuple[UtteranceRecord, ...]
    embeddings: FloatArray = field(repr=False)
    probabilities: ScoreArray = field(repr=False)
    margins: ScoreArray = field(repr=False)
    familiarity: ScoreArray = field(repr=False)
    alike_from: float
    live: LiveModel = field(repr=False)
    task: Task = "single-label"
    outside: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool), repr=False)
    worth: ScoreArray | None = field(default=None, repr=False)
    asked: ScoreArray | None = field(default=None, repr=False)
    answered_badly: int | None = None
    revision: int = -1


@dataclass(slots=True)
class ProjectPool:
    """The state of one project's pool.

    Attributes:
        revision: The revision evaluated last; -1 before the first. While the model lags behind the
            labels, the model's.
        read_at: The revision at which the texts of the evaluation were read.
        tried: By what it was evaluated last, or was to be: the version may have failed to load.
        wanted: By what the project answers now.
        evaluated: By what the pool was evaluated.
        rest_until: Monotonic seconds before which new data alone cause no evaluation.
        trouble: Why the champion failed to load or to answer, or "".
        busy: Whether a thread is evaluating the pool.
        awaited: Whether a page shows nothing until the pool is evaluated again.
    """

    pool: Pool | None = None
    revision: int = -1
    read_at: int = -1
    tried: AnswersBy = field(default_factory=AnswersBy)
    wanted: AnswersBy = field(default_factory=AnswersBy)
    evaluated: AnswersBy = field(default_factory=AnswersBy)
    rest_until: float = 0.0
    trouble: str = ""
    busy: bool = False
    awaited: bool = False


@dataclass(slots=True)
class _Pauses:
    """The pauses of one evaluation; `seconds` is how long they took, which is no work."""

    kept: ProjectPool
    traffic: Traffic
    seconds: float = 0.0

    def __call__(self) -> None:
        """Give way to requests, unless users wait for this evaluation."""
        if self.kept.pool is None or self.kept.awaited:
            return
        began = time.monotonic()
        self.traffic.give_way()
        self.seconds += time.monotonic() - began


@dataclass(slots=True)
class Pools:
    """The pool of each project, evaluated by one thread a project; one object a server."""

    studio: Studio
    models: LiveModels
    traffic: Traffic = field(default_factory=Traffic)
    kept: defaultdict[int, ProjectPool] = field(default_factory=lambda: defaultdict(ProjectPool))
    guard: threading.Lock = field(default_factory=threading.Lock)

    def get(self, project_id: int) -> Pool | None:
        """Return the newest evaluation, and start another if it is outdated; never waits."""
        with self.studio.database.read() as connection:
            project = projects.get(connection, project_id)
            version = models.champion(connection, project_id)
        head = project.head_revision
        by = AnswersBy(None if version is None else version.id, project.fence)
        with self.guard:
            kept = self._kept(project_id)
            rested = time.monotonic() > kept.rest_until
            is_other = kept.tried != by or kept.revision < 0
            is_due = rested and (kept.revision != head or bool(kept.trouble))
            kept.wanted = by
            if not kept.busy and (is_other or is_due):
                in_background("look-at-pool", lambda: self._refresh(project_id), steps_back=False)
                kept.busy, kept.revision, kept.tried = True, head, by
        return kept.pool

    def settled(self, project_id: int) -> tuple[Pool | None, bool]:
        """Return the newest evaluation while its figures are those of now; never waits.

        Otherwise return None, and evaluate again without a rest; the second value is whether that
        is under way, so that a page can say that it counts.
        """
        if self.get(project_id) is not None and not self.holds(project_id):
            with self.guard:
                kept = self._kept(project_id)
                if self._helps_now(kept):
                    kept.rest_until, kept.awaited = 0.0, True
            self.get(project_id)
        counting = self.loading(project_id)  # before the pool: it may be there a moment later
        if self.holds(project_id):
            return self.kept[project_id].pool, False
        return None, counting

    def _helps_now(self, kept: ProjectPool) -> bool:
        """Whether an evaluation at once would tell more; not while labels wait to join a model."""
        pool = kept.pool
        waits = kept.evaluated == kept.wanted and pool is not None and pool.revision < kept.read_at
        return not (kept.trouble or waits)

    def holds(self, project_id: int) -> bool:
        """Whether few labels were given since the evaluation, and no text waits that it lacks."""
        pool = self.kept[project_id].pool
        kept = self.kept[project_id]
        if pool is None or kept.evaluated != kept.wanted:
            return False
        with self.studio.database.read() as connection:
            head = events.head(connection, project_id)
            if pool.revision >= head or head - pool.revision > FEW_CHANGES:
                return pool.revision >= head
            ids = [record.id for record in pool.records]
            seen = len(utterances.waiting(connection, project_id, ids))
            waiting = utterances.count_all(connection, project_id, _UNLABELLED)
        unseen = min(waiting, MOST) - seen
        return unseen <= (_UNSEEN_SHARE * MOST if waiting > MOST else 0)

    def _kept(self, project_id: int) -> ProjectPool:
        """Return a project's pool as the one asked about last, and drop those of long ago."""
        kept = self.kept.pop(project_id, None) or ProjectPool()
        self.kept[project_id] = kept
        held = [key for key, other in list(self.kept.items()) if other.pool and not other.busy]
        for key in held[:-MOST_PROJECTS]:
            del self.kept[key]
        return kept

    def forget_all(self) -> None:
        """Drop the pools of all projects, which hold texts."""
        with self.guard:
            self.kept.clear()

    def wait(self, project_id: int) -> Pool | None:
        """Return the newest evaluation; wait for the first one."""
        pool = self.get(project_id)
        until = time.monotonic() + _PATIENCE_SECONDS
        while pool is None and self.loading(project_id) and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)
            pool = self.kept[project_id].pool
        return pool

    def trouble(self, project_id: int, champion: int) -> str:
        """Return why a model version failed to load at the last attempt, or ""."""
        kept = self.kept[project_id]
        return kept.trouble if kept.tried.version == champion else ""

    def loading(self, project_id: int) -> bool:
        """Whether a thread is evaluating the pool."""
        return self.kept[project_id].busy

    def _refresh(self, project_id: int) -> None:
        began = time.monotonic()
        with self.guard:
            kept = self.kept[project_id]
        pause = _Pauses(kept, self.traffic)
        is_first = kept.pool is None or kept.pool.live.version.id != kept.tried.version
        try:
            live = self.models.get(project_id)
            kept.trouble = ""
            if live is None:
                kept.pool = None
                return
            head, last = kept.revision, kept.pool
            is_same = last is not None and last.live is live and kept.evaluated == kept.tried
            if not is_same or kept.read_at < head:
                kept.pool, kept.read_at = self._evaluated(project_id, live, pause)
            kept.revision = min(head, live.revision)  # again, once its labels have joined
            kept.evaluated = kept.tried
        except StudioError as error:  # such as a damaged model
            _LOG.warning("The pool of project %d was not looked at: %s", project_id, error)
            kept.trouble = error.message
        except Exception as error:  # noqa: BLE001 - otherwise pages would wait for ever
            _LOG.exception("The pool of project %d was not looked at", project_id)
            kept.trouble = f"{type(error).__name__} (see the log)."
        finally:
            ended = time.monotonic()
            # The first evaluation also loads the model and embeds the pool; later ones do not.
            took = 0.0 if is_first else ended - began - pause.seconds
            kept.rest_until = ended + max(rest_after(took), RETRY_SECONDS if kept.trouble else 0.0)
            kept.busy = kept.awaited = False

    def _evaluated(self, project_id: int, live: LiveModel, pause: Pause) -> tuple[Pool, int]:
        """Evaluate the pool as it is now; also return the revision at which it was read."""
        with self.studio.database.read() as connection:
            head = events.head(connection, project_id)
            records = utterances.sample_unlabelled(connection, project_id, MOST)
            times = times_said(connection, project_id, _DAYS_ASKED)
        rows = self._embedded(live, records)
        pool = judged(live, tuple(records), rows, pause)
        doubts = doubts_of(pool)
        helps = worth(doubts, pool.embeddings, pause)
        often = np.array([times.get(record.id, 0) for record in records], dtype=np.int64)
        asked = asked_worth(doubts, pool.embeddings, often, pause)
        badly, at = answered_badly(pool, helps), min(head, live.revision)
        pool = replace(pool, worth=helps, asked=asked, answered_badly=badly, revision=at)
        return pool, head

    def _embedded(self, live: LiveModel, records: list[UtteranceRecord]) -> FloatArray:
        encoder = live.pipeline.encoder
        parts = [
            embed_texts(
                self.studio.database, encoder, [r.text for r in records[start : start + _CHUNK]]
            )
            for start in range(0, len(records), _CHUNK)
        ]
        return np.concatenate(parts) if parts else np.zeros((0, encoder.dim), np.float32)


def judged(
    live: LiveModel,
    records: tuple[UtteranceRecord, ...],
    rows: FloatArray,
    pause: Pause = no_pause,
) -> Pool:
    """Evaluate embedded utterances, (n, d) float32, by a live model, with pauses between chunks."""
    pipeline = live.pipeline
    unit = unit_rows(rows)
    scores, familiarity = np.empty((len(unit), len(live.columns))), np.empty(len(unit))
    for start in range(0, len(unit), _CHUNK):
        pause()
        part = slice(start, start + _CHUNK)
        scores[part] = pipeline.head.scores(unit[part])
        familiarity[part] = (unit[part] @ pipeline.embeddings.T).max(1)
    return Pool(
        records=records,
        embeddings=unit,
        probabilities=probabilities(scores, pipeline.calibration),
        margins=scores - pipeline.calibration.limits(len(live.columns)),
        familiarity=familiarity,
        alike_from=alike_from(unit),
        live=live,
        task=pipeline.task,
        outside=_outside(live, unit, scores),
    )


def answered_badly(pool: Pool, helps: ScoreArray) -> int | None:
    """Return how many of the `NEXT` texts with the highest `helps` are likely answered badly.

    Each counts with the probability that its answer is wrong, or whole if it is answered with no
    intent. None where a text may have several intents.
    """
    if pool.task == "multi-label" or not len(helps):
        return None
    ranking = np.argsort(-helps, kind="stable")
    rows = spread(ranking, pool.embeddings, NEXT, pool.alike_from)
    wrong = np.where(pool.outside[rows], 1.0, 1.0 - pool.probabilities[rows].max(1))
    return round(float(wrong.sum()))


def doubts_of(pool: Pool) -> ScoreArray:
    """Return how unsure the model is of each text, in [0, 1]; (n,).

    One minus the margin between the two best intents; with several intents a text, how near the
    most open one is to even.
    """
    if pool.task == "multi-label":
        doubts: ScoreArray = 2.0 * np.minimum(pool.probabilities, 1.0 - pool.probabilities).max(1)
        return doubts
    return 1.0 - margins(pool.probabilities)


def _outside(live: LiveModel, rows: FloatArray, scores: ScoreArray) -> NDArray[np.bool_]:
    """Return for each embedded text, (n, d) float32, whether it is answered with no intent."""
    calibration = live.pipeline.calibration
    if live.pipeline.task == "single-label":
        return ~np.asarray(calibration.inside(rows, scores), dtype=bool)
    return np.asarray((scores < calibration.limits(scores.shape[1])).all(1), dtype=bool)
