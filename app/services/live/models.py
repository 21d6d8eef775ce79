"""The model that answers now: the champion, with every label that was given since it was trained.

A new exemplar joins the votes in closed form, without training ("hot"); the encoder has not
learned from it until the next training.
"""

import os
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from app.services.answering.as_project import columns_of, exemplar_signals, fenced
from app.services.answering.names import brought_names
from app.services.answering.opened import Space, open_space, require_pipeline
from app.services.live.joining import (
    Base,
    Changes,
    Joining,
    Said,
    base_of,
    can_join,
    has_many,
    joined,
    labels_in,
    named_anew,
    solved_for,
    with_intents,
)
from app.services.live.traffic import Traffic
from app.services.studio import Studio
from core.maps.plane import Plane, fit_plane
from core.types import Intent, Pause, Task, no_pause
from storage import models, projects
from storage.database import Transaction
from storage.log import events, versions
from storage.queries import dataset, utterances
from storage.records import ModelVersionRecord, UtteranceRecord

if TYPE_CHECKING:
    from core.calibration.fence_units import ExemplarSignals
    from core.heads.mixture import MixtureHead
    from core.intent_names import NameCache

_IMMEDIATE = 4_096
"""Up to this many exemplars a label joins at once; else beside the answers."""

_SOLVED_AT_ONCE = 1_500
"""Up to this many exemplars the votes are solved anew at once."""

_REST_SECONDS = 1.0
"""Between two times that a larger set is brought up to date."""


@dataclass(frozen=True, slots=True)
class LiveModel:
    """A champion brought up to a revision of its project.

    Attributes:
        version: The champion.
        pipeline: Answers; an `IntentPipeline`.
        base: What it joins labels to.
        taught: Exemplars as training saw them, by id.
        plane: Where texts are shown, fitted to those exemplars; new labels leave it alone.
        hot: Ids of exemplars that training has not seen as they are now.
        waiting: Those of `hot` that do not vote as they are now: they wait for a training.
        gone: Ids of what training has seen, and is no exemplar any more.
        said: What every utterance touched since training says now.
        changes: Those of `said` that `base` does not say, as they vote now.
        revision: Of the project, up to which labels are in.
        voice: Names that were trained beside the votes; the base is the votes alone.
    """

    version: ModelVersionRecord
    pipeline: Any = field(repr=False)
    base: Base = field(repr=False)
    taught: dict[str, Said] = field(repr=False)
    plane: Plane = field(repr=False)
    said: Changes = field(default_factory=dict, repr=False)
    changes: Changes = field(default_factory=dict, repr=False)
    hot: frozenset[str] = frozenset()
    waiting: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()
    revision: int = 0
    voice: "MixtureHead | None" = field(default=None, repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """Intent id of each score column ("" where the project has no such intent)."""
        return self.base.columns

    def votes_as(self, key: str) -> Said | None:
        """What an utterance votes as, or None when it has no vote."""
        return self.changes.get(key, self.base.said.get(key))


@dataclass(slots=True)
class LiveModels:
    """The live model of each project; one object for a server."""

    studio: Studio
    traffic: Traffic = field(default_factory=Traffic)
    known: dict[int, LiveModel] = field(default_factory=dict)
    locks: dict[int, threading.Lock] = field(default_factory=dict)
    busy: set[int] = field(default_factory=set)
    rested: dict[int, float] = field(default_factory=dict)
    fenced: dict[int, tuple[LiveModel, dict[str, Any] | None, LiveModel]] = field(
        default_factory=dict
    )
    named: dict[int, tuple[LiveModel, Mapping[str, Intent], LiveModel]] = field(
        default_factory=dict
    )
    names: "NameCache | None" = None
    guard: threading.Lock = field(default_factory=threading.Lock)

    def get(self, project_id: int) -> LiveModel | None:
        """Return the champion with all labels up to now, or None where there is no champion.

        It answers by the project's fence, where there is one, and intents without an example by
        their names.
        """
        with self.guard:
            lock = self.locks.setdefault(project_id, threading.Lock())
        with lock:
            live = self._current(project_id)
            return None if live is None else self._fenced(project_id, self._named(project_id, live))

    def _named(self, project_id: int, live: LiveModel) -> LiveModel:
        with self.studio.database.read() as connection:
            intents = dataset.open_intents(connection, project_id)
        kept = self.named.get(project_id)
        if kept is None or kept[0] is not live or kept[1] != intents:
            kept = (live, intents, with_names(live, intents, self.name_cache()))
            self.named[project_id] = kept
        return kept[2]

    def name_cache(self) -> "NameCache":
        """Embedded names of intents, for all projects."""
        from core.intent_names import NameCache

        with self.guard:
            self.names = self.names or NameCache()
            return self.names

    def _fenced(self, project_id: int, live: LiveModel) -> LiveModel:
        with self.studio.database.read() as connection:
            fence = projects.get(connection, project_id).fence
        if fence is None and live.pipeline.calibration.familiarity_measure is None:
            return live
        kept = self.fenced.get(project_id)
        if kept is None or kept[0] is not live or kept[1] != fence:
            kept = self.fenced[project_id] = (live, fence, with_fence(self.studio, live, fence))
        return kept[2]

    def solved(self, project_id: int, pause: Pause = no_pause) -> LiveModel | None:
        """Return the live model with its votes ready for questions, which takes them m^3 once.

        Votes that a subset carries, and other heads, are returned as they are.
        """
        live = self.get(project_id)
        if live is None or live.base.basis is not None or not can_join(live.base, live.changes):
            return live
        base = solved_for(Joining(self.studio.database, {}, pause), live.base, live.changes)
        with self.locks[project_id]:
            now = self.known.get(project_id)
            if now is not None and now.base is live.base:  # nothing has changed meanwhile
                self.known[project_id] = replace(now, base=base)
        return replace(live, base=base)

    def peek(self, project_id: int) -> LiveModel | None:
        """Return what is loaded already, without waiting; None when nothing is."""
        return self.known.get(project_id)

    def _current(self, project_id: int) -> LiveModel | None:
        with self.studio.database.read() as connection:
            champion = models.champion(connection, project_id)
            head = events.head(connection, project_id)
        if champion is None:
            return None
        live = self.known.get(project_id)
        if live is None or live.version.id != champion.id:
            live = self.known[project_id] = _load(self.studio, project_id, champion)
        if live.revision == head:
            return live
        if not _is_immediate(live, head):
            self._catch_up_later(project_id, live)
            return live
        live = self.known[project_id] = _caught_up(self.studio, project_id, live)
        return live

    def _catch_up_later(self, project_id: int, live: LiveModel) -> None:
        """Bring a large set up to date beside the answers, which the older one gives meanwhile."""
        with self.guard:
            if project_id in self.busy or time.monotonic() < self.rested.get(project_id, 0.0):
                return
            self.busy.add(project_id)

        def work() -> None:
            step_back()
            try:
                fresh = _caught_up(self.studio, project_id, live, self.traffic.give_way)
                if self.known.get(project_id, live).version.id == live.version.id:
                    self.known[project_id] = fresh
            finally:
                self.rested[project_id] = time.monotonic() + _REST_SECONDS
                self.busy.discard(project_id)

        threading.Thread(target=work, name="join-labels", daemon=True).start()


def with_fence(studio: Studio, live: LiveModel, fence: dict[str, Any] | None) -> LiveModel:
    """Let a live model answer by its project's fence; None: it has none."""
    pipeline = fenced(live.pipeline, live.columns, fence, lambda: signals_as_trained(studio, live))
    return live if pipeline is live.pipeline else replace(live, pipeline=pipeline)


def signals_as_trained(studio: Studio, live: LiveModel) -> "ExemplarSignals":
    """Measure the exemplars of a live model by each other, as they were in training."""

    def as_trained() -> Any:
        with studio.database.read() as connection:
            project = projects.get(connection, live.version.project_id)
        return require_pipeline(open_space(studio, Space(project, live.version)))

    return exemplar_signals(studio, live.version, as_trained)


def with_names(
    live: LiveModel, intents: Mapping[str, Intent], cache: "NameCache | None" = None
) -> LiveModel:
    """Let intents without an example be answered by their names, beside the votes.

    Where a text may have several intents they are not: a name alone would join answers that are
    complete without it.
    """
    from core.intent_names import answer_by_name, beside

    pipeline = live.pipeline
    if getattr(pipeline.head, "kind", "") != "votes" or pipeline.task == "multi-label":
        return live
    head = pipeline.head if live.voice is None else beside(pipeline.head, live.voice)
    asked = [intent for key, intent in intents.items() if key in live.columns]
    brought = brought_names(live.version, live.columns, head.intents)
    head = answer_by_name(head, pipeline.encoder, asked, cache, brought)
    return replace(live, pipeline=replace(pipeline, head=head))


def step_back() -> None:
    """Let everybody else have the processor first; where threads have priorities of their own."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)


def _load(studio: Studio, project_id: int, version: ModelVersionRecord) -> LiveModel:
    with studio.database.read() as connection:
        revision = versions.learned_at(connection, version)
        space = Space(projects.get(connection, project_id), version)
    pipeline = replace(require_pipeline(open_space(studio, space)), model_version=space.name)
    pipeline, voice = _apart(pipeline)
    with studio.database.read() as connection:
        columns = columns_of(connection, project_id, version, pipeline.head.intents)
        intents = dataset.open_intents(connection, project_id)
    base = base_of(pipeline, columns)
    taught = dict(base.said)
    base = with_intents(base, intents, {key: intent.name for key, intent in intents.items()})
    if getattr(pipeline.head, "carriers", None) is not None:  # it knows those alone that vote
        with studio.database.read() as connection:
            taught = _taught_at(connection, project_id, revision, pipeline.task)
    plane = fit_plane(pipeline.embeddings)
    pipeline = base.pipeline
    return LiveModel(version, pipeline, base, taught, plane, revision=revision, voice=voice)


def _apart(pipeline: Any) -> tuple[Any, "MixtureHead | None"]:
    """Take votes and the names trained beside them apart."""
    from core.heads.mixture import MixtureHead, without_names

    votes = without_names(pipeline.head)
    if not isinstance(pipeline.head, MixtureHead) or votes.kind != "votes":
        return pipeline, None
    return replace(pipeline, head=votes), pipeline.head


def _is_immediate(live: LiveModel, head: int) -> bool:
    """Whether whoever asks can wait until all changes up to a revision have joined."""
    n_exemplars = len(live.pipeline.exemplars) + head - live.revision
    if n_exemplars <= _SOLVED_AT_ONCE:
        return True
    is_solved = live.base.basis is not None and not has_many(live.base, live.changes)
    return is_solved and n_exemplars <= _IMMEDIATE


def _taught_at(
    connection: Transaction, project_id: int, revision: int, task: Task
) -> dict[str, Said]:
    records = versions.state_at(connection, project_id, revision).utterance_records()
    return {r.id: said for r in records if (said := wanted(r, task)) is not None}


def wanted(record: UtteranceRecord | None, task: Task) -> Said | None:
    """What an utterance says as an exemplar, or None when it is none.

    Where several intents are allowed, one of no intent speaks against all of them.
    """
    if record is None or record.split != "train" or record.labels is None:
        return None
    if not record.labels and task == "single-label":
        return None
    return record.text, tuple(sorted(record.labels))


def _caught_up(
    studio: Studio, project_id: int, live: LiveModel, pause: Pause = no_pause
) -> LiveModel:
    with studio.database.read() as connection:
        head = events.head(connection, project_id)
        touched = events.touched_since(connection, project_id, live.revision)
        fresh = sorted({key for subject, key in touched if subject == "utterance"})
        records = utterances.by_ids(connection, project_id, fresh)
        names = {r.id: r.name for r in dataset.intents(connection, project_id)}
        intents = dataset.open_intents(connection, project_id)
    live = _widened(_renamed(live, names), intents, names)
    task: Task = live.pipeline.task
    said = {**live.said, **{key: wanted(records.get(key), task) for key in fresh}}
    changes = {key: now for key, now in said.items() if live.base.said.get(key) != now}
    if can_join(live.base, changes):
        live = _joined(Joining(studio.database, names, pause), live, changes)
    since = {key for key, now in said.items() if live.taught.get(key) != now}
    hot = frozenset(key for key in since if said[key] is not None)
    return replace(
        live,
        hot=hot,
        waiting=frozenset(key for key in hot if live.votes_as(key) != said[key]),
        gone=frozenset(since - hot),
        said=said,
        revision=head,
    )


def _renamed(live: LiveModel, names: dict[str, str]) -> LiveModel:
    """Let the pipeline speak of intents by the names they have now."""
    old = live.base.pipeline.head.intents
    free = {name: key for key, name in names.items() if key not in live.columns}
    # A column whose intent is not there becomes that of one made since under its name.
    pairs = list(zip(live.columns, old, strict=True))
    columns = tuple(key if key in names else free.get(name, key) for key, name in pairs)
    new = tuple(names.get(key, name) for key, name in zip(columns, old, strict=True))
    base = live.base if columns == live.columns else replace(live.base, columns=columns)
    if new == old:
        return replace(live, base=base)
    base = named_anew(base, new)
    pipeline = joined(base, live.changes) if live.changes else base.pipeline
    return replace(live, base=base, pipeline=pipeline)


def _widened(live: LiveModel, keys: Iterable[str], names: dict[str, str]) -> LiveModel:
    """Give intents columns before their first example."""
    base = with_intents(live.base, keys, names)
    if base is live.base:
        return live
    pipeline = joined(base, live.changes) if live.changes else base.pipeline
    return replace(live, base=base, pipeline=pipeline)


def _joined(how: Joining, live: LiveModel, changes: Changes) -> LiveModel:
    """Let exemplars vote as they are now."""
    if changes == live.changes:
        return live
    base = with_intents(live.base, labels_in(changes), how.names)
    if changes:
        base = solved_for(how, base, changes)
    pipeline = joined(base, changes) if changes else base.pipeline
    if has_many(base, changes):
        base, changes = base_of(pipeline, base.columns), {}
    return replace(live, base=base, pipeline=pipeline, changes=changes)
