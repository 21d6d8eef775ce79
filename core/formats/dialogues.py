"""Conversation logs: streamed, deduplicated, masked, and read as (context, response) pairs.

JSONL holds one conversation a line: a list of turns, or an object with `turns` (and an `id`). A
turn is a text or an object with a text and a speaker; bare texts alternate, the user first. CSV
holds one turn a row, the rows of a conversation adjacent. Both may be gzipped.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from core.errors import InvalidInput
from core.formats.dialogue_rows import conversation_rows, log_lines
from core.formats.digests import digest
from core.formats.rows import FilePlace

USER = "user"
SYSTEM = "system"
USERS = frozenset({"user", "customer", "client", "caller", "visitor", "human", "usr"})
_TEXTS = ("text", "utterance", "content", "message")
_SPEAKERS = ("speaker", "role", "author", "from")
_IDS = ("id", "conversation_id", "dialogue_id", "conversation")
_EXAMPLE = 'Each line is one conversation such as ["Hello.", "How can I help?"].'
_REMEMBERED = 1_000_000


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn: a text without outer white space, and `user`, `system` or the log's own speaker."""

    text: str
    speaker: str = ""

    @property
    def by_user(self) -> bool:
        """Whether the user, not the system, is the speaker."""
        return self.speaker.lower() in USERS


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One conversation: its id in the log (or its line's number) and its turns."""

    id: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """A context, the response that follows it, and the turns before both, newest first."""

    context: str
    response: str
    history: tuple[str, ...] = ()


def read_dialogues(path: Path) -> Iterator[Dialogue]:
    """Stream the conversations of a log, in its order; memory does not grow with the file.

    A log is JSONL, or CSV with conversation id, turn, speaker and text; `.gz` is allowed. Turns
    without text are skipped, and so are conversations of fewer than two turns.

    Raises:
        InvalidInput: The file or one of its rows cannot be read; the row is named.
    """
    name = path.name.lower().removesuffix(".gz")
    read = _from_table if name.endswith((".csv", ".tsv")) else _from_json
    return (dialogue for dialogue in read(path) if len(dialogue.turns) > 1)


def dialogue_digest(dialogue: Dialogue) -> int:
    """Return 64 bits that identify the texts of a conversation, ignoring case and speakers."""
    return digest("\0".join(turn.text.casefold() for turn in dialogue.turns))


def dialogue_line(dialogue: Dialogue) -> str:
    """Write a conversation as the JSONL line that `read_dialogues` reads."""
    turns = [{"speaker": turn.speaker, "text": turn.text} for turn in dialogue.turns]
    return json.dumps({"id": dialogue.id, "turns": turns}, ensure_ascii=False) + "\n"


def without_repeats(
    dialogues: Iterable[Dialogue], remembered: int = _REMEMBERED
) -> Iterator[Dialogue]:
    """Skip conversations with the texts of an earlier one, among the last `remembered` ones.

    The limit bounds the memory.
    """
    seen: dict[int, None] = {}
    for dialogue in dialogues:
        key = dialogue_digest(dialogue)
        if key in seen:
            continue
        seen[key] = None
        if len(seen) > remembered:
            del seen[next(iter(seen))]
        yield dialogue


def pairs_of(dialogue: Dialogue, contexts: int = 0) -> Iterator[Pair]:
    """Pair each turn with the next one, and with at most `contexts` earlier turns."""
    texts = [turn.text for turn in dialogue.turns]
    for at in range(1, len(texts)):
        before = texts[max(0, at - 1 - contexts) : at - 1]
        yield Pair(texts[at - 1], texts[at], tuple(reversed(before)))


def stream_pairs(paths: Iterable[Path], contexts: int = 0) -> Iterator[Pair]:
    """Stream the pairs of several logs in order, without repeated conversations."""
    for dialogue in without_repeats(one for path in paths for one in read_dialogues(path)):
        yield from pairs_of(dialogue, contexts)


def history_text(history: Iterable[str]) -> str:
    """Join earlier turns to one text, each after its index (ConveRT Section 3)."""
    return " ".join(f"{place} {text}" for place, text in enumerate(history))


def context_text(pair: Pair) -> str:
    """Join a context and its earlier turns, newest first, for one encoder."""
    return " ".join((pair.context, *pair.history))


def _from_json(path: Path) -> Iterator[Dialogue]:
    for number, line in log_lines(path):
        if line.strip():
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise InvalidInput(f"{FilePlace(path, number)}: not JSON.", _EXAMPLE) from error
            yield _dialogue(value, FilePlace(path, number))


def _dialogue(value: object, place: FilePlace) -> Dialogue:
    name = str(place.row)
    if isinstance(value, dict):
        name = _storable(str(next((value[key] for key in _IDS if key in value), ""))) or name
        value = value.get("turns")
    if not isinstance(value, list):
        raise InvalidInput(f"{place}: there is no list of turns.", _EXAMPLE)
    turns = [_turn(turn, at, place) for at, turn in enumerate(value)]
    return Dialogue(name, tuple(turn for turn in turns if turn.text))


def _turn(value: object, at: int, place: FilePlace) -> Turn:
    speaker = (USER, SYSTEM)[at % 2]
    if isinstance(value, dict):
        name = next((value[key] for key in _SPEAKERS if key in value), "")
        speaker = _storable(str(name))
        value = next((value[key] for key in _TEXTS if key in value), None)
    if not isinstance(value, str):
        raise InvalidInput(f"{place}: turn {at + 1} has no text.", _EXAMPLE)
    return Turn(_storable(value), speaker)


def _from_table(path: Path) -> Iterator[Dialogue]:
    for name, rows in conversation_rows(path):
        turns = (Turn(_storable(text), speaker.strip()) for speaker, text in rows)
        yield Dialogue(name, tuple(turn for turn in turns if turn.text))


def _storable(text: str) -> str:
    """Remove what JSON can escape but text cannot hold: NUL, and halves of surrogate pairs."""
    return text.replace("\0", "").encode("utf-8", "ignore").decode().strip()
