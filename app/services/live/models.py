"""The live model: the champion with every label given since its training.

A new exemplar joins the votes in closed form, without training ("hot"); the encoder learns from it
only at the next training.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from app.services.answering.as_project import ProjectNow, answer_as_project, read_now
from app.services.background import in_background
from app.services.live.catching_up import (
    Reading,
    catch_up,
    is_immediate,
    is_soon,
    load_champion,
    read_as_trained,
    read_project,
    read_version,
)
from app.services.live.joining import Joining, solved_for
from app.services.live.live_model import LiveModel
from app.services.live.traffic import Traffic
from app.services.studio import Studio
from core.heads.votes.fit import VoteHead
from core.types import Intent, Pause, no_pause
from storage import models, projects
from storage.database import Transaction
from storage.records import ProjectRecord

if TYPE_CHECKING:
    from core.intent_names import NameCache

MOST_PROJECTS = 12
"""Projects whose models and pools are in memory; those asked about longest ago are dropped."""

_REST_SECONDS = 1.0
"""Seconds between two updates of a large set."""


@dataclass(frozen=True, slots=True)
class Answering:
    """A model with the names and the fence of its project at one moment.

    `model` is without them, `live` with them; `intents` are those that may be answered, by id.
    """

    model: LiveModel
    intents: Mapping[str, Intent]
    fence: dict[str, Any] | None
    live: LiveModel


@dataclass(slots=True)
class ProjectModel:
    """The state of one project.

    Attributes:
        model: The newest model, without names and fence; None before it is loaded.
        answering: The model that answered last.
        rest_until: Monotonic seconds before which no thread updates the model.
        lock: Held while the model is loaded, updated or replaced.
    """

    model: LiveModel | None = None
    answering: Answering | None = None
    catching_up: bool = False
    rest_until: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(slots=True)
class LiveModels:
    """The live models of the projects asked about last; one object a server."""

    studio: Studio
    traffic: Traffic = field(default_factory=Traffic)
    kept: dict[int, ProjectModel] = field(default_factory=dict)
    names: "NameCache | None" = None
    guard: threading.Lock = field(default_factory=threading.Lock)

    def get(self, project_id: int) -> LiveModel | None:
        """Return a project's live model, as `open` does."""
        return self.open_by_id(project_id)[1]

    def open(self, name: str) -> tuple[ProjectNow, LiveModel | None]:
        """Return a project, and its champion with all labels up to now; None without a champion.

        Champion, labels, intent names and fence are read in one transaction. Only the labels of a
        large set may be older, because a thread joins them.

        Raises:
            NotFound: There is no such project.
        """
        return self._open(lambda connection: projects.find(connection, name))

    def open_by_id(self, project_id: int) -> tuple[ProjectNow, LiveModel | None]:
        """Do the same for a project that may have been renamed since it was read."""
        return self._open(lambda connection: projects.get(connection, project_id))

    def as_champion(
        self, name: str, number: int, until: int | None = None
    ) -> tuple[ProjectNow, LiveModel] | None:
        """Return a project, and one of its versions as it would answer if it were the champion.

        `until` is the revision whose labels vote; None: the newest one. None is returned where so
        many labels vote that joining the newest ones takes long.

        Raises:
            NotFound: There is no such project or version.
        """
        with self.studio.database.read() as connection:
            project = projects.find(connection, name)
            version = models.find_answering(connection, project.id, number)
            now = read_now(connection, project, version)
            reading = read_version(connection, now, version, until)
        model, head = load_champion(self.studio, reading), project.head_revision
        if not is_soon(model, reading):
            return None
        if model.revision != head:
            model = catch_up(self.studio, model, reading)
        return reading.now, self._as_project(model, reading.now)

    def as_trained(self, project_id: int, number: int) -> tuple[ProjectNow, LiveModel]:
        """Return a project, and one of its versions without the labels given since its training.

        Raises:
            NotFound: There is no such version.
        """
        with self.studio.database.read() as connection:
            version = models.find_answering(connection, project_id, number)
            now = read_now(connection, projects.get(connection, project_id), version)
            reading = read_as_trained(connection, now, version)
        model = catch_up(self.studio, load_champion(self.studio, reading), reading)
        return now, replace(self._as_project(model, now), revision=reading.learned_at)

    def settle(self, name: str) -> None:
        """Wait until the labels of a large set have joined, too; a server does that in a thread.

        Raises:
            NotFound: There is no such project.
        """
        now, live = self.open(name)
        kept = self._kept(now.project.id)
        if (
            live is not None
            and kept.model is not None
            and live.revision != now.project.head_revision
        ):
            self._catch_up(kept, now.project.id, kept.model)

    def forget(self, project_id: int) -> None:
        """Drop the model of a project that was renamed or deleted; the next question loads it."""
        with self.guard:
            self.kept.pop(project_id, None)

    def forget_all(self) -> None:
        """Drop the models of all projects, which hold the texts of their examples."""
        with self.guard:
            self.kept.clear()

    def _open(
        self, find: Callable[[Transaction], ProjectRecord]
    ) -> tuple[ProjectNow, LiveModel | None]:
        with self.studio.database.read() as connection:
            project = find(connection)
            kept = self._kept(project.id)
            model = kept.model
            reading = read_project(connection, project, model)
        with kept.lock:
            if kept.model is not model:  # another request has updated it meanwhile
                with self.studio.database.read() as connection:
                    reading = read_project(connection, find(connection), kept.model)
            return reading.now, self._answer(kept, reading)

    def _kept(self, project_id: int) -> ProjectModel:
        with self.guard:
            kept = self.kept.pop(project_id, None) or ProjectModel()
            self.kept[project_id] = kept
            for key in list(self.kept)[:-MOST_PROJECTS]:
                del self.kept[key]
            return kept

    def _answer(self, kept: ProjectModel, reading: Reading) -> LiveModel | None:
        now = reading.now
        if now.version is None:
            return None
        model = reading.known or load_champion(self.studio, reading)
        if model.revision != now.project.head_revision:
            if is_immediate(model, now.project.head_revision):
                model = catch_up(self.studio, model, reading)
            else:
                self._catch_up_later(kept, now.project.id, model)
        kept.model, last = model, kept.answering
        by = (now.intents, now.project.fence)
        if last is None or last.model is not model or (last.intents, last.fence) != by:
            last = kept.answering = Answering(model, *by, self._as_project(model, now))
        return last.live

    def _as_project(self, model: LiveModel, now: ProjectNow) -> LiveModel:
        """Apply the project's intent names and fence to a model."""
        from core.intent_names import beside

        pipeline, head = model.pipeline, model.pipeline.head
        # While a thread updates a large set, its votes lack the newest names.
        known = dict(zip(model.columns, head.intents, strict=True))
        intents = {key: one for key, one in now.intents.items() if known.get(key) == one.name}
        if isinstance(head, VoteHead) and model.voice and pipeline.task == "single-label":
            pipeline = replace(pipeline, head=beside(head, model.voice))
        at_model = replace(now, intents=intents)
        cache = self.name_cache()
        return replace(
            model,
            pipeline=answer_as_project(self.studio, at_model, pipeline, model.columns, cache),
        )

    def name_cache(self) -> "NameCache":
        """Return the embedded intent names of all projects."""
        from core.intent_names import NameCache

        with self.guard:
            self.names = self.names or NameCache()
            return self.names

    def solved(self, project_id: int, pause: Pause = no_pause) -> LiveModel | None:
        """Return the live model with its votes solved, which takes m^3 operations once.

        Votes carried by a subset, and other heads, are returned unchanged.
        """
        live = self.get(project_id)
        if live is None or live.base.basis is not None or not live.joins:
            return live
        base = solved_for(Joining(self.studio.database, {}, pause), live.base, live.changes)
        kept = self._kept(project_id)
        with kept.lock:
            if kept.model is not None and kept.model.base is live.base:  # unchanged meanwhile
                kept.model = replace(kept.model, base=base)
        return replace(live, base=base)

    def loaded(self, project_id: int) -> LiveModel | None:
        """Return the live model as `get` does, or None at once if the champion is not loaded."""
        known = self.peek(project_id)
        if known is None:
            return None
        with self.studio.database.read() as connection:
            champion = models.champion(connection, project_id)
        is_champion = champion is not None and champion.id == known.version.id
        return self.get(project_id) if is_champion else None

    def peek(self, project_id: int) -> LiveModel | None:
        """Return the loaded model, without names and fence; never waits."""
        return self._kept(project_id).model

    def may_load(self, project_id: int, most: int) -> bool:
        """Whether a project's model is loaded, or fewer than `most` models are."""
        with self.guard:
            loaded = {key for key, kept in self.kept.items() if kept.model is not None}
        return project_id in loaded or len(loaded) < most

    def _catch_up_later(self, kept: ProjectModel, project_id: int, model: LiveModel) -> None:
        """Update a large set in a thread, while the older model answers."""
        if kept.catching_up or time.monotonic() < kept.rest_until:
            return

        def work() -> None:
            try:
                self._catch_up(kept, project_id, model)
            finally:
                with kept.lock:  # which whoever starts it holds
                    kept.rest_until = time.monotonic() + _REST_SECONDS
                    kept.catching_up = False

        in_background("join-labels", work)
        kept.catching_up = True

    def _catch_up(self, kept: ProjectModel, project_id: int, model: LiveModel) -> None:
        with self.studio.database.read() as connection:
            project = projects.get(connection, project_id)
            reading = read_project(connection, project, model, even_large=True)
        if reading.known is None:  # another version has been promoted
            return
        fresh = catch_up(self.studio, model, reading, self.traffic.give_way)
        with kept.lock:
            if kept.model is None or kept.model.version.id == model.version.id:
                kept.model = fresh
