"""Texts whose answers are watched, so that a change can be judged before it is made.

What is dear, the kernel of texts and exemplars, is kept for the votes as they were when it was
made (the anchor). What has changed since is asked for together with what is about to change, until
it is so much that a new anchor costs less.
"""

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from app.services.answering.stored import no_model_yet
from app.services.live.joining import Said, amendment, can_join
from app.services.live.models import LiveModel, LiveModels, step_back, with_fence
from app.services.live.server_state import LiveStudio
from core.encoders.base import Encoder
from core.errors import InvalidInput, StudioError
from core.text import match_key, text_hash
from core.types import FloatArray, Intent, Pause, ScoreArray
from storage import models, projects, vectors
from storage.database import Database
from storage.log import events
from storage.queries import dataset, utterances
from storage.queries.utterances import Filter, Page
from storage.records import PinRecord, ProjectRecord, UtteranceRecord

if TYPE_CHECKING:
    from core.calibration.calibration import Calibration
    from core.explain.blast_radius import Watched
    from core.explain.familiarity_after import Surroundings
    from core.explain.solved_votes import SolvedVotes

_LOG = logging.getLogger("app.services")

Place = Literal["pool", "test", "pin"]

Answers = NDArray[np.bool_]
"""Which intents each watched text is answered with, (n, intents); none where nothing fits."""

MOST = 10_000
"""Texts without a label, and texts to judge by, that are watched of each."""

_CELLS = 120_000_000
"""Of the kernel of texts and exemplars: 480 MB."""

_ENCODED = 2_000
"""Texts that have no embedding yet and are worth waiting for."""

_UNASKED = 12_000
"""With more exemplars the votes' root takes over a gigabyte: not made before somebody asks."""

_IN_USE_SECONDS = 600.0
"""For so long after a question no other project's page takes what answers it away."""

_DRIFT = 24
"""Changes since the anchor, of which each costs every question some milliseconds."""


@dataclass(frozen=True, slots=True)
class WatchedText:
    """A text whose answer is watched; `id` is "" for a pin."""

    id: str
    text: str
    place: Place
    labels: tuple[str, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class Watching:
    """Texts, ready for questions about votes.

    Attributes:
        live: The model as it was: the anchor.
        votes: Its votes.
        watched: The texts, as the core wants them.
        texts: The same for people.
        left_out: Texts that are not among them.
        pins: Those that are.
        rows: Where utterances are among the texts.
        keys: Match key to the texts that say it.
        voters: Where utterances are among the exemplars.
        twins: Match key to what the exemplars that say it are labelled, by id.
        spoken: What the names of intents add to the texts' scores by intent, (n,) each: while it
            has no example, and once it has one.
        around: Where the texts lie, for a fence that does not go by scores alone.
    """

    live: LiveModel
    votes: "SolvedVotes" = field(repr=False)
    watched: "Watched" = field(repr=False)
    texts: tuple[WatchedText, ...] = field(repr=False)
    left_out: int
    pins: tuple[PinRecord, ...]
    rows: Mapping[str, int] = field(repr=False)
    keys: Mapping[str, Sequence[int]] = field(repr=False)
    voters: Mapping[str, int] = field(repr=False)
    twins: Mapping[str, Mapping[str, tuple[str, ...]]] = field(repr=False)
    spoken: Mapping[str, tuple[ScoreArray, ScoreArray]] = field(default_factory=dict, repr=False)
    around: "Surroundings | None" = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class _Fenced:
    """What is watched, judged by a fence.

    Attributes:
        bare: What is watched.
        key: Of the limits that hold: the fence, and how the model was trained to answer.
        watching: The same, judged by them.
    """

    bare: Watching
    key: tuple[Any, ...]
    watching: Watching


@dataclass(slots=True)
class WatchedTextCache:
    """What is watched of the project that was asked about last; one object for a server."""

    live_studio: LiveStudio
    known: dict[int, Watching] = field(default_factory=dict)
    judged: dict[int, _Fenced] = field(default_factory=dict)
    guard: threading.Lock = field(default_factory=threading.Lock)
    answered: tuple[Watching, int, Answers] | None = None
    asking: int = 0
    used: float = 0.0
    preparing: set[int] = field(default_factory=set)
    counting: threading.Lock = field(default_factory=threading.Lock)

    def prepare(self, project_id: int) -> None:
        """See that the next question finds what it needs, made beside the requests; never waits.

        One at a time, of the project that was asked for first; a question that comes meanwhile
        waits for it, and then it gives way to nobody.
        """
        with self.counting:
            if self.preparing:
                return
            self.preparing.add(project_id)
        threading.Thread(
            target=self._prepare, args=(project_id,), name="prepare-what-if", daemon=True
        ).start()

    def _prepare(self, project_id: int) -> None:
        step_back()
        try:
            if self.known and project_id not in self.known and self._is_in_use():
                return
            live = self.live_studio.models.get(project_id)
            if live is None or len(live.pipeline.exemplars) > _UNASKED:
                return
            with self.live_studio.studio.database.read() as connection:
                project = projects.get(connection, project_id)
            self._fenced(project)
        except StudioError as error:  # no model yet, or a head that cannot say
            _LOG.debug("What a change would do was not prepared: %s", error)
        except Exception:  # noqa: BLE001 - nobody else hears of it; whoever asks will be told
            _LOG.exception("What a change of project %d would do was not prepared", project_id)
        finally:
            self.preparing.discard(project_id)

    def _is_in_use(self) -> bool:
        return time.monotonic() - self.used < _IN_USE_SECONDS

    def _pause(self) -> None:
        """Give way to requests, but not to one that waits for just this."""
        if not self.asking:
            self.live_studio.traffic.give_way()

    def fenced(self, project: ProjectRecord) -> Watching:
        """Return what is watched, judged by the limits that hold now.

        Raises:
            InvalidInput: The model's head cannot say what a change would do.
            NotFound: There is no model.
        """
        self.used = time.monotonic()
        with self.counting:
            self.asking += 1
        try:
            return self._fenced(project)
        finally:
            with self.counting:
                self.asking -= 1

    def _fenced(self, project: ProjectRecord) -> Watching:
        bare, live = self.get(project.id), self.live_studio.models.peek(project.id)
        if live is None:
            return bare
        own = live.pipeline.calibration
        with self.guard:
            kept, key = self.judged.get(project.id), (project.fence, live.version.id)
            if kept is None or kept.bare is not bare or kept.key != key:
                found = self._judging(bare, own, project.fence)
                self.judged.clear()
                kept = self.judged[project.id] = _Fenced(bare, key, found)
            return kept.watching

    def _judging(
        self, bare: Watching, own: "Calibration", fence: dict[str, Any] | None
    ) -> Watching:
        from core.explain.familiarity_after import surround

        live = replace(bare.live, pipeline=replace(bare.live.pipeline, calibration=own))
        live = with_fence(self.live_studio.studio, live, fence)
        measure = live.pipeline.calibration.familiarity_measure
        if measure is None:
            return replace(bare, live=live)
        tau = bare.votes.head.tau
        around = surround(measure.shapes, bare.watched, tau, self._pause)
        return replace(bare, live=live, around=around)

    def answers(self, watching: Watching, revision: int, make: Callable[[], Answers]) -> Answers:
        """Return what is answered to the texts at a revision, before anything is done.

        A page asks for one preview after the other, and after some labels each would work out
        again what these have changed.
        """
        kept = self.answered
        if kept is None or kept[0] is not watching or kept[1] != revision:
            kept = self.answered = (watching, revision, make())
        return kept[2]

    def get(self, project_id: int) -> Watching:
        """Return what is watched, made where there is nothing, or too much has changed since.

        Raises:
            InvalidInput: The model's head cannot say what a change would do.
            NotFound: There is no model.
        """
        with self.guard:
            found = self.known.get(project_id)
            if found is None or not self._holds(project_id, found):
                self.answered = None
                self.judged.clear()
                self.known.clear()  # one kernel at a time: it may be half a gigabyte
                self.known[project_id] = found = self._made(project_id)
            return found

    def _holds(self, project_id: int, found: Watching) -> bool:
        with self.live_studio.studio.database.read() as connection:
            champion = models.champion(connection, project_id)
            pins = tuple(models.pins(connection, project_id))
            touched = events.touched_since(connection, project_id, found.live.revision)
        if champion is None or champion.id != found.live.version.id or pins != found.pins:
            return False
        if len(touched) <= _DRIFT:
            return True
        newest = self.live_studio.models.get(project_id)
        # While a large set is brought up to date there is nothing newer to be made from.
        return newest is not None and newest.revision <= found.live.revision

    def _made(self, project_id: int) -> Watching:
        live = self.live_studio.models.solved(project_id, self._pause)
        if live is None:
            with self.live_studio.studio.database.read() as connection:
                raise no_model_yet(projects.get(connection, project_id).name)
        if live.base.basis is None or not can_join(live.base, live.changes):
            raise InvalidInput(
                "What a change would do is told for votes of all examples alone.",
                "Train with the head 'votes'; repairs work with any.",
            )
        found = _watching(self.live_studio.studio.database, project_id, live, self._pause)
        with self.live_studio.studio.database.read() as connection:
            intents = dataset.open_intents(connection, project_id)
        return replace(
            found, spoken=_spoken(live, intents, found.watched.unit, self.live_studio.models)
        )


def _spoken(
    live: LiveModel, intents: Mapping[str, Intent], rows: FloatArray, models: LiveModels
) -> dict[str, tuple[ScoreArray, ScoreArray]]:
    """Return what names say while an intent has no example, and once it has one."""
    from core.intent_names import beside, voices_alone

    known = {key: one for key, one in intents.items() if key in live.columns}
    if live.pipeline.task == "multi-label" or not known:
        return {}
    alone = voices_alone(live.pipeline.encoder, list(known.values()), rows, models.name_cache())
    taught = np.zeros((len(rows), len(live.columns)))
    if live.voice is not None:
        taught = beside(live.base.pipeline.head, live.voice).voices(rows)
    places = [live.columns.index(key) for key in known]
    return {
        key: (alone[:, at], taught[:, place])
        for at, (key, place) in enumerate(zip(known, places, strict=True))
    }


def _watching(database: Database, project_id: int, live: LiveModel, pause: Pause) -> Watching:
    from core.explain.blast_radius import watch
    from core.explain.solved_votes import solve_votes
    from core.heads.mixture import voices_of

    base = live.base
    if base.basis is None:
        message = "the votes are not solved"
        raise ValueError(message)
    votes = solve_votes(base.basis, amendment(base, live.changes) if live.changes else None)
    texts, pins, total = _texts(database, project_id, len(votes.head.exemplars))
    known, rows = _embedded(database, live.pipeline.encoder, texts)
    keys: dict[str, list[int]] = defaultdict(list)
    for row, one in enumerate(known):
        keys[match_key(one.text)].append(row)
    twins: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    exemplars = live.pipeline.exemplars
    for exemplar in exemplars:
        said: Said | None = live.votes_as(exemplar.id)
        twins[match_key(exemplar.text)][exemplar.id] = said[1] if said else ()
    return Watching(
        live=live,
        votes=votes,
        watched=watch(votes, rows, pause, voices_of(live.pipeline.head, rows)),
        texts=known,
        left_out=total - len(known),
        pins=pins,
        rows={one.id: row for row, one in enumerate(known) if one.id},
        keys=keys,
        voters={e.id: row for row, e in enumerate(exemplars)},
        twins=twins,
    )


def _texts(
    database: Database, project_id: int, n_exemplars: int
) -> tuple[list[WatchedText], tuple[PinRecord, ...], int]:
    """Pins, texts to judge by, and texts without a label; also how many of them there are."""
    with database.read() as connection:
        pins = tuple(models.pins(connection, project_id))
        tests, n_tests = utterances.read_page(
            connection, project_id, Filter(split="test"), "oldest", Page(0, MOST)
        )
        pool = utterances.sample_unlabelled(connection, project_id, MOST)
        waiting = Filter(state="unlabelled")
        n_pool = utterances.count_all(connection, project_id, waiting)
    found = [WatchedText("", pin.text, "pin", pin.intents) for pin in pins]
    found += [_watched_text(record, "test") for record in tests if record.labels is not None]
    found += [_watched_text(record, "pool") for record in pool if _may_be_watched(record)]
    total = len(found) + n_tests - len(tests) + n_pool - len(pool)
    return found[: _CELLS // max(1, n_exemplars)], pins, total


def _may_be_watched(waiting: UtteranceRecord) -> bool:
    return waiting.split != "test" and not waiting.synthetic


def _watched_text(record: UtteranceRecord, place: Place) -> WatchedText:
    return WatchedText(record.id, record.text, place, record.labels)


def _embedded(
    database: Database, encoder: Encoder, texts: Sequence[WatchedText]
) -> tuple[tuple[WatchedText, ...], FloatArray]:
    """Embed texts; of those that have no embedding yet the first, the others are left out."""
    from app.services.embedding import fill

    hashes = [text_hash(one.text) for one in texts]

    def look_up() -> dict[str, FloatArray]:
        with database.read() as connection:
            return vectors.get_many(connection, encoder.fingerprint, hashes, encoder.dim)

    known = look_up()
    missing = {key: one.text for key, one in zip(hashes, texts, strict=True) if key not in known}
    if missing:
        fill(database, encoder, dict(list(missing.items())[:_ENCODED]))
        known = look_up()
    kept = [row for row, key in enumerate(hashes) if key in known]
    rows = [known[hashes[row]] for row in kept]
    none = np.zeros((0, encoder.dim), np.float32)
    return tuple(texts[row] for row in kept), np.stack(rows) if rows else none
