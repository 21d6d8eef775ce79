"""Rank replies to a conversation by an encoder trained on conversations."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.services.answering.opened import Space, open_space
from app.services.conversations.reading import draw_replies, require_logs, stored_logs
from app.services.studio import Studio
from core.errors import InvalidInput
from core.formats.dialogues import Pair
from core.recipes.read import learns_from
from core.text import is_blank
from core.types import FloatArray
from storage import models, projects
from storage.records import ConversationLogRecord, ModelVersionRecord

if TYPE_CHECKING:
    from core.responses import Ranker

DRAWN = 500
"""Number of replies drawn from a project's logs where none are given."""

_TEXT_BYTES = 200


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply with its cosine to the conversation."""

    text: str
    cosine: float


@dataclass(frozen=True, slots=True)
class Replies:
    """The replies that fit a conversation best, best first.

    Attributes:
        encoder: The version that ranked; the untuned encoder before training on conversations.
        contexts: Number of turns before the last one that it reads.
        candidates: Number of ranked replies.
        drawn: Whether they were drawn from the project's logs.
    """

    encoder: str
    trained: bool
    contexts: int
    candidates: int
    drawn: bool
    best: tuple[Reply, ...]


def rank_replies(
    studio: Studio, project: str, turns: Sequence[str], candidates: Sequence[str], n: int = 10
) -> Replies:
    """Rank replies by the project's newest encoder that was trained on conversations.

    `turns` are in order of time. Without candidates, up to 500 are drawn from the project's logs.

    Raises:
        InvalidInput: All turns are blank, or there is no log to draw from.
        NotFound: There is no such project.
    """
    said_turns = [turn.strip() for turn in turns if not is_blank(turn)]
    if not said_turns:
        raise InvalidInput("There is nothing to reply to.", "Type what was said last.")
    from core.responses import Ranker, rank_responses  # imports torch

    with studio.database.read() as connection:
        record = projects.find(connection, project)
        version = _newest_encoder(models.list_all(connection, record.id))
        logs = [] if candidates else require_logs(connection, record)
    space = Space(record, version)
    opened = open_space(studio, space)
    ranker = opened.ranker or Ranker(opened.encoder)
    contexts = 0 if version is None else int(version.lineage["recipe"].get("contexts", 0))
    texts = list(dict.fromkeys(candidates)) if candidates else _drawn(studio, logs)
    rows = _embedded(studio, ranker, texts, keep=not candidates)
    history = tuple(reversed(said_turns[:-1]))[:contexts]
    ranked = rank_responses(ranker, Pair(said_turns[-1], "", history), texts, rows)[:n]
    best = tuple(Reply(text, cosine) for text, cosine in ranked)
    return Replies(space.name, version is not None, contexts, len(texts), not candidates, best)


def _newest_encoder(made: Sequence[ModelVersionRecord]) -> ModelVersionRecord | None:
    """Return the newest version that was itself trained on conversations, or None."""
    versions = ((record, record.lineage.get("recipe", {})) for record in reversed(made))
    return next((v for v, recipe in versions if learns_from(recipe) == "conversations"), None)


def _drawn(studio: Studio, logs: Sequence[ConversationLogRecord]) -> list[str]:
    def draw() -> list[str]:
        with stored_logs(studio, logs) as folders:
            return draw_replies(folders, DRAWN)

    key = ("replies", *(log.tree_sha256 for log in logs))
    replies = studio.cache.get(key, draw, lambda drawn: _TEXT_BYTES * len(drawn))
    if not replies:
        raise InvalidInput(
            "The logs of this project hold no replies: every turn is a user's.",
            "Type the replies to choose from.",
        )
    return replies


def _embedded(studio: Studio, ranker: "Ranker", texts: Sequence[str], *, keep: bool) -> FloatArray:
    if not keep:
        return ranker.encode_responses(texts)
    key = ("reply rows", ranker.fingerprint, hash(tuple(texts)))
    return studio.cache.get(
        key, lambda: ranker.encode_responses(texts), lambda rows: int(rows.nbytes)
    )
