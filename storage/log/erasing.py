"""Erase what somebody has said: the log keeps that there was a text, and not what it was.

In every event and row, a tombstone such as `[erased 1f3a9c02]` stands for the text. It is random,
so that nobody can try texts against it. Data versions that held the text get a new SHA-256; the
erasure's record keeps both, so that a version that is named elsewhere by the old one can be told.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.text import text_hash
from storage import projects
from storage.log import edits, events, versions
from storage.log.events import ERASE, Action
from storage.log.replay import State, canonical_hash, replay
from storage.log.scrubbing import Scrubber, tombstone
from storage.queries import utterances
from storage.records import ProjectRecord, now
from storage.said.tables import said_text
from storage.tables import dataset_version, erasure, event, pin, utterance, vector

_CHUNK = 400
_SAYING = ("row", "text")
"""Fields of events that hold a text."""


@dataclass(frozen=True, slots=True)
class Said:
    """Utterances that have said one of some texts at any time, or were made from one that has.

    Attributes:
        ids: Their ids, sorted; also of those deleted since.
        texts: Every text that they have had: whoever corrects a text keeps what it is about.
        synthetic: Those of `ids` that were made from the others.
        first: The earliest revision with one of them.
    """

    ids: tuple[str, ...]
    texts: frozenset[str]
    synthetic: frozenset[str]
    first: int

    @property
    def hashes(self) -> frozenset[str]:
        """Hashes of the texts, as other tables name them."""
        return frozenset(map(text_hash, self.texts))


@dataclass(frozen=True, slots=True)
class VersionChange:
    """A data version whose SHA-256 changed."""

    number: int
    before: str
    after: str


def find_said(connection: Connection, project_id: int, texts: Iterable[str]) -> Said:
    """Find the utterances that say one of some texts, or have said it."""
    wanted, found = set(map(text_hash, texts)), set[str]()
    made_from: dict[str, str] = {}
    for key, value in _sayings(connection, project_id):
        text = value if isinstance(value, str) else value["text"]
        if text_hash(text) in wanted:
            found.add(key)
        if not isinstance(value, str) and value.get("synthetic"):
            made_from[key] = value["synthetic"]
    synthetic = {key for key, source in made_from.items() if source in found}
    ids = tuple(sorted(found | synthetic))
    had = {text for _, text in texts_ever(connection, project_id, ids)}
    return Said(ids, frozenset(had), frozenset(synthetic), _first(connection, project_id, ids))


def said_in_others(
    connection: Connection, project_id: int, texts: frozenset[str]
) -> Iterator[tuple[ProjectRecord, int]]:
    """Yield the other projects that have or had texts, with how many; deleted projects too."""
    for other in (*projects.list_all(connection), *projects.list_deleted(connection)):
        if other.id == project_id:
            continue
        found = len(find_said(connection, other.id, texts).ids)
        if found:
            yield other, found


def texts_ever(
    connection: Connection, project_id: int, ids: Sequence[str] | None = None
) -> Iterator[tuple[str, str]]:
    """Yield (utterance, text) of all texts that utterances have or had; without `ids`, of all."""
    for part in [None] if ids is None else _chunks(ids):
        for key, value in _sayings(connection, project_id, part):
            yield key, value if isinstance(value, str) else str(value["text"])


def erase(
    connection: Connection, project_id: int, said: Said, scrubber: Scrubber, actor: str
) -> tuple[VersionChange, ...]:
    """Put tombstones in place of texts, delete their rows, vectors and pins, and keep a record.

    Notes on other texts lose what they quote. Returns the data versions that held the texts.
    """
    tombstones = {key: tombstone() for key in said.ids}
    with _writable_log(connection):
        for part in _chunks(said.ids):
            _rewrite_events(connection, project_id, part, tombstones)
        _rewrite_notes(connection, project_id, scrubber)
    for part in _chunks(said.ids):
        _rewrite_rows(connection, project_id, part, tombstones)
        about = sa.and_(said_text.c.project_id == project_id, said_text.c.utterance_id.in_(part))
        connection.execute(sa.delete(said_text).where(about))
        rows = utterances.by_ids(connection, project_id, part).values()
        gone = [edits.delete_utterance(row) for row in rows]
        if gone:
            events.record(connection, project_id, Action(ERASE, actor), gone)
    for part in _chunks(sorted(said.hashes)):
        connection.execute(sa.delete(vector).where(vector.c.text_hash.in_(part)))
        here = sa.and_(pin.c.project_id == project_id, pin.c.text_hash.in_(part))
        connection.execute(sa.delete(pin).where(here))
    changed = _rehash(connection, project_id, said.first)
    values = {
        "project_id": project_id,
        "actor": actor,
        "at": now(),
        "tombstones": sorted(tombstones.values()),
        "data_versions": [[one.number, one.before, one.after] for one in changed],
    }
    connection.execute(sa.insert(erasure).values(values))
    return changed


@contextmanager
def _writable_log(connection: Connection) -> Iterator[None]:
    """Drop the triggers that make the log append-only, and create them again afterwards.

    SQLite does both within the caller's transaction: nobody else ever sees the log without them.
    """
    query = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'event'"
    triggers = connection.exec_driver_sql(query).all()
    for name, _ in triggers:
        connection.exec_driver_sql(f'DROP TRIGGER "{name}"')
    yield
    for _, sql in triggers:
        connection.exec_driver_sql(sql)


def _sayings(
    connection: Connection, project_id: int, ids: Sequence[str] | None = None
) -> Iterator[tuple[str, Any]]:
    """Yield (utterance, text or row) from every event that holds a text."""
    query = sa.select(event.c.subject_id, event.c.before, event.c.after).where(
        event.c.project_id == project_id,
        event.c.subject == "utterance",
        event.c.field.in_(_SAYING),
    )
    if ids is not None:
        query = query.where(event.c.subject_id.in_(ids))
    for key, before, after in connection.execution_options(yield_per=2_000).execute(query):
        yield from ((key, value) for value in (before, after) if value is not None)


def _first(connection: Connection, project_id: int, ids: Sequence[str]) -> int:
    revisions = [
        connection.execute(
            sa.select(sa.func.min(event.c.revision)).where(
                event.c.project_id == project_id, event.c.subject_id.in_(part)
            )
        ).scalar_one()
        for part in _chunks(ids)
    ]
    return min((one for one in revisions if one is not None), default=0)


def _rewrite_events(
    connection: Connection, project_id: int, ids: Sequence[str], tombstones: Mapping[str, str]
) -> None:
    here = sa.and_(event.c.project_id == project_id, event.c.subject_id.in_(ids))
    query = sa.select(event).where(here, event.c.field.in_((*_SAYING, *_GONE)))
    for row in connection.execute(query).all():
        stone = tombstones[row.subject_id]
        changed = {name: _without(row.field, getattr(row, name), stone) for name in _SIDES}
        this = sa.and_(event.c.project_id == project_id, event.c.revision == row.revision)
        connection.execute(sa.update(event).where(this).values(changed))


_SIDES = ("before", "after")
_GONE = {"slots": [], "beside": "", "flagged": ""}
"""What goes with a text: it points into it, or may repeat it, as a note that flags it does."""


def _without(field: str, value: Any, stone: str) -> Any:
    """Return a value of an event without the text, and without what goes with it."""
    if value is None:
        return None
    if field in _GONE:
        return _GONE[field]
    if field == "text":
        return stone
    gone = {name: nothing for name, nothing in _GONE.items() if name in value}
    return {**value, "text": stone, **gone}


def _rewrite_notes(connection: Connection, project_id: int, scrubber: Scrubber) -> None:
    """Take quotations out of the notes of all texts, in the log and as they stand."""
    notes = sa.and_(event.c.project_id == project_id, event.c.subject == "utterance", _HAS_NOTE)
    for row in connection.execute(sa.select(event).where(notes)).all():
        said = {name: getattr(row, name) for name in _SIDES}
        clean = {name: _unquoted(row.field, value, scrubber) for name, value in said.items()}
        if clean != said:
            this = sa.and_(event.c.project_id == project_id, event.c.revision == row.revision)
            connection.execute(sa.update(event).where(this).values(clean))
    here = utterance.c.project_id == project_id
    query = sa.select(utterance.c.id, utterance.c.flagged).where(here, utterance.c.flagged != "")
    for key, note in connection.execute(query).all():
        if scrubber.of(note) != note:
            change = sa.update(utterance).where(here, utterance.c.id == key)
            connection.execute(change.values(flagged=scrubber.of(note)))


_HAS_NOTE = sa.or_(
    event.c.field == "flagged",
    sa.and_(
        event.c.field == "row",
        sa.func.json_extract(sa.func.coalesce(event.c.after, event.c.before), "$.flagged") != "",
    ),
)


def _unquoted(field: str, value: Any, scrubber: Scrubber) -> Any:
    """Return a value of an event whose note quotes nothing of what is erased."""
    if value is None or field == "flagged":
        return scrubber.of(value)
    return {**value, "flagged": scrubber.of(value["flagged"])}


def _rewrite_rows(
    connection: Connection, project_id: int, ids: Sequence[str], tombstones: Mapping[str, str]
) -> None:
    for key in ids:
        here = sa.and_(utterance.c.project_id == project_id, utterance.c.id == key)
        stone = tombstones[key]
        values = {"text": stone, "text_hash": text_hash(stone), **_GONE}
        connection.execute(sa.update(utterance).where(here).values(values))


def _rehash(connection: Connection, project_id: int, first: int) -> tuple[VersionChange, ...]:
    """Compute the SHA-256 of the data versions that held the texts anew."""
    state, at, changed = State(), 0, list[VersionChange]()
    for version in versions.list_all(connection, project_id):
        replay(versions.changes_up_to(connection, project_id, version.revision, after=at), state)
        at = version.revision
        if at < first:
            continue
        names = {record.id: record.name for record in state.intent_records()}
        after = canonical_hash(state.utterance_records(), names, version.scheme)
        if after != version.sha256:
            this = sa.update(dataset_version).where(dataset_version.c.id == version.id)
            connection.execute(this.values(sha256=after))
            changed.append(VersionChange(version.number, version.sha256, after))
    return tuple(changed)


def _chunks(items: Sequence[str]) -> Iterator[Sequence[str]]:
    return (items[start : start + _CHUNK] for start in range(0, len(items), _CHUNK))
