"""What the live model says of utterances without a label; computed beside the requests."""

import threading
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.services.embedding import embed_texts
from app.services.live import LiveModel, LiveModels
from app.services.studio import Studio
from core.types import FloatArray, ScoreArray
from storage import browse, events
from storage.records import UtteranceRecord

MOST = 5_000
"""Of a larger pool this many, chosen by chance once, are looked at."""

_CHUNK = 128
_REST_SECONDS = 2.0
_REST_SHARE = 4
"""A look that took a second is not repeated for four: whoever labels needs the machine, too."""


@dataclass(frozen=True, slots=True)
class Pool:
    """Unlabelled utterances as the live model sees them.

    Attributes:
        records: The utterances.
        embeddings: Unit rows, (n, d) float32.
        probabilities: (n, intents) float64.
        familiarity: Largest cosine to an exemplar, (n,).
        live: The model that said so.
    """

    records: tuple[UtteranceRecord, ...]
    embeddings: FloatArray = field(repr=False)
    probabilities: ScoreArray = field(repr=False)
    familiarity: ScoreArray = field(repr=False)
    live: LiveModel = field(repr=False)


@dataclass(slots=True)
class Pools:
    """The pool of each project, kept up to date by one thread at a time; one object a server."""

    studio: Studio
    models: LiveModels
    known: dict[int, Pool] = field(default_factory=dict)
    looked: dict[int, tuple[int, float]] = field(default_factory=dict)
    """By project: the revision last looked at, and until when no other is."""
    busy: set[int] = field(default_factory=set)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def get(self, project_id: int) -> Pool | None:
        """Return what is known now, and see that it comes up to date; never waits."""
        with self.studio.database.read() as connection:
            head = events.head(connection, project_id)
        with self.guard:
            revision, until = self.looked.get(project_id, (-1, 0.0))
            stale = revision != head and time.monotonic() > until
            if stale and project_id not in self.busy:
                self.busy.add(project_id)
                self.looked[project_id] = (head, until)
                threading.Thread(
                    target=self._refresh, args=(project_id,), name="look-at-pool", daemon=True
                ).start()
        return self.known.get(project_id)

    def loading(self, project_id: int) -> bool:
        """Whether a look at the pool is under way."""
        return project_id in self.busy

    def _refresh(self, project_id: int) -> None:
        began = time.monotonic()
        try:
            live = self.models.get(project_id)
            if live is None:
                self.known.pop(project_id, None)
                return
            with self.studio.database.read() as connection:
                records = browse.sample_unlabelled(connection, project_id, MOST)
            rows = self._embedded(live, records)
            self.known[project_id] = judged(live, tuple(records), rows)
        finally:
            ended = time.monotonic()
            until = ended + max(_REST_SECONDS, _REST_SHARE * (ended - began))
            self.looked[project_id] = (self.looked[project_id][0], until)
            self.busy.discard(project_id)

    def _embedded(self, live: LiveModel, records: list[UtteranceRecord]) -> FloatArray:
        encoder = live.pipeline.encoder
        parts = [
            embed_texts(
                self.studio.database, encoder, [r.text for r in records[start : start + _CHUNK]]
            )
            for start in range(0, len(records), _CHUNK)
        ]
        return np.concatenate(parts) if parts else np.zeros((0, encoder.dim), np.float32)


def judged(live: LiveModel, records: tuple[UtteranceRecord, ...], rows: FloatArray) -> Pool:
    """Let a live model judge embedded utterances."""
    from core.heads.decision import probabilities
    from core.vectors import unit_rows

    pipeline: Any = live.pipeline
    unit = unit_rows(rows)
    scores = pipeline.head.scores(unit)
    near = [
        (unit[start : start + _CHUNK] @ pipeline.embeddings.T).max(1)
        for start in range(0, len(unit), _CHUNK)
    ]
    return Pool(
        records=records,
        embeddings=unit,
        probabilities=probabilities(scores, pipeline.calibration),
        familiarity=np.concatenate(near) if near else np.zeros(0),
        live=live,
    )
