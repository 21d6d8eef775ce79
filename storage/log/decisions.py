"""What one person decided, read from the log: the last decisions, and the times of many."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from storage.log import settled_findings
from storage.log.label_origins import GROUP
from storage.tables import batch, event

SKIP = "skip"
VERBS = ("label", "out-of-scope", SKIP)
"""Verbs of actions on the card that decide about a text."""

_GIVING = ("label", "out-of-scope", "relabel", "add")
"""Verbs of actions on any page by which a person gives labels; a merge of intents gives none."""

_ONE = sa.func.count(sa.distinct(event.c.subject_id))


@dataclass(frozen=True, slots=True)
class LoggedDecision:
    """An action of a page that decided about one text, and stands.

    Attributes:
        key: Undoes it.
        labels: Intent ids after it; None after a skip.
        before: Intent ids before it; None if the text had no label.
    """

    key: str
    verb: str
    id: str
    labels: tuple[str, ...] | None
    before: tuple[str, ...] | None
    at: str


def last_decisions(
    connection: Connection, project_id: int, actor: str, limit: int
) -> list[LoggedDecision]:
    """Return a person's newest decisions about single texts, newest first."""
    batches = connection.execute(
        _standing(project_id, actor).order_by(batch.c.id.desc()).limit(4 * limit)
    ).all()
    query = sa.select(event).where(event.c.batch_id.in_([row.id for row in batches]))
    changes: dict[int, list[Any]] = {}
    for row in connection.execute(query.order_by(event.c.revision)):
        if row.subject == "utterance":
            changes.setdefault(row.batch_id, []).append(row)
    found = [_decision(row, changes.get(row.id, [])) for row in batches]
    return [decision for decision in found if decision is not None][:limit]


def times_of_labels(connection: Connection, project_id: int, actor: str, since: str) -> list[str]:
    """Return when a person labelled single texts, oldest first; `since` is a UTC time."""
    query = _standing(project_id, actor).where(batch.c.at >= since, batch.c.verb != SKIP)
    return [row.at for row in connection.execute(query.order_by(batch.c.id))]


def count_labelled(connection: Connection, project_id: int, actor: str, since: str) -> int:
    """Count the texts that a person labelled on any page, out of scope too; `since` in UTC.

    A text counts once, however often its label was changed, and not at all after Undo.
    """
    query = sa.select(_ONE).select_from(event.join(batch, event.c.batch_id == batch.c.id))
    query = query.where(
        *_made_by(project_id, actor, _GIVING),
        batch.c.at >= since,
        sa.or_(
            sa.and_(event.c.field == "labels", event.c.after.is_not(None)),
            sa.and_(batch.c.verb == "add", event.c.field == "row"),
        ),
        event.c.subject == "utterance",
    )
    return connection.execute(query).scalar_one()


def _standing(project_id: int, actor: str) -> sa.Select[Any]:
    """Select the actions about single texts that were not undone."""
    texts = sa.select(_ONE).where(event.c.batch_id == batch.c.id, event.c.subject == "utterance")
    return sa.select(batch.c.id, batch.c.key, batch.c.verb, batch.c.at).where(
        *_made_by(project_id, actor), texts.scalar_subquery() == 1
    )


def _made_by(
    project_id: int, actor: str, verbs: Sequence[str] = VERBS
) -> tuple[sa.ColumnElement[bool], ...]:
    """Return what holds for a person's actions of these verbs on pages that were not undone."""
    return (
        batch.c.project_id == project_id,
        batch.c.actor == actor,
        batch.c.origin.in_(("page", GROUP)) | batch.c.origin.startswith(settled_findings.ORIGIN),
        batch.c.verb.in_(verbs),
        batch.c.undone_by.is_(None),
    )


def _decision(row: Any, changes: Sequence[Any]) -> LoggedDecision | None:
    labels = next((c for c in changes if c.field == "labels"), None)
    if labels is None and row.verb != "skip":
        return None
    after, before = (None, None) if labels is None else (labels.after, labels.before)
    return LoggedDecision(
        row.key,
        row.verb,
        changes[0].subject_id,
        None if after is None else tuple(after),
        None if before is None else tuple(before),
        row.at,
    )
