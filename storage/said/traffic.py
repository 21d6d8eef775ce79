"""Traffic: which utterances were said when and where, in a fair sample of each day and source.

Each row has a random rank, made from its key. Of a day and source, the rows of the lowest ranks are
kept (bottom-k sampling): all have the same chance, whatever the order in which they arrive, and a
row that comes twice is kept or left out both times. Rows of several days and sources with a rank
below the lowest that was left out of any of these are a fair sample of all together.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from storage.queries.dataset import with_utterances
from storage.said.tables import said_text, sampled_day
from storage.tables import utterance

_CHUNK = 5_000
_RANKS = 1 << 62
DAY = 10
"""Signs of a time that tell its day: 2026-11-26."""


@dataclass(frozen=True, slots=True)
class SaidText:
    """One time that a text was said.

    Attributes:
        key: SHA-256 of what its sender calls it, in hexadecimal; unique in the project.
        at: ISO 8601, UTC, to the second.
        source: Channel, campaign, language or the like.
    """

    key: str
    utterance_id: str
    at: str
    source: str

    @property
    def place(self) -> tuple[str, str]:
        """The day and the source."""
        return self.at[:DAY], self.source


def rank_of(key: str) -> int:
    """Return the random rank that a key has, from 0 to 2^62 - 1."""
    return int.from_bytes(hashlib.sha256(f"rank {key}".encode()).digest()[:8], "big") % _RANKS


def known(connection: Connection, project_id: int, keys: Sequence[str]) -> set[str]:
    """Return those of some keys under which there is a row."""
    found = set[str]()
    for start in range(0, len(keys), _CHUNK):
        here = said_text.c.key.in_(keys[start : start + _CHUNK])
        query = sa.select(said_text.c.key).where(said_text.c.project_id == project_id, here)
        found.update(connection.execute(query).scalars())
    return found


def make_room(
    connection: Connection, project_id: int, new: Mapping[str, tuple[str, str]], limit: int
) -> set[str]:
    """Return which of new rows the sample keeps, and delete old rows that make room for them.

    `new` has the day and the source of each, by key; `limit` is for each day and source.
    """
    sampled = _sampled(connection, project_id, new, limit)
    for start in range(0, len(sampled.gone), _CHUNK):
        here = said_text.c.key.in_(sampled.gone[start : start + _CHUNK])
        of_project = said_text.c.project_id == project_id
        connection.execute(sa.delete(said_text).where(of_project, here))
    _note_left_out(connection, project_id, sampled.left_out)
    return sampled.kept


def would_keep(
    connection: Connection, project_id: int, new: Mapping[str, tuple[str, str]], limit: int
) -> set[str]:
    """Return which of new rows the sample keeps in the end; nothing changes.

    Of days and sources that are full with them, the ranks are compared.
    """
    if not new:  # a period without an end would be that of all rows
        return set()
    days = {day for day, _ in new.values()}
    day, source = sa.func.substr(said_text.c.at, 1, DAY), said_text.c.source
    query = sa.select(day, source, sa.func.count()).where(
        said_text.c.project_id == project_id,
        said_text.c.at >= min(days),
        said_text.c.at < f"{max(days)}Z",
    )
    counts = Counter[tuple[str, str]](new.values())
    for on, where, n in connection.execute(query.group_by(day, source)):
        counts[on, where] += n
    full = {place for place, n in counts.items() if n > limit}
    full |= _lowest_left_out(connection, project_id, new.values()).keys()
    unsure = {key: place for key, place in new.items() if place in full}
    return (new.keys() - unsure.keys()) | _sampled(connection, project_id, unsure, limit).kept


@dataclass(frozen=True, slots=True)
class _Sampled:
    """Keys of new rows that are kept and of old ones that are not, and lowest ranks left out."""

    kept: set[str]
    gone: list[str]
    left_out: dict[tuple[str, str], int]


def _sampled(
    connection: Connection, project_id: int, new: Mapping[str, tuple[str, str]], limit: int
) -> _Sampled:
    below = _lowest_left_out(connection, project_id, new.values())
    ranks = defaultdict[tuple[str, str], list[tuple[int, str]]](list)
    for key, place in new.items():
        rank = rank_of(key)
        if rank < below.get(place, _RANKS):
            ranks[place].append((rank, key))
    found = _Sampled(set(), [], {})
    for place, coming in ranks.items():
        every = sorted(coming + _ranks_of(connection, project_id, place))
        found.kept.update(key for _, key in every[:limit] if key in new)
        found.gone.extend(key for _, key in every[limit:] if key not in new)
        if len(every) > limit:
            found.left_out[place] = every[limit][0]
    return found


def add(
    connection: Connection, project_id: int, rows: Sequence[SaidText], log_id: int | None = None
) -> None:
    """Add rows for which `make_room` has made room; `log_id` is the log that they came with."""
    own = {"project_id": project_id, "log_id": log_id}
    values = [{**own, **asdict(row), "rank": rank_of(row.key)} for row in rows]
    if values:
        connection.execute(sa.insert(said_text), values)


def last_day(connection: Connection, project_id: int) -> str | None:
    """Return the day of the newest row whose text is there, or None."""
    query = sa.select(sa.func.max(said_text.c.at)).select_from(with_utterances(said_text))
    newest = connection.execute(query.where(said_text.c.project_id == project_id)).scalar()
    return None if newest is None else str(newest)[:DAY]


def sample(
    connection: Connection, project_id: int, since: str, until: str, most: int
) -> list[SaidText]:
    """Return a fair sample of at most `most` rows said from a day on, before another day.

    Of a busy day and source only a sample is kept, so the others are thinned alike.
    """
    fair = _Fair(project_id, since, until, _below(connection, project_id, since, until))
    query = sa.select(said_text).select_from(with_utterances(said_text)).where(*fair.conditions)
    rows = connection.execute(query.order_by(said_text.c.rank, said_text.c.key).limit(most))
    return [SaidText(row.key, row.utterance_id, row.at, row.source) for row in rows]


def count_sent(connection: Connection, project_id: int, since: str, until: str) -> int:
    """Return how many rows came of which `sample` draws.

    If a day and source was full, the number is an estimate: ranks are spread evenly, so the rows
    below a rank tell how many there are in all. They are no fewer than those that are kept.
    """
    below = _below(connection, project_id, since, until)
    kept = _count(connection, _Fair(project_id, since, until, _RANKS))
    if below == _RANKS:
        return kept
    found = _count(connection, _Fair(project_id, since, until, below))
    return max(kept, round(found * _RANKS / max(1, below)))


@dataclass(frozen=True, slots=True)
class _Fair:
    """The rows of a period with a rank `below` that none of its days and sources left out."""

    project_id: int
    since: str
    until: str
    below: int

    @property
    def conditions(self) -> tuple[sa.ColumnElement[bool], ...]:
        """What such a row fulfils."""
        return (
            said_text.c.project_id == self.project_id,
            said_text.c.at >= self.since,
            said_text.c.at < self.until,
            said_text.c.rank < self.below,
        )


def _count(connection: Connection, fair: _Fair) -> int:
    query = (
        sa.select(sa.func.count()).select_from(with_utterances(said_text)).where(*fair.conditions)
    )
    return int(connection.execute(query).scalar_one())


def _below(connection: Connection, project_id: int, since: str, until: str) -> int:
    """Return the lowest rank that the sample of a day and source left out in a period."""
    days = sa.and_(sampled_day.c.day >= since, sampled_day.c.day < until)
    lowest = sa.select(sa.func.min(sampled_day.c.below)).where(
        sampled_day.c.project_id == project_id, days
    )
    below = connection.execute(lowest).scalar()
    return _RANKS if below is None else int(below)


def times_said(connection: Connection, project_id: int, days: int) -> dict[str, int]:
    """Return how often each utterance was said in the last days with traffic, in a fair sample."""
    last = last_day(connection, project_id)
    if last is None:
        return {}
    newest = date.fromisoformat(last)
    since, until = str(newest - timedelta(days - 1)), str(newest + timedelta(1))
    fair = _Fair(project_id, since, until, _below(connection, project_id, since, until))
    query = sa.select(said_text.c.utterance_id, sa.func.count().label("n"))
    rows = connection.execute(query.where(*fair.conditions).group_by(said_text.c.utterance_id))
    return {row.utterance_id: row.n for row in rows}


def holders(connection: Connection, project_id: int, hashes: Sequence[str]) -> dict[str, str]:
    """Return the oldest utterance of each text, by the text's hash."""
    found = defaultdict[str, list[tuple[int, str]]](list)
    columns = (utterance.c.text_hash, utterance.c.added_revision, utterance.c.id)
    for start in range(0, len(hashes), _CHUNK):
        here = utterance.c.text_hash.in_(hashes[start : start + _CHUNK])
        query = sa.select(*columns).where(utterance.c.project_id == project_id, here)
        for row in connection.execute(query):
            found[row.text_hash].append((row.added_revision, row.id))
    return {key: min(rows)[1] for key, rows in found.items()}


def _lowest_left_out(
    connection: Connection, project_id: int, places: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], int]:
    """Return the lowest rank that the sample of each day and source left out, where any."""
    wanted = set(places)
    query = sa.select(sampled_day).where(
        sampled_day.c.project_id == project_id,
        sampled_day.c.day.in_({day for day, _ in wanted}),
    )
    rows = {(row.day, row.source): row.below for row in connection.execute(query)}
    return {place: below for place, below in rows.items() if place in wanted}


def _note_left_out(
    connection: Connection, project_id: int, ranks: Mapping[tuple[str, str], int]
) -> None:
    """Note the lowest rank that a day and source left out; a lower one noted before stays."""
    before = _lowest_left_out(connection, project_id, ranks)
    rows = [
        {"project_id": project_id, "day": day, "source": source, "below": below}
        for (day, source), below in ranks.items()
        if below < before.get((day, source), _RANKS)
    ]
    if rows:
        connection.execute(sa.insert(sampled_day).prefix_with("OR REPLACE"), rows)


def forget_empty_days(connection: Connection, project_id: int) -> None:
    """Forget what the samples of days and sources left out of which no row is left."""
    kept = sa.select(said_text.c.key).where(
        said_text.c.project_id == sampled_day.c.project_id,
        said_text.c.at >= sampled_day.c.day,
        said_text.c.at < sampled_day.c.day + "Z",
        said_text.c.source == sampled_day.c.source,
    )
    empty = ~kept.correlate(sampled_day).exists()
    here = sampled_day.c.project_id == project_id
    connection.execute(sa.delete(sampled_day).where(here, empty))


def _ranks_of(
    connection: Connection, project_id: int, place: tuple[str, str]
) -> list[tuple[int, str]]:
    """Return rank and key of the rows of a day and source."""
    day, source = place
    query = sa.select(said_text.c.rank, said_text.c.key).where(
        said_text.c.project_id == project_id,
        said_text.c.at >= day,
        said_text.c.at < f"{day}Z",  # a time of the day has a T behind it, which sorts before
        said_text.c.source == source,
    )
    return [(row.rank, row.key) for row in connection.execute(query)]
