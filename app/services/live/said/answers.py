"""The live version's answers to texts of the traffic, computed in a thread of the server."""

import json
import logging
import threading
import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from app.services.background import RETRY_SECONDS, in_background
from app.services.live.live_model import LiveModel
from app.services.live.models import LiveModels
from app.services.live.pool import FEW_CHANGES
from app.services.live.row_answers import RowAnswering, score_records
from app.services.live.said.drift import SaidDrift, SaidRows, find_drift
from app.services.live.traffic import Traffic
from app.services.studio import Studio
from core.calibration.calibration import probabilities
from core.errors import StudioError
from core.pipeline import LearnedTexts
from core.types import FloatArray
from storage.queries import utterances
from storage.records import ModelVersionRecord, ProjectRecord

SURE = 0.8
"""Probability of the best intent from which a text counts as answered surely."""

_CHUNK = 256
_BYTES_A_TEXT = 200
_LONGEST_REST = 240.0
"""Seconds after which answers that fail again and again are tried once more, at most."""
_LOG = logging.getLogger("app.services")

Answers = Mapping[str, Sequence[str]]
"""Ids of the intents of each answer, none out of scope, by the utterance's id."""


@dataclass(frozen=True, slots=True)
class SaidAnswered:
    """What the live version makes of two periods' texts.

    Attributes:
        intents: Its answers.
        sure: Ids of the utterances that are answered with an intent, and surely.
        drifts: How periods and sources differ.
        probability: Of each answer with an intent, by the utterance's id.
        learned: Ids of the utterances that the encoder was tuned to: a tuned version answers them
            otherwise than new ones. They are in no comparison.
    """

    intents: Answers
    sure: frozenset[str] = frozenset()
    drifts: tuple[SaidDrift, ...] = ()
    probability: Mapping[str, float] = field(default_factory=dict)
    learned: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Trouble:
    """Why a version did not answer last; after `rest_until` (monotonic) it is tried again.

    `rest` is for how many seconds it rests, twice as long after each failure.
    """

    version: str
    why: str
    rest: float
    rest_until: float


@dataclass(slots=True)
class SaidAnswers:
    """Answers to one set of texts at a time for each project; one object a server.

    `running` are the projects that are answered now; `troubles` are those that failed last.
    """

    studio: Studio
    models: LiveModels
    traffic: Traffic
    running: set[int] = field(default_factory=set)
    troubles: dict[tuple[Hashable, ...], _Trouble] = field(default_factory=dict)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def settled(
        self, project: ProjectRecord, version: ModelVersionRecord, rows: SaidRows
    ) -> tuple[SaidAnswered | None, str]:
        """Return the answers if they are there, else begin to compute them; never waits.

        The second value is why they cannot be computed, or "".
        """
        told = json.dumps([project.fence, rows.now_keys, rows.earlier_keys], default=str)
        moment = str(project.head_revision // FEW_CHANGES)
        key = (str(version.id), moment, sha256(told.encode()).hexdigest())
        series = _series(project.id, rows)
        found: SaidAnswered | None = self.studio.cache.peek((*series, key))
        known = self.troubles.get(series)
        trouble = known.why if known and known.version == key[0] and found is None else ""
        if found is not None or (known and trouble and time.monotonic() < known.rest_until):
            return found, trouble
        with self.guard:
            if project.id in self.running:
                return None, trouble
            in_background("answer-traffic", lambda: self._fill(project.id, key, rows))
            self.running.add(project.id)
        return None, trouble

    def _fill(self, project_id: int, key: tuple[str, ...], rows: SaidRows) -> None:
        series = _series(project_id, rows)
        try:
            now, live = self.models.open_by_id(project_id)
            if live is not None and live.revision < now.project.head_revision - FEW_CHANGES:
                return  # many labels of a large set wait to join: it is asked again
            self.studio.cache.get_newest(
                series,
                key,
                lambda: self._answer(live, project_id, rows),
                lambda made: _BYTES_A_TEXT * len(made.intents),
            )
            self.troubles.pop(series, None)
        except StudioError as error:  # such as a damaged model
            self._fail(series, key[0], error.message)
        except Exception as error:  # noqa: BLE001 - otherwise pages would wait for ever
            _LOG.exception("The traffic of project %d was not answered", project_id)
            self._fail(series, key[0], f"{type(error).__name__} (see the log).")
        finally:
            with self.guard:
                self.running.discard(project_id)

    def _fail(self, series: tuple[Hashable, ...], version: str, why: str) -> None:
        known, rest = self.troubles.get(series), RETRY_SECONDS
        if known and known.version == version:
            rest = min(2 * known.rest, _LONGEST_REST)
        self.troubles[series] = _Trouble(version, why, rest, time.monotonic() + rest)

    def _answer(self, live: LiveModel | None, project_id: int, rows: SaidRows) -> SaidAnswered:
        ids = rows.ids
        found: dict[str, Sequence[str]] = {}
        probability, places = dict[str, float](), dict[str, FloatArray]()
        known = LearnedTexts(frozenset() if live is None else live.pipeline.learned)
        learned = set[str]()
        answering = None if live is None else RowAnswering(self.studio, live)
        for start in range(0, 0 if live is None else len(ids), _CHUNK):
            self.traffic.give_way()
            part = ids[start : start + _CHUNK]
            with self.studio.database.read() as connection:
                records = list(utterances.by_ids(connection, project_id, part).values())
            if answering is None or not records:
                continue
            embedded, scores = score_records(answering, records)
            shares = probabilities(scores, answering.live.pipeline.calibration).max(1)
            answers = answering.answers(records, embedded, scores)
            learned.update(record.id for record in records if record.text in known)
            for one, row, share in zip(answers, embedded, shares.tolist(), strict=True):
                found[one.id], places[one.id] = one.intents, row
                if one.intents:
                    probability[one.id] = share
        sure = frozenset(key for key, share in probability.items() if share >= SURE)
        means = probability if rows.is_pair else None
        fresh = {key: place for key, place in places.items() if key not in learned}
        drifts = find_drift(rows, fresh, sure, self.traffic.give_way, means)
        return SaidAnswered(found, sure, drifts, probability, frozenset(learned))


def _series(project_id: int, rows: SaidRows) -> tuple[Hashable, ...]:
    """Return where answers are kept: two sources do not push the periods out."""
    return "said sources" if rows.is_pair else "said answers", project_id
