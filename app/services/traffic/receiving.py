"""Take texts of the traffic in: each as often as it was said, with its time and its source."""

import hashlib
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from app.services.live.live_studio import LiveStudio
from app.services.studio import Studio
from core.errors import InvalidInput
from core.formats.masking import count_masked, mask_personal
from core.text import is_blank, is_storable, normalise, text_hash
from storage import projects
from storage.database import Transaction
from storage.log import edits, events
from storage.log.events import TRAFFIC, Action
from storage.said import logs, traffic
from storage.said.logs import SaidLog
from storage.said.traffic import SaidText

MOST = 20_000
"""Texts that one request may bring."""

LONGEST_SOURCE = 200
_CHUNK = 500
"""Texts of one transaction, at most 0.3 s on two busy cores: others save their labels between."""

EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
_CLOCKS_DIFFER = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Sent:
    """A text as it was sent.

    Attributes:
        time: ISO 8601; without an offset it is UTC.
        key: What its sender calls it, or "": then a text of the same source and second is the same.
    """

    text: str
    time: str
    source: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class ReceivedTraffic:
    """What became of the texts that were sent.

    Attributes:
        received: Number of texts sent.
        kept: Of these, in the sample of their day and source.
        left_out: Not in that sample, which is full; none of these is stored.
        repeated: Known already, by their key.
        added: Texts that the project did not have; they wait for a label.
        masked: Masked pieces of personal data by kind; None without masking.
    """

    received: int
    kept: int
    left_out: int
    repeated: int
    added: int
    masked: dict[str, int] | None


@dataclass(frozen=True, slots=True)
class ReadText:
    """A text as it would be stored; `at` is ISO 8601 in UTC."""

    key: str
    text: str
    at: str
    source: str

    @property
    def place(self) -> tuple[str, str]:
        """The day and the source."""
        return self.at[: traffic.DAY], self.source


@dataclass(frozen=True, slots=True)
class ReadTraffic:
    """Texts as they would be stored, with pieces of personal data by kind.

    `masked` is None without masking, and `unmasked`, which would stand in them, with it.
    """

    texts: tuple[ReadText, ...]
    masked: dict[str, int] | None
    unmasked: dict[str, int] | None


def receive_traffic(
    live_studio: LiveStudio, project: str, sent: Sequence[Sent], *, mask: bool
) -> ReceivedTraffic:
    """Store texts with time and source; a text that is new to the project waits for a label.

    It may be repeated: what is stored already is not stored again. No text enters the test set.

    Raises:
        InvalidInput: A text, time or source cannot be used; nothing of the request is stored.
        NotFound: There is no such project.
    """
    if not sent or len(sent) > MOST:
        raise InvalidInput(
            f"{len(sent):,} texts were sent.", f"Send 1 to {MOST:,} texts with each request."
        )
    read = read_sent(sent, mask=mask)
    with live_studio.studio.database.read() as connection:
        project_id = projects.find(connection, project).id
    return store_read(live_studio, project_id, read)


@dataclass(frozen=True, slots=True)
class Foreseen:
    """Keys of rows that are stored already, and of new ones that the sample will keep."""

    known: set[str]
    kept: set[str]


def foresee(studio: Studio, project_id: int, read: ReadTraffic) -> Foreseen:
    """Tell what will become of texts that were read, as far as the rows of now tell."""
    with studio.database.read() as connection:
        known = traffic.known(connection, project_id, [one.key for one in read.texts])
        new = {one.key: one.place for one in read.texts if one.key not in known}
        limit = studio.settings.traffic_per_day
        return Foreseen(known, traffic.would_keep(connection, project_id, new, limit))


def store_read(
    live_studio: LiveStudio,
    project_id: int,
    read: ReadTraffic,
    upload: tuple[str, str] | None = None,
) -> ReceivedTraffic:
    """Store texts that were read, some hundred a transaction.

    Those that the sample will keep come first: no text is added for a row that goes again.
    `upload` are key and name of the log that they came with; its import can be taken back.

    Raises:
        NotFound: The project was deleted meanwhile; what is stored by then comes back with it.
    """
    log: SaidLog | None = None
    if upload is not None:
        with live_studio.studio.database.write() as connection:
            projects.get_open(connection, project_id)
            log = logs.begin(connection, project_id, *upload)
    texts = list(read.texts)
    if len(texts) > _CHUNK:
        will_stay = foresee(live_studio.studio, project_id, read).kept
        texts.sort(key=lambda one: one.key not in will_stay)
    counts, stayed = Counter[str](), list[str]()
    for start in range(0, len(texts), _CHUNK):
        live_studio.traffic.give_way()
        with live_studio.studio.database.write() as connection:
            projects.get_open(connection, project_id)
            chunk = _Chunk(texts[start : start + _CHUNK], log)
            taken, keys = _take(live_studio.studio, connection, project_id, chunk)
        counts += taken
        stayed += keys
    kept = _still_there(live_studio.studio, project_id, stayed)
    return ReceivedTraffic(
        received=len(read.texts),
        kept=kept,
        left_out=counts["left_out"] + len(stayed) - kept,
        repeated=counts["repeated"],
        added=counts["added"],
        masked=read.masked,
    )


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Texts of one transaction, and the log that they came with, if any."""

    texts: Sequence[ReadText]
    log: SaidLog | None

    def action(self, actor: str) -> Action:
        """Return the action that adds its texts.

        Each has a key of its own: after an undo the same log may add its texts once more.
        """
        if self.log is None:
            return Action(TRAFFIC, actor, "traffic")
        return Action(TRAFFIC, actor, f"import {self.log.name}", logs.action_key(self.log.key))


def _still_there(studio: Studio, project_id: int, keys: Sequence[str]) -> int:
    """Count stored texts whose places later ones of the same day and source have not taken."""
    with studio.database.read() as connection:
        parts = (keys[start : start + _CHUNK] for start in range(0, len(keys), _CHUNK))
        return sum(len(traffic.known(connection, project_id, part)) for part in parts)


def _take(
    studio: Studio, connection: Transaction, project_id: int, chunk: _Chunk
) -> tuple[Counter[str], list[str]]:
    """Store those of a chunk that are new and in the sample; return the numbers and their keys."""
    seen = traffic.known(connection, project_id, [one.key for one in chunk.texts])
    new = {one.key: one for one in chunk.texts if one.key not in seen}
    places = {key: one.place for key, one in new.items()}
    limit = studio.settings.traffic_per_day
    kept = traffic.make_room(connection, project_id, places, limit)
    stay = [one for key, one in new.items() if key in kept]
    added = _add_texts(connection, project_id, stay, chunk.action(studio.settings.actor))
    holders = traffic.holders(connection, project_id, [text_hash(one.text) for one in stay])
    rows = [SaidText(one.key, holders[text_hash(one.text)], one.at, one.source) for one in stay]
    traffic.add(connection, project_id, rows, None if chunk.log is None else chunk.log.id)
    repeated = len(chunk.texts) - len(new)
    left_out = len(new) - len(stay)
    return Counter(left_out=left_out, repeated=repeated, added=added), [one.key for one in stay]


def _add_texts(
    connection: Transaction, project_id: int, stay: Sequence[ReadText], action: Action
) -> int:
    """Add the texts that the project does not have, in one action."""
    first = {text_hash(one.text): one for one in reversed(stay)}
    held = traffic.holders(connection, project_id, list(first))
    fresh = [one for key, one in first.items() if key not in held]
    if fresh:
        created = (
            edits.create_utterance(uuid.uuid4().hex, one.text, "pool", one.source, None)
            for one in fresh
        )
        events.record(connection, project_id, action, created)
    return len(fresh)


def read_sent(sent: Sequence[Sent], *, mask: bool) -> ReadTraffic:
    """Check all texts, and mask them unless told otherwise.

    A text without a key is known by what is left of it once it is masked, so that it is the same
    row whether it comes masked or not.

    Raises:
        InvalidInput: A text, time or source cannot be used.
    """
    personal = Counter[str]()
    latest = latest_time()
    alike = Counter[tuple[str, str, str]]()
    found = list[ReadText]()
    for number, one in enumerate(sent, 1):
        at, source = _time_of(one.time, number, latest), normalise(one.source)
        if is_blank(one.text) or not is_storable(one.text):
            raise InvalidInput(f"Text {number} is empty.", "Leave it out, or send its words.")
        if is_blank(source) or len(source) > LONGEST_SOURCE or not is_storable(source):
            raise InvalidInput(
                f"Text {number} has no source that can be kept.",
                f"Name where it was said, such as app or phone, in 1 to {LONGEST_SOURCE} signs.",
            )
        text = normalise(one.text)
        hidden = mask_personal(text)
        personal.update(count_masked(text, hidden))
        said = (hidden, at, source)
        alike[said] += not one.key
        parts = ["key", one.key] if one.key else ["text", *said, str(alike[said])]
        key = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        found.append(ReadText(key, hidden if mask else text, at, source))
    counts = dict(personal)
    return ReadTraffic(tuple(found), counts if mask else None, None if mask else counts)


def latest_time() -> datetime:
    """Return the latest time that can have passed on the clock of a sender."""
    return datetime.now(UTC) + _CLOCKS_DIFFER


def _time_of(time: str, number: int, latest: datetime) -> str:
    """Return a time in UTC, to the second; without an offset it is UTC."""
    try:
        read = datetime.fromisoformat(time.strip())
        at = (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"Text {number} has no time that can be read: '{time[:40]}'.",
            "Write times like 2026-11-26T14:30:00Z.",
        ) from None
    if not EARLIEST <= at <= latest:
        raise InvalidInput(
            f"Text {number} was said at {time[:40]}, which cannot be.",
            "Send times from the year 2000 on that have passed.",
        )
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
