"""What the live model says of utterances without a label; computed beside the requests."""

import logging
import threading
import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from app.services.embedding import embed_texts
from app.services.live.live_model import LiveModel
from app.services.live.models import LiveModels
from app.services.live.traffic import Traffic
from app.services.studio import Studio
from core.errors import StudioError
from core.types import FloatArray, Pause, ScoreArray, Task, no_pause
from storage import models
from storage.log import events
from storage.queries import utterances
from storage.records import UtteranceRecord

MOST = 5_000
"""Of a larger pool this many, chosen by chance once, are looked at."""

_CHUNK = 128
_REST_SECONDS = 2.0
_PATIENCE_SECONDS = 30.0
_POLL_SECONDS = 0.02
_LOG = logging.getLogger("app.services")

_REST_SHARE = 4
"""A look that took a second is not repeated for four: whoever labels needs the machine, too."""


@dataclass(frozen=True, slots=True)
class Pool:
    """Unlabelled utterances as the live model sees them.

    Attributes:
        records: The utterances.
        embeddings: Unit rows, (n, d) float32.
        probabilities: (n, intents) float64.
        margins: Score less threshold of each intent, (n, intents).
        familiarity: Largest cosine to an exemplar, (n,).
        live: The model that said so.
        task: Its own.
    """

    records: tuple[UtteranceRecord, ...]
    embeddings: FloatArray = field(repr=False)
    probabilities: ScoreArray = field(repr=False)
    margins: ScoreArray = field(repr=False)
    familiarity: ScoreArray = field(repr=False)
    live: LiveModel = field(repr=False)
    task: Task = "single-label"


@dataclass(frozen=True, slots=True)
class Look:
    """Of which data and by which model a pool was looked at last.

    Attributes:
        revision: Of the project.
        champion: Id of the model version.
        until: Until when changes of the data alone are no reason to look again.
    """

    revision: int
    champion: int | None
    until: float


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a champion could not be loaded, in words."""

    champion: int | None
    words: str


@dataclass(slots=True)
class Pools:
    """The pool of each project, kept up to date by one thread at a time; one object a server."""

    studio: Studio
    models: LiveModels
    traffic: Traffic = field(default_factory=Traffic)
    known: dict[int, Pool] = field(default_factory=dict)
    looked: dict[int, Look] = field(default_factory=dict)
    troubles: dict[int, Trouble] = field(default_factory=dict)
    busy: set[int] = field(default_factory=set)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def get(self, project_id: int) -> Pool | None:
        """Return what is known now, and see that it comes up to date; never waits."""
        with self.studio.database.read() as connection:
            head = events.head(connection, project_id)
            champion = models.champion(connection, project_id)
        wanted = Look(head, None if champion is None else champion.id, time.monotonic())
        with self.guard:
            if self._is_due(self.looked.get(project_id), wanted) and project_id not in self.busy:
                self.busy.add(project_id)
                self.looked[project_id] = wanted
                threading.Thread(
                    target=self._refresh, args=(project_id,), name="look-at-pool", daemon=True
                ).start()
        return self.known.get(project_id)

    def wait(self, project_id: int) -> Pool | None:
        """Return what is known now; where nothing is, what the first look will find."""
        found = self.get(project_id)
        until = time.monotonic() + _PATIENCE_SECONDS
        while found is None and self.loading(project_id) and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)
            found = self.known.get(project_id)
        return found

    def _is_due(self, last: Look | None, wanted: Look) -> bool:
        """Whether to look again: at once for another model, for other data not all the time."""
        if last is None or last.champion != wanted.champion:
            return True
        return last.revision != wanted.revision and wanted.until > last.until

    def trouble(self, project_id: int, champion: int) -> str:
        """Why a model version could not be loaded, when last tried; "" if it could."""
        found = self.troubles.get(project_id)
        return found.words if found is not None and found.champion == champion else ""

    def loading(self, project_id: int) -> bool:
        """Whether a look at the pool is under way."""
        return project_id in self.busy

    def _refresh(self, project_id: int) -> None:
        began = time.monotonic()
        champion = self.looked[project_id].champion
        is_first = self._is_first(project_id, champion)
        try:
            live = self.models.get(project_id)
            self.troubles.pop(project_id, None)
            if live is None:
                self.known.pop(project_id, None)
                return
            with self.studio.database.read() as connection:
                records = utterances.sample_unlabelled(connection, project_id, MOST)
            rows = self._embedded(live, records)
            # The first look is waited for; a later one can wait itself.
            pause = self.traffic.give_way if project_id in self.known else no_pause
            self.known[project_id] = judged(live, tuple(records), rows, pause)
        except StudioError as error:  # a damaged model, say
            _LOG.warning("The pool of project %d was not looked at: %s", project_id, error)
            self.troubles[project_id] = Trouble(champion, error.message)
        except Exception as error:  # noqa: BLE001 - nobody else hears of it: pages would wait for ever
            _LOG.exception("The pool of project %d was not looked at", project_id)
            self.troubles[project_id] = Trouble(champion, f"{type(error).__name__} (see the log).")
        finally:
            ended = time.monotonic()
            # A first look loads the model and embeds the pool, which later ones do not repeat.
            took = 0.0 if is_first else ended - began
            until = ended + max(_REST_SECONDS, _REST_SHARE * took)
            self.looked[project_id] = replace(self.looked[project_id], until=until)
            self.busy.discard(project_id)

    def _is_first(self, project_id: int, champion: int | None) -> bool:
        last = self.known.get(project_id)
        return last is None or last.live.version.id != champion

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
    """Let a live model judge embedded utterances, with pauses for whoever comes first."""
    from core.calibration.calibration import probabilities
    from core.vectors import unit_rows

    pipeline: Any = live.pipeline
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
        live=live,
        task=pipeline.task,
    )


def outside_of(live: LiveModel, rows: FloatArray) -> list[bool]:
    """Whether texts, embedded (n, d), would be answered with no intent."""
    pipeline: Any = live.pipeline
    scores = pipeline.head.scores(rows)
    if pipeline.task == "single-label":
        found: list[bool] = (~pipeline.calibration.inside(rows, scores)).tolist()
    else:
        found = (scores < pipeline.calibration.limits(scores.shape[1])).all(1).tolist()
    return found
