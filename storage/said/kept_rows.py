"""All rows of the traffic that are kept of some days, with their texts.

A period begins with the day `since` and ends before the day `until`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from storage.queries.dataset import with_utterances
from storage.said.tables import said_text, sampled_day
from storage.said.traffic import DAY
from storage.tables import utterance

_READ_AT_ONCE = 2_000


@dataclass(frozen=True, slots=True)
class SourceRows:
    """How many rows of a source there are, with the first and the last of their days."""

    source: str
    n: int
    first: str
    last: str


def stream_rows(
    connection: Connection, project_id: int, since: str, until: str
) -> Iterator[tuple[str, str, str]]:
    """Stream time, source and text of each row of a period, the oldest first."""
    query = sa.select(said_text.c.at, said_text.c.source, utterance.c.text)
    query = query.select_from(with_utterances(said_text)).where(*_within(project_id, since, until))
    query = query.order_by(said_text.c.at, said_text.c.key)
    for row in connection.execution_options(yield_per=_READ_AT_ONCE).execute(query):
        yield row.at, row.source, row.text


def count_by_source(
    connection: Connection, project_id: int, since: str, until: str
) -> list[SourceRows]:
    """Count the rows of a period whose text is there by source, the largest source first."""
    at, n = said_text.c.at, sa.func.count().label("n")
    query = sa.select(said_text.c.source, n, sa.func.min(at), sa.func.max(at))
    query = query.select_from(with_utterances(said_text)).where(*_within(project_id, since, until))
    query = query.group_by(said_text.c.source).order_by(n.desc(), said_text.c.source)
    return [
        SourceRows(source, count, first[:DAY], last[:DAY])
        for source, count, first, last in connection.execute(query)
    ]


def count_rows(connection: Connection, project_id: int, since: str, until: str) -> int:
    """Count all rows of a period, those whose text was deleted, too."""
    query = sa.select(sa.func.count()).select_from(said_text)
    query = query.where(*_within(project_id, since, until))
    return int(connection.execute(query).scalar_one())


def count_sampled_days(connection: Connection, project_id: int, since: str, until: str) -> int:
    """Count the days of a period of which more rows came than are kept."""
    query = sa.select(sa.func.count(sampled_day.c.day.distinct())).where(
        sampled_day.c.project_id == project_id,
        sampled_day.c.day >= since,
        sampled_day.c.day < until,
    )
    return int(connection.execute(query).scalar_one())


def _within(project_id: int, since: str, until: str) -> tuple[sa.ColumnElement[bool], ...]:
    at = said_text.c.at
    return said_text.c.project_id == project_id, at >= since, at < until
