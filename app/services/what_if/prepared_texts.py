"""Texts whose answers a change could alter, with the kernel that computes those answers quickly.

The kernel of texts and exemplars takes seconds to compute and up to half a gigabyte. It belongs to
the exemplars as they were when it was computed (the anchor). Later changes are passed to the votes
together with the change in question.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from app.services.embedding import embed_known, unknown_texts
from app.services.live.answered_tests import Flags
from app.services.live.joining import Said, amendment
from app.services.live.live_model import LiveModel
from app.services.live.models import LiveModels
from core.errors import InvalidInput
from core.heads.votes.fit import VoteHead
from core.pipeline import LearnedTexts
from core.text import match_key
from core.types import FloatArray, Intent, Pause, ScoreArray
from storage import pinned_texts
from storage.database import Database
from storage.queries import dataset, utterances
from storage.queries.utterances import Filter, Page
from storage.records import PinRecord, UtteranceRecord

if TYPE_CHECKING:
    from core.explain.blast_radius import Watched
    from core.explain.familiarity_after import Surroundings
    from core.explain.solved_votes import SolvedVotes

WatchedPlace = Literal["pool", "test", "pin"]

Answers = NDArray[np.bool_]
"""The intents that each watched text is answered with, (n, intents); none if out of scope."""

MOST = 10_000
"""Most unlabelled texts that are watched, and most texts of the test split."""

_CELLS = 120_000_000
"""Most cells of the kernel of texts and exemplars: 480 MB."""

_ENCODED = 2_000
"""Most texts without an embedding that are encoded; further ones are left out."""


@dataclass(frozen=True, slots=True)
class WatchedText:
    """A text whose answer is watched; `id` is "" for a pin."""

    id: str
    text: str
    place: WatchedPlace
    labels: tuple[str, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class PreparedTexts:
    """Watched texts with all that is needed to answer them again after a change of the votes.

    Attributes:
        learned: Which texts the encoder has learned, (n,).
        twins: Labels of the exemplars with a match key, by exemplar id.
        spoken: What an intent's name adds to the texts' scores, (n,) each: without examples, and
            with.
        around: Familiarity of the texts, for a fence by another method than votes.
    """

    live: LiveModel
    votes: "SolvedVotes" = field(repr=False)
    watched: "Watched" = field(repr=False)
    texts: tuple[WatchedText, ...] = field(repr=False)
    left_out: int
    pins: tuple[PinRecord, ...]
    rows: Mapping[str, int] = field(repr=False)
    keys: Mapping[str, Sequence[int]] = field(repr=False)
    learned: Flags = field(repr=False)
    voters: Mapping[str, int] = field(repr=False)
    twins: Mapping[str, Mapping[str, tuple[str, ...]]] = field(repr=False)
    spoken: Mapping[str, tuple[ScoreArray, ScoreArray]] = field(default_factory=dict, repr=False)
    around: "Surroundings | None" = field(default=None, repr=False)


def prepare_texts(
    database: Database, project_id: int, live: LiveModel, live_models: LiveModels, pause: Pause
) -> PreparedTexts:
    """Choose the texts to watch, embed them and compute their kernel.

    Raises:
        InvalidInput: Labels do not join the model, so that no effect can be told.
    """
    from core.explain.blast_radius import watch
    from core.explain.solved_votes import solve_votes
    from core.heads.mixture import voices_of

    base = live.base
    if base.basis is None or not live.joins:
        raise InvalidInput(
            "What a change does to answers shows after the next training.",
            "It can be made nevertheless, and undone.",
        )
    votes = solve_votes(base.basis, amendment(base, live.changes) if live.changes else None)
    wanted, pins, total = _choose(database, project_id, len(votes.head.exemplars))
    embedded, embeddings = embed_known(
        database, live.pipeline.encoder, [text.text for text in wanted], _ENCODED
    )
    texts = tuple(wanted[row] for row in embedded)
    keys: dict[str, list[int]] = defaultdict(list)
    for row, text in enumerate(texts):
        keys[match_key(text.text)].append(row)
    twins: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for exemplar in live.pipeline.exemplars:
        said: Said | None = live.votes_as(exemplar.id)
        twins[match_key(exemplar.text)][exemplar.id] = said[1] if said else ()
    with database.read() as connection:
        intents = dataset.open_intents(connection, project_id)
    watched = watch(votes, embeddings, pause, voices_of(live.pipeline.head, embeddings))
    return PreparedTexts(
        live=live,
        votes=votes,
        watched=watched,
        texts=texts,
        left_out=total - len(texts),
        pins=pins,
        rows={text.id: row for row, text in enumerate(texts) if text.id},
        keys=keys,
        learned=_learned(live, texts),
        voters={e.id: row for row, e in enumerate(live.pipeline.exemplars)},
        twins=twins,
        spoken=_spoken(live, intents, watched.unit, live_models),
    )


def _learned(live: LiveModel, texts: Sequence[WatchedText]) -> Flags:
    """Return which texts the encoder has learned, (n,)."""
    # Unlabelled ones, too: a preview counts those that became test texts since as tests.
    by_encoder = LearnedTexts(live.pipeline.learned)
    if not by_encoder.keys:
        return np.zeros(len(texts), dtype=bool)
    return np.array([text.text in by_encoder for text in texts], dtype=bool)


def _spoken(
    live: LiveModel, intents: Mapping[str, Intent], rows: FloatArray, live_models: LiveModels
) -> dict[str, tuple[ScoreArray, ScoreArray]]:
    """Return what names add to scores while an intent has no example, and once it has one."""
    from core.intent_names import beside, voices_alone

    named = {key: intent for key, intent in intents.items() if key in live.columns}
    if live.pipeline.task == "multi-label" or not named:
        return {}
    alone = voices_alone(
        live.pipeline.encoder, list(named.values()), rows, live_models.name_cache()
    )
    taught = np.zeros((len(rows), len(live.columns)))
    votes = live.base.pipeline.head
    if live.voice is not None and isinstance(votes, VoteHead):
        taught = beside(votes, live.voice).voices(rows)
    places = [live.columns.index(key) for key in named]
    return {
        key: (alone[:, at], taught[:, place])
        for at, (key, place) in enumerate(zip(named, places, strict=True))
    }


def count_new(database: Database, project_id: int, live: LiveModel) -> int:
    """Return how many of the texts to watch have no embedding yet, at most `_ENCODED`."""
    wanted, _, _ = _choose(database, project_id, len(live.pipeline.exemplars))
    encoder = live.pipeline.encoder
    return min(_ENCODED, len(unknown_texts(database, encoder, [text.text for text in wanted])))


def _choose(
    database: Database, project_id: int, n_exemplars: int
) -> tuple[list[WatchedText], tuple[PinRecord, ...], int]:
    """Return pins, labelled tests and unlabelled texts; the pins; and how many texts there are."""
    with database.read() as connection:
        pins = tuple(pinned_texts.list_all(connection, project_id))
        tests, n_tests = utterances.read_page(
            connection, project_id, Filter(split="test"), "oldest", Page(0, MOST)
        )
        pool = utterances.sample_unlabelled(connection, project_id, MOST)
        waiting = Filter(state="unlabelled")
        n_pool = utterances.count_all(connection, project_id, waiting)
    texts = [WatchedText("", pin.text, "pin", pin.intents) for pin in pins]
    texts += [_watched_text(record, "test") for record in tests if record.labels is not None]
    texts += [_watched_text(record, "pool") for record in pool if _may_be_watched(record)]
    total = len(texts) + n_tests - len(tests) + n_pool - len(pool)
    return texts[: _CELLS // max(1, n_exemplars)], pins, total


def _may_be_watched(waiting: UtteranceRecord) -> bool:
    return waiting.split != "test" and not waiting.synthetic


def _watched_text(record: UtteranceRecord, place: WatchedPlace) -> WatchedText:
    return WatchedText(record.id, record.text, place, record.labels)
