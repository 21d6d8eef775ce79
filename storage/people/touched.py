"""What an action of the log was about: a file, the one text with its label, or intents."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from storage.tables import batch, event, intent, utterance

_TEXT = 60
_NAMED = 3
_LABELLING = ("label", "relabel", "accept", "add")


@dataclass(frozen=True, slots=True)
class Touched:
    """What an action was about.

    Attributes:
        about: A file, the one text with its new label, the one label of several texts (“as
            refund”), or intents; empty where there are more.
        n: Number of texts that it changed.
    """

    about: str = ""
    n: int = 0


def touched_by(connection: Connection, batches: Sequence[int]) -> dict[int, Touched]:
    """Say what each of some actions was about; those that changed nothing are absent."""
    query = sa.select(event.c.batch_id, sa.func.count(event.c.subject_id.distinct()).label("n"))
    query = query.where(event.c.batch_id.in_(batches), event.c.subject == "utterance")
    counted = connection.execute(query.group_by(event.c.batch_id))
    number = {row.batch_id: int(row.n) for row in counted}
    told = _of_texts(connection, [key for key, n in number.items() if n == 1])
    alike = _labels(connection, [key for key, n in number.items() if n > 1])
    named = _of_intents(connection, [key for key in batches if key not in number])
    files = _files(connection, batches)
    every = number.keys() | named.keys() | files.keys()
    about = {**named, **told, **alike, **files}
    return {key: Touched(about.get(key, ""), number.get(key, 0)) for key in every}


def _files(connection: Connection, batches: Sequence[int]) -> dict[int, str]:
    """Return the file of each import, and the folder of each sync.

    Other origins are findings or, in earlier releases, pages.
    """
    query = sa.select(batch.c.id, batch.c.origin)
    rows = connection.execute(query.where(batch.c.id.in_(batches)))
    named = ((row.id, row.origin.partition(" ")) for row in rows)
    return {key: about for key, (kind, _, about) in named if kind in ("import", "sync") and about}


def _of_texts(connection: Connection, batches: Sequence[int]) -> dict[int, str]:
    query = sa.select(event, batch.c.verb).join(batch, batch.c.id == event.c.batch_id)
    rows = connection.execute(query.where(event.c.batch_id.in_(batches))).all()
    texts = [row for row in rows if row.subject == "utterance"]
    said = _texts(connection, texts)
    labels = {
        row.batch_id: row.after
        for row in texts
        if row.field == "labels" and row.verb in _LABELLING and row.after is not None
    }
    names = _names(connection, [key for label in labels.values() for key in label], batches)
    told = dict[int, str]()
    for row in texts:
        quoted = f"“{cut(said.get(row.subject_id, ''))}”"
        label = " and ".join(sorted(names.get(key, "?") for key in labels.get(row.batch_id, ())))
        told[row.batch_id] = f"{quoted} as {label}" if label else quoted
    return told


def _labels(connection: Connection, batches: Sequence[int]) -> dict[int, str]:
    """Return the label that an action gave all its texts, if it was one."""
    query = sa.select(event.c.batch_id, event.c.after).join(batch, batch.c.id == event.c.batch_id)
    query = query.where(
        event.c.batch_id.in_(batches), event.c.field == "labels", batch.c.verb.in_(_LABELLING)
    )
    given = defaultdict[int, list[Any]](list)
    for row in connection.execute(query.distinct()):
        given[row.batch_id].append(row.after)
    alone = {key: labels[0] for key, labels in given.items() if len(labels) == 1 and labels[0]}
    names = _names(connection, [one for label in alone.values() for one in label], batches)
    return {
        key: f"as {' and '.join(sorted(names.get(one, '?') for one in label))}"
        for key, label in alone.items()
    }


def _texts(connection: Connection, rows: Sequence[Row[Any]]) -> Mapping[str, str]:
    """Return the text of each changed utterance; that of a deleted one stands in its change."""
    said = {
        row.subject_id: (row.after or row.before or {}).get("text", "")
        for row in rows
        if row.field == "row"
    }
    keys = {(row.project_id, row.subject_id) for row in rows}
    query = sa.select(utterance.c.id, utterance.c.text).where(
        sa.tuple_(utterance.c.project_id, utterance.c.id).in_(keys)
    )
    return {**said, **{row.id: row.text for row in connection.execute(query)}}


def _names(connection: Connection, keys: Sequence[str], batches: Sequence[int]) -> dict[str, str]:
    """Return the names of intents of some actions by id; of one that is gone, its last name.

    Undo of the act that made an intent takes the intent away, and so may a sync.
    """
    query = sa.select(intent.c.id, intent.c.name).where(intent.c.id.in_(set(keys)))
    names = {row.id: row.name for row in connection.execute(query)}
    if gone := set(keys) - names.keys():
        here = sa.select(event.c.project_id).where(event.c.batch_id.in_(batches)).distinct()
        removed = sa.select(event.c.subject_id, event.c.before).where(
            event.c.project_id.in_(here),
            event.c.subject_id.in_(gone),
            event.c.subject == "intent",
            event.c.field == "row",
        )
        rows = connection.execute(removed.order_by(event.c.revision))
        names |= {row.subject_id: row.before["name"] for row in rows if row.before}
    return names


def _of_intents(connection: Connection, batches: Sequence[int]) -> dict[int, str]:
    query = sa.select(event.c.batch_id, event.c.subject_id)
    query = query.where(event.c.batch_id.in_(batches), event.c.subject == "intent")
    rows = connection.execute(query.order_by(event.c.revision)).all()
    names = _names(connection, [row.subject_id for row in rows], batches)
    changed = defaultdict[int, dict[str, str]](dict)
    for row in rows:
        changed[row.batch_id][row.subject_id] = names.get(row.subject_id, "?")
    return {key: _listed(list(of.values())) for key, of in changed.items()}


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def cut(text: str) -> str:
    """Return as much of a text as names it in a list."""
    return text if len(text) <= _TEXT else f"{text[: _TEXT - 2].rstrip()} …"
