"""The cache of prepared texts between previews: those of the project that was asked about last."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from app.services.answering.as_project import exemplar_signals, fenced
from app.services.answering.opened import Space
from app.services.answering.stored import no_model_yet
from app.services.background import REST_SHARE, in_background
from app.services.live.live_studio import LiveStudio
from app.services.what_if.prepared_texts import Answers, PreparedTexts, count_new, prepare_texts
from app.services.what_if.resting import RestingRevision
from core.errors import StudioError
from storage import models, pinned_texts, projects
from storage.log import events
from storage.records import ProjectRecord

_LOG = logging.getLogger("app.services")

_MOST_IN_ADVANCE = 12_000
"""Above this many exemplars the inverse root needs over 1 GB, so it is not prepared in advance."""

_AT_ONCE = 3_000
"""Up to this many exemplars the texts are prepared within a request: in about a second."""

_NEW_AT_ONCE = 100
"""Most texts that are encoded within a request; a thousand took a minute beside other people."""

_IN_USE_SECONDS = 600.0
"""For this long after a question, opening another project does not replace the prepared texts."""

_DRIFT = 24
"""Changes since the anchor before the texts are prepared again; each costs a question some ms."""


@dataclass(frozen=True, slots=True, eq=False)
class _Kept:
    """The prepared texts of one project.

    `anchor` are decided by the calibration that the model had at the anchor; `decided` by the
    project's `fence`, and None before the first use. Before the monotonic second `rest_until`,
    changes alone do not outdate them.
    """

    project_id: int
    anchor: PreparedTexts
    rest_until: float
    fence: dict[str, Any] | None = None
    decided: PreparedTexts | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _KeptAnswers:
    """Answers to prepared texts at one revision of the project."""

    texts: PreparedTexts
    revision: int
    answers: Answers


@dataclass(slots=True)
class WatchedTextCache:
    """The prepared texts of the project that was asked about last.

    The lock `making` is held while texts are prepared, which takes seconds; `counting` only while a
    counter changes, so that a waiting request can register.
    """

    live_studio: LiveStudio
    resting: RestingRevision = field(default_factory=RestingRevision)
    kept: _Kept | None = None
    answered: _KeptAnswers | None = None
    asking: int = 0
    asked_at: float = 0.0
    preparing: bool = False
    making: threading.Lock = field(default_factory=threading.Lock)
    counting: threading.Lock = field(default_factory=threading.Lock)

    def prepare(self, project_id: int) -> None:
        """Prepare a project's texts in a thread, unless such a thread is running; never waits.

        The thread yields to requests, unless one waits for these texts.
        """
        with self.counting:
            if self.preparing:
                return
            in_background("prepare-what-if", lambda: self._prepare(project_id))
            self.preparing = True

    def forget(self) -> None:
        """Drop the prepared texts and their answers."""
        with self._asked(), self.making:
            self.kept = self.answered = None

    def _prepare(self, project_id: int) -> None:
        try:
            if self._is_used_by_another(project_id):
                return
            live = self.live_studio.models.get(project_id)
            if live is None or not live.joins or len(live.pipeline.exemplars) > _MOST_IN_ADVANCE:
                return
            with self.live_studio.studio.database.read() as connection:
                project = projects.get(connection, project_id)
            self._open(project)
        except StudioError as error:  # such as a damaged model
            _LOG.debug("What a change would do was not prepared: %s", error)
        except Exception:  # noqa: BLE001 - a thread has no caller; the next question raises again
            _LOG.exception("What a change of project %d would do was not prepared", project_id)
        finally:
            with self.counting:
                self.preparing = False

    def _is_used_by_another(self, project_id: int) -> bool:
        in_use = time.monotonic() - self.asked_at < _IN_USE_SECONDS
        return in_use and self.kept is not None and self.kept.project_id != project_id

    @contextmanager
    def _asked(self) -> Iterator[None]:
        """Wait for these texts: a thread that prepares them gives way to no request meanwhile."""
        with self.counting:
            self.asking += 1
        try:
            yield
        finally:
            with self.counting:
                self.asking -= 1

    def _pause(self) -> None:
        if not self.asking:
            self.live_studio.traffic.give_way()

    def is_ready(self, project: ProjectRecord) -> bool:
        """Whether `open` would answer soon: the texts are prepared, or quickly are."""
        live, kept = self.live_studio.models.peek(project.id), self.kept
        if live is not None and not live.joins:
            return False
        is_small = live is not None and len(live.pipeline.exemplars) <= _AT_ONCE
        if kept is None or kept.project_id != project.id:
            database = self.live_studio.studio.database
            return (
                live is not None
                and is_small
                and count_new(database, project.id, live) <= _NEW_AT_ONCE
            )
        return is_small or not (self.making.locked() or self._is_outdated())

    def open(self, project: ProjectRecord) -> PreparedTexts:
        """Return a project's prepared texts, decided by the present thresholds.

        They are prepared first if there are none, or if too much has changed since.

        Raises:
            InvalidInput: Labels do not join the model, so that no effect can be told.
            NotFound: There is no model.
        """
        self.asked_at = time.monotonic()
        with self._asked():
            return self._open(project)

    def _open(self, project: ProjectRecord) -> PreparedTexts:
        with self.making:
            if self.kept is None or self.kept.project_id != project.id or self._is_outdated():
                self.kept = self.answered = None  # frees the memory of the old kernel first
                began = time.monotonic()
                made = self._make(project)
                now = time.monotonic()
                # While twenty people label, each question would prepare the texts again.
                self.kept = _Kept(project.id, made, now + REST_SHARE * (now - began))
            kept = self.kept
            if kept.decided is None or kept.fence != project.fence:
                decided = self._decide(kept.anchor, project)
                self.kept = replace(kept, fence=project.fence, decided=decided)
                return decided
            return kept.decided

    def _decide(self, anchor: PreparedTexts, project: ProjectRecord) -> PreparedTexts:
        """Return the texts decided by the fence of their project."""
        from core.explain.familiarity_after import surround

        studio, live = self.live_studio.studio, anchor.live
        space = Space(project, live.version)
        pipeline = replace(live.pipeline, calibration=live.base.pipeline.calibration)
        pipeline = fenced(
            pipeline, live.columns, project.fence, lambda: exemplar_signals(studio, space)
        )
        live = replace(live, pipeline=pipeline)
        measure = live.pipeline.calibration.familiarity_measure
        if measure is None:
            return replace(anchor, live=live)
        around = surround(measure.shapes, anchor.watched, anchor.votes.head.tau, self._pause)
        return replace(anchor, live=live, around=around)

    def answers(
        self, texts: PreparedTexts, revision: int, compute: Callable[[], Answers]
    ) -> Answers:
        """Return the answers to texts at a revision, computed once for all previews of it."""
        kept = self.answered
        if kept is None or kept.texts is not texts or kept.revision != revision:
            kept = self.answered = _KeptAnswers(texts, revision, compute())
        return kept.answers

    def _is_outdated(self) -> bool:
        kept = self.kept
        if kept is None:
            return True
        project_id, anchor = kept.project_id, kept.anchor
        with self.live_studio.studio.database.read() as connection:
            champion = models.champion(connection, project_id)
            pins = tuple(pinned_texts.list_all(connection, project_id))
            touched = events.touched_since(connection, project_id, anchor.live.revision)
        if champion is None or champion.id != anchor.live.version.id or pins != anchor.pins:
            return True
        if len(touched) <= _DRIFT or time.monotonic() < kept.rest_until:
            return False
        newest = self.live_studio.models.get(project_id)
        # While a large import is being joined there is no newer model to prepare texts with.
        return newest is None or newest.revision > anchor.live.revision

    def _make(self, project: ProjectRecord) -> PreparedTexts:
        live_models = self.live_studio.models
        live = live_models.solved(project.id, self._pause)
        if live is None:
            raise no_model_yet(project.name)
        database = self.live_studio.studio.database
        return prepare_texts(database, project.id, live, live_models, self._pause)
