"""Filters, pages and counts of utterances, computed by the database."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.text import is_storable, match_key, normalise, text_hash
from core.types import Task
from storage.queries.dataset import (
    LABELS_TEXT,
    gathered,
    labelled_with,
    read_gathered,
    read_many_utterances,
    read_utterances,
)
from storage.queries.words import Contains
from storage.records import UtteranceRecord
from storage.tables import intent, utterance

LabelState = Literal["labelled", "unlabelled", "out-of-scope", "skipped", "flagged"]
Order = Literal["newest", "oldest", "changed", "text"]

_FEW = 500
"""A search that finds fewer texts sorts them; it would read most rows in the order of the page."""

_MOST_IDS = 20_000
_BY_IDS = gathered(
    sa.select(utterance).where(
        utterance.c.project_id == sa.bindparam("project"),
        utterance.c.id.in_(sa.bindparam("ids", expanding=True)),
    )
)
"""Most ids in a filter; SQLite takes about 32,000 values in one statement."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Which utterances to find; None or empty fields do not restrict.

    Attributes:
        text: Every word of it must occur, in any order, ignoring case.
        state: `unlabelled` excludes skipped ones; `out-of-scope` is labelled with no intent.
        ids: At most 20,000 ids.
        second_intent_id: An intent that they have besides `intent_id`.
    """

    text: str = ""
    intent_id: str | None = None
    split: str | None = None
    state: LabelState | None = None
    ids: tuple[str, ...] | None = None
    synthetic: bool | None = None
    second_intent_id: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Part of a long list: `offset` rows are skipped, at most `limit` are returned."""

    offset: int
    limit: int


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of a project's utterances by state, split and intent.

    `tests_by_intent` are those of `by_intent` that lie in the test set.
    """

    total: int
    labelled: int
    unlabelled: int
    out_of_scope: int
    skipped: int
    flagged: int
    by_split: dict[str, int]
    by_intent: dict[str, int]
    tests_by_intent: dict[str, int]


def read_page(
    connection: Connection, project_id: int, which: Filter, order: Order, page: Page
) -> tuple[list[UtteranceRecord], int]:
    """Return one page, and the number of utterances that match the filter."""
    few = _ids_of_few(connection, project_id, which) if which.text else None
    if few is None:
        query = sa.select(utterance).where(_condition(project_id, which))
        query = query.order_by(*_order(order))
    else:
        # With a limit of its own, SQLite looks the ids up instead of reading all rows in order.
        by_id = sa.select(utterance).where(_condition(project_id, Filter(ids=few)))
        found = by_id.limit(_FEW).subquery()
        query = sa.select(found).order_by(*_order(order, found))
    rows = read_utterances(connection, query.offset(page.offset).limit(page.limit))
    return rows, count_all(connection, project_id, which) if few is None else len(few)


def _ids_of_few(connection: Connection, project_id: int, which: Filter) -> tuple[str, ...] | None:
    """Return the ids of all utterances that match the filter, None if they are many."""
    query = sa.select(utterance.c.id).where(_condition(project_id, which)).limit(_FEW)
    ids = tuple(connection.execute(query).scalars())
    return ids if len(ids) < _FEW else None


def count_all(connection: Connection, project_id: int, which: Filter) -> int:
    """Count the utterances that match the filter."""
    query = sa.select(sa.func.count()).select_from(utterance)
    return int(connection.execute(query.where(_condition(project_id, which))).scalar_one())


def _order(order: Order, rows: sa.FromClause = utterance) -> tuple[sa.ColumnElement[object], ...]:
    """Return what to order by; each order has an index, so that a late page needs no sort."""
    columns = rows.c
    match order:
        case "newest":  # no two utterances of a project share a revision
            return (columns.added_revision.desc(),)
        case "oldest":
            return (columns.added_revision,)
        case "changed":
            return (columns.touched_revision.desc(),)
        case "text":
            return (columns.text, columns.id)


def find_all(connection: Connection, project_id: int, which: Filter) -> list[UtteranceRecord]:
    """Return every utterance that matches the filter, oldest first."""
    query = sa.select(utterance).where(_condition(project_id, which))
    return read_utterances(connection, query.order_by(*_order("oldest")))


def counts(connection: Connection, project_id: int) -> Counts:
    """Count everything in one pass."""
    shape = (
        utterance.c.labels,
        utterance.c.split,
        utterance.c.skipped,
        (utterance.c.flagged != "").label("is_flagged"),
    )
    query = sa.select(*shape, sa.func.count().label("n")).where(
        utterance.c.project_id == project_id
    )
    split: Counter[str] = Counter()
    by_intent: Counter[str] = Counter()
    tests: Counter[str] = Counter()
    state: Counter[str] = Counter()
    for labels, which, skipped, flagged, n in connection.execute(query.group_by(*shape)):
        split[which] += n
        by_intent.update(dict.fromkeys(labels or (), n))
        if which == "test":
            tests.update(dict.fromkeys(labels or (), n))
        state["total"] += n
        state["skipped"] += n if skipped and labels is None else 0
        state["flagged"] += n if flagged else 0
        kind = "labelled" if labels else "out_of_scope" if labels is not None else "unlabelled"
        state[kind] += n if kind != "unlabelled" or not skipped else 0
    return Counts(
        total=state["total"],
        labelled=state["labelled"],
        unlabelled=state["unlabelled"],
        out_of_scope=state["out_of_scope"],
        skipped=state["skipped"],
        flagged=state["flagged"],
        by_split=dict(split),
        by_intent=dict(by_intent),
        tests_by_intent=dict(tests),
    )


def by_ids(
    connection: Connection, project_id: int, ids: Sequence[str]
) -> dict[str, UtteranceRecord]:
    """Return the utterances of these ids that exist."""
    records: dict[str, UtteranceRecord] = {}
    for start in range(0, len(ids), _MOST_IDS):
        part = list(ids[start : start + _MOST_IDS])
        rows = read_gathered(connection, _BY_IDS, project=project_id, ids=part)
        records |= {record.id: record for record in rows}
    return records


def by_text(connection: Connection, project_id: int, text: str) -> list[UtteranceRecord]:
    """Return the utterances that have just this text, oldest first."""
    if not is_storable(text):
        return []
    here = sa.and_(utterance.c.project_id == project_id, utterance.c.text_hash == text_hash(text))
    query = sa.select(utterance).where(here).order_by(*_order("oldest"))
    return read_utterances(connection, query)


def sample_unlabelled(connection: Connection, project_id: int, limit: int) -> list[UtteranceRecord]:
    """Return unlabelled utterances in a fixed pseudo-random order, by text hash."""
    query = sa.select(utterance).where(_condition(project_id, Filter(state="unlabelled")))
    order = (utterance.c.text_hash, utterance.c.id)
    return read_many_utterances(connection, query.order_by(*order).limit(limit))


def waiting(connection: Connection, project_id: int, ids: Sequence[str]) -> set[str]:
    """Return the ids of those utterances that are still unlabelled and not skipped."""
    unlabelled: set[str] = set()
    for start in range(0, len(ids), _MOST_IDS):
        which = Filter(state="unlabelled", ids=tuple(ids[start : start + _MOST_IDS]))
        query = sa.select(utterance.c.id).where(_condition(project_id, which))
        unlabelled.update(connection.execute(query).scalars())
    return unlabelled


def taught(connection: Connection, project_id: int, task: Task) -> tuple[int, int]:
    """Count the exemplars (labelled utterances of the training split) and their intents.

    Synthetic ones made of a test text teach nothing. In multi-label projects, utterances labelled
    with no intent count too.
    """
    which = _is_taught(project_id, task)
    query = sa.select(utterance.c.labels, sa.func.count()).where(which).group_by(utterance.c.labels)
    groups = [(labels, n) for labels, n in connection.execute(query)]
    return sum(n for _, n in groups), len({key for labels, _ in groups for key in labels})


def taught_texts(connection: Connection, project_id: int, task: Task) -> list[str]:
    """Return the texts of the exemplars that `taught` counts."""
    query = sa.select(utterance.c.text).where(_is_taught(project_id, task))
    return list(connection.execute(query).scalars())


def _is_taught(project_id: int, task: Task) -> sa.ColumnElement[bool]:
    in_training = _condition(project_id, Filter(split="train"))
    is_labelled = _STATES["labelled"] if task == "single-label" else utterance.c.labels.is_not(None)
    tests = sa.select(utterance.c.id).where(_condition(project_id, Filter(split="test")))
    return sa.and_(in_training, is_labelled, utterance.c.synthetic.not_in(tests))


def untaught(connection: Connection, project_id: int) -> dict[str, str]:
    """Return the text of each unlabelled utterance that a training may learn from, by id.

    Those of the test split, skipped, flagged and synthetic ones are not among them, nor is what is
    worded as a text of the test split or as one labelled out of scope.
    """
    which = _condition(project_id, Filter(state="unlabelled", synthetic=False))
    open_ones = sa.and_(which, utterance.c.split != "test", utterance.c.flagged == "")
    outside = _condition(project_id, Filter(state="out-of-scope"))
    tests = _condition(project_id, Filter(split="test"))
    closed = sa.select(utterance.c.text).where(sa.or_(outside, tests))
    keys = {match_key(text) for text in connection.execute(closed).scalars()}
    rows = connection.execute(sa.select(utterance.c.text, utterance.c.id).where(open_ones))
    return {row.id: row.text for row in rows if not keys or match_key(row.text) not in keys}


def intent_ids(connection: Connection, project_id: int) -> dict[str, str]:
    """Map intent names to ids."""
    query = sa.select(intent.c.name, intent.c.id).where(intent.c.project_id == project_id)
    return {row.name: row.id for row in connection.execute(query)}


def _condition(project_id: int, which: Filter) -> sa.ColumnElement[bool]:
    parts: list[sa.ColumnElement[bool]] = [utterance.c.project_id == project_id]
    parts += [Contains(utterance.c.text, word) for word in normalise(which.text).split()]
    if not is_storable(which.text):
        parts.append(sa.false())  # no text has it, and the database would stop reading at a NUL
    wanted = (which.intent_id, which.second_intent_id)
    parts += [labelled_with(key) for key in wanted if key is not None]
    if which.split is not None:
        parts.append(utterance.c.split == which.split)
    if which.state is not None:
        parts.append(_STATES[which.state])
    if which.synthetic is not None:
        source = utterance.c.synthetic
        parts.append(source != "" if which.synthetic else source == "")
    if which.ids is not None:
        parts.append(utterance.c.id.in_(which.ids[:_MOST_IDS]))
    return sa.and_(*parts)


_NO_INTENT = "[]"
_STATES: dict[str, sa.ColumnElement[bool]] = {
    "labelled": sa.and_(utterance.c.labels.is_not(None), LABELS_TEXT != _NO_INTENT),
    "unlabelled": sa.and_(utterance.c.labels.is_(None), utterance.c.skipped == 0),
    "out-of-scope": LABELS_TEXT == _NO_INTENT,
    "skipped": sa.and_(utterance.c.labels.is_(None), utterance.c.skipped == 1),
    "flagged": utterance.c.flagged != "",
}
