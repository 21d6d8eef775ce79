"""The model that answers now: the champion, with every label that was given since it was trained.

A new exemplar joins the votes in closed form, without training ("hot"); the encoder has not
learned from it until the next training.
"""

import os
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from app.services.embedding import embed_texts
from app.services.spaces import Space, open_space, require_pipeline
from app.services.studio import Studio
from core.planes import Plane, fit_plane
from core.types import Exemplar, FloatArray
from storage import browse, dataset, events, models, projects, versions
from storage.database import Transaction
from storage.records import ModelVersionRecord, UtteranceRecord

Said = tuple[str, tuple[str, ...]]
"""What an exemplar says: its text, and the ids of its intents in order."""

_IMMEDIATE = 4_096
"""Up to this many exemplars and changes a label joins at once; else it is solved meanwhile."""

_MOST = 20_000
"""Of more exemplars the votes would not fit into memory: their labels wait for a training."""

_REST_SHARE = 4
"""A larger set that took a second is not solved again for four."""


@dataclass(frozen=True, slots=True)
class LiveModel:
    """A champion brought up to a revision of its project.

    Attributes:
        version: The champion.
        pipeline: Answers; an `IntentPipeline`.
        columns: Intent id of each score column ("" where the project has no such intent).
        taught: Exemplars as training saw them, by id.
        plane: Where texts are shown, fitted to those exemplars; new labels leave it alone.
        hot: Ids of exemplars that training has not seen as they are now.
        waiting: Those of `hot` that do not vote as they are now: they wait for a training.
        gone: Ids of what training has seen, and is no exemplar any more.
        revision: Of the project, up to which labels are in.
    """

    version: ModelVersionRecord
    pipeline: Any = field(repr=False)
    columns: tuple[str, ...]
    taught: dict[str, Said] = field(repr=False)
    plane: Plane = field(repr=False)
    hot: frozenset[str] = frozenset()
    waiting: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()
    revision: int = 0


@dataclass(slots=True)
class LiveModels:
    """The live model of each project; one object for a server."""

    studio: Studio
    known: dict[int, LiveModel] = field(default_factory=dict)
    locks: dict[int, threading.Lock] = field(default_factory=dict)
    busy: set[int] = field(default_factory=set)
    rested: dict[int, float] = field(default_factory=dict)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def get(self, project_id: int) -> LiveModel | None:
        """Return the champion with all labels up to now, or None where there is no champion."""
        with self.guard:
            lock = self.locks.setdefault(project_id, threading.Lock())
        with lock:
            return self._current(project_id)

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
        if len(live.pipeline.exemplars) + head - live.revision > _IMMEDIATE:
            self._catch_up_later(project_id, live)
            return live
        live = self.known[project_id] = _caught_up(self.studio, project_id, live)
        return live

    def _catch_up_later(self, project_id: int, live: LiveModel) -> None:
        """Solve a large set beside the answers, which come from the older one meanwhile."""
        with self.guard:
            if project_id in self.busy or time.monotonic() < self.rested.get(project_id, 0.0):
                return
            self.busy.add(project_id)

        def work() -> None:
            began = time.monotonic()
            _step_back()
            try:
                fresh = _caught_up(self.studio, project_id, live)
                if self.known.get(project_id, live).version.id == live.version.id:
                    self.known[project_id] = fresh
            finally:
                ended = time.monotonic()
                self.rested[project_id] = ended + _REST_SHARE * (ended - began)
                self.busy.discard(project_id)

        threading.Thread(target=work, name="join-labels", daemon=True).start()


def _step_back() -> None:
    """Let everybody else have the processor first; where threads have priorities of their own."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)


def _load(studio: Studio, project_id: int, version: ModelVersionRecord) -> LiveModel:
    with studio.database.read() as connection:
        names, revision = browse.intent_ids(connection, project_id), 0
        if version.dataset_version_id is not None:
            revision = versions.get(connection, version.dataset_version_id).revision
            names |= events.intent_ids_at(connection, project_id, revision)
        space = Space(projects.get(connection, project_id), version)
    pipeline = replace(require_pipeline(open_space(studio, space)), model_version=space.name)
    columns = tuple(names.get(name, "") for name in pipeline.head.intents)
    if getattr(pipeline.head, "carriers", None) is None:
        taught = _named(pipeline, columns)
    else:  # the pipeline knows those alone that carry the votes
        with studio.database.read() as connection:
            taught = _taught_at(connection, project_id, revision)
    plane = fit_plane(pipeline.embeddings)
    return LiveModel(version, pipeline, columns, taught, plane, revision=revision)


def _named(pipeline: Any, columns: tuple[str, ...]) -> dict[str, Said]:
    """What each exemplar of a pipeline says, by its id."""
    by_name = dict(zip(pipeline.head.intents, columns, strict=True))
    return {
        e.id: (e.text, tuple(sorted(by_name.get(name, "") for name in e.intents)))
        for e in pipeline.exemplars
    }


def _taught_at(connection: Transaction, project_id: int, revision: int) -> dict[str, Said]:
    records = versions.state_at(connection, project_id, revision).utterance_records()
    return {r.id: said for r in records if (said := _wanted(r)) is not None}


def _caught_up(studio: Studio, project_id: int, live: LiveModel) -> LiveModel:
    with studio.database.read() as connection:
        head = events.head(connection, project_id)
        touched = events.touched_since(connection, project_id, live.revision)
        fresh = {key for subject, key in touched if subject == "utterance"}
        ids = sorted(fresh | live.hot | live.gone)  # earlier ones, too: not all could join then
        now = browse.by_ids(connection, project_id, ids)
        names = {r.id: r.name for r in dataset.intents(connection, project_id)}
    live = _renamed(live, names)
    wanted = {key: _wanted(now.get(key)) for key in ids}
    present = _named(live.pipeline, live.columns)
    changed = [key for key in ids if present.get(key) != wanted[key]]
    if changed and _can_join(live):
        live = _joined(studio, live, changed, now, names)
    since = {key for key in ids if live.taught.get(key) != wanted[key]}
    hot = frozenset(key for key in since if wanted[key] is not None)
    voting = _named(live.pipeline, live.columns)
    waiting = frozenset(key for key in hot if voting.get(key) != wanted[key])
    gone = frozenset(since - hot)
    return replace(live, hot=hot, waiting=waiting, gone=gone, revision=head)


def _can_join(live: LiveModel) -> bool:
    head = live.pipeline.head
    return getattr(head, "kind", "") == "votes" and head.carriers is None


def _wanted(record: UtteranceRecord | None) -> Said | None:
    """What an utterance says as an exemplar, or None when it is none."""
    if record is None or record.split != "train" or not record.labels:
        return None
    return record.text, tuple(sorted(record.labels))


def _renamed(live: LiveModel, names: dict[str, str]) -> LiveModel:
    """Let the pipeline speak of intents by the names they have now."""
    live = _adopted(live, names)
    old = live.pipeline.head.intents
    new = tuple(names.get(key, name) for key, name in zip(live.columns, old, strict=True))
    if new == old:
        return live
    to = dict(zip(old, new, strict=True))
    exemplars = tuple(
        replace(e, intents=tuple(sorted(to.get(name, name) for name in e.intents)))
        for e in live.pipeline.exemplars
    )
    head = replace(live.pipeline.head, intents=new)
    exact = {
        key: tuple(sorted(to.get(name, name) for name in found))
        for key, found in live.pipeline.exact.items()
    }
    return replace(
        live, pipeline=replace(live.pipeline, head=head, exemplars=exemplars, exact=exact)
    )


def _adopted(live: LiveModel, names: dict[str, str]) -> LiveModel:
    """Let a column whose intent is not there be that of one made since under its name."""
    free = {name: key for key, name in names.items() if key not in live.columns}
    pairs = zip(live.columns, live.pipeline.head.intents, strict=True)
    columns = tuple(key if key in names else free.get(name, key) for key, name in pairs)
    return replace(live, columns=columns)


def _joined(
    studio: Studio,
    live: LiveModel,
    changed: Sequence[str],
    now: dict[str, UtteranceRecord],
    names: dict[str, str],
) -> LiveModel:
    """Remove every changed exemplar from the votes and add it as it is now."""
    from core.heads import votes  # numpy and scipy only, but loaded with the first model
    from core.pipeline import exact_answers

    pipeline, columns = live.pipeline, live.columns
    place = {e.id: row for row, e in enumerate(pipeline.exemplars)}
    gone = [place[key] for key in changed if key in place]
    coming = [now[key] for key in changed if _wanted(now.get(key)) is not None]
    if len(gone) == len(pipeline.exemplars) and not coming:
        return live  # votes need one exemplar: the last ones stay until another comes
    if len(pipeline.exemplars) - len(gone) + len(coming) > _MOST:
        return live
    columns = _grown(columns, coming)
    head = _widened(pipeline.head, columns, names)
    exemplars, rows = list(pipeline.exemplars), pipeline.embeddings
    if coming:
        fresh = embed_texts(studio.database, pipeline.encoder, [r.text for r in coming])
        targets = np.array([[float(c in (r.labels or ())) for c in columns] for r in coming])
        head = votes.add(head, fresh, targets)
        rows = head.exemplars
        exemplars += [_exemplar(record, names) for record in coming]
    if gone:
        head = votes.remove(head, gone)
        rows = head.exemplars
        left = set(gone)
        exemplars = [e for row, e in enumerate(exemplars) if row not in left]
    shown = tuple(exemplars)
    pipeline = replace(
        pipeline, head=head, exemplars=shown, embeddings=rows, exact=exact_answers(shown)
    )
    return replace(live, pipeline=pipeline, columns=columns)


def _exemplar(record: UtteranceRecord, names: dict[str, str]) -> Exemplar:
    found = tuple(sorted(names[key] for key in record.labels or ()))
    return Exemplar(record.id, record.text, found)


def _grown(columns: tuple[str, ...], coming: Sequence[UtteranceRecord]) -> tuple[str, ...]:
    labels = (key for record in coming for key in record.labels or ())
    return columns + tuple(key for key in dict.fromkeys(labels) if key not in columns)


def _widened(head: Any, columns: tuple[str, ...], names: dict[str, str]) -> Any:
    """Give a head columns for intents that it has not met, without any vote for them yet."""
    more = len(columns) - len(head.intents)
    if not more:
        return head
    wide: FloatArray = np.zeros((len(head.targets), more))
    return replace(
        head,
        intents=head.intents + tuple(names[key] for key in columns[len(head.intents) :]),
        targets=np.hstack([head.targets, wide]),
        weights=np.hstack([head.weights, wide]),
        prior=np.concatenate([head.prior, np.zeros(more)]),
    )
