"""Texts whose answers are watched, so that a change can be judged before it is made.

What is dear, the kernel of texts and exemplars, is kept for the votes as they were when it was
made (the anchor). What has changed since is asked for together with what is about to change, until
it is so much that a new anchor costs less.
"""

import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from app.services.joining import Said, amendment, can_join
from app.services.live import LiveModel, LiveModels
from app.services.studio import Studio
from app.services.traffic import Traffic
from core.encoders.base import Encoder
from core.errors import InvalidInput, NotFound
from core.text import match_key, text_hash
from core.types import FloatArray
from storage import browse, events, models, vectors
from storage.browse import Filter
from storage.database import Database
from storage.records import PinRecord, UtteranceRecord

if TYPE_CHECKING:
    from core.explain.blast import Watched
    from core.explain.standing import Standing

Place = Literal["pool", "test", "pin"]

MOST = 10_000
"""Texts without a label, and texts to judge by, that are watched of each."""

_CELLS = 120_000_000
"""Of the kernel of texts and exemplars: 480 MB."""

_ENCODED = 2_000
"""Texts that have no embedding yet and are worth waiting for."""

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
        standing: Its votes.
        watched: The texts, as the core wants them.
        texts: The same for people.
        left_out: Texts that are not among them.
        pins: Those that are.
        rows: Where utterances are among the texts.
        keys: Match key to the texts that say it.
        voters: Where utterances are among the exemplars.
        twins: Match key to what the exemplars that say it are labelled, by id.
    """

    live: LiveModel
    standing: "Standing" = field(repr=False)
    watched: "Watched" = field(repr=False)
    texts: tuple[WatchedText, ...] = field(repr=False)
    left_out: int
    pins: tuple[PinRecord, ...]
    rows: Mapping[str, int] = field(repr=False)
    keys: Mapping[str, Sequence[int]] = field(repr=False)
    voters: Mapping[str, int] = field(repr=False)
    twins: Mapping[str, Mapping[str, tuple[str, ...]]] = field(repr=False)


@dataclass(slots=True)
class Watchings:
    """What is watched of the project that was asked about last; one object for a server."""

    studio: Studio
    models: LiveModels
    traffic: Traffic = field(default_factory=Traffic)
    known: dict[int, Watching] = field(default_factory=dict)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def get(self, project_id: int) -> Watching:
        """Return what is watched, made where there is nothing, or too much has changed since.

        Raises:
            InvalidInput: The model's head cannot say what a change would do.
            NotFound: There is no model.
        """
        with self.guard:
            found = self.known.get(project_id)
            if found is None or not self._holds(project_id, found):
                self.known.clear()  # one kernel at a time: it may be half a gigabyte
                self.known[project_id] = found = self._made(project_id)
            return found

    def _holds(self, project_id: int, found: Watching) -> bool:
        with self.studio.database.read() as connection:
            champion = models.champion(connection, project_id)
            pins = tuple(models.pins(connection, project_id))
            touched = events.touched_since(connection, project_id, found.live.revision)
        if champion is None or champion.id != found.live.version.id or pins != found.pins:
            return False
        if len(touched) <= _DRIFT:
            return True
        newest = self.models.get(project_id)
        # While a large set is brought up to date there is nothing newer to be made from.
        return newest is not None and newest.revision <= found.live.revision

    def _made(self, project_id: int) -> Watching:
        live = self.models.solved(project_id)
        if live is None:
            raise NotFound(
                "The project has no trained model yet.", "Press Train on the Train page first."
            )
        if live.base.basis is None or not can_join(live.base, live.changes):
            raise InvalidInput(
                "What a change would do is told for votes of all examples alone.",
                "Train with the head 'votes'; repairs work with any.",
            )
        return _watching(self.studio.database, project_id, live, self.traffic)


def _watching(database: Database, project_id: int, live: LiveModel, traffic: Traffic) -> Watching:
    from core.explain.blast import watch
    from core.explain.standing import standing_of

    base = live.base
    if base.basis is None:
        message = "the votes are not solved"
        raise ValueError(message)
    standing = standing_of(base.basis, amendment(base, live.changes) if live.changes else None)
    texts, pins, total = _texts(database, project_id, len(standing.head.exemplars))
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
        standing=standing,
        watched=watch(standing, rows, traffic.give_way),
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
        tests, n_tests = browse.page(
            connection, project_id, Filter(split="test"), "oldest", (0, MOST)
        )
        pool = browse.sample_unlabelled(connection, project_id, MOST)
        waiting = Filter(state="unlabelled")
        n_pool = browse.page(connection, project_id, waiting, "oldest", (0, 0))[1]
    found = [WatchedText("", pin.text, "pin", pin.intents) for pin in pins]
    found += [_watched_text(record, "test") for record in tests if record.labels is not None]
    found += [_watched_text(record, "pool") for record in pool if record.split != "test"]
    total = len(found) + n_tests - len(tests) + n_pool - len(pool)
    return found[: _CELLS // max(1, n_exemplars)], pins, total


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
