"""A project's utterances as columns, for maps of tens of thousands of points."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.types import Split
from storage.tables import batch, event, utterance

_CHUNK = 400


@dataclass(frozen=True, slots=True, eq=False)
class PointColumns:
    """Utterances sorted by id, one equally long tuple for each attribute.

    `hashes` are keys of the vector cache. A label of None is unlabelled, () is "no intent"; equal
    labels are one object.
    """

    ids: tuple[str, ...]
    hashes: tuple[str, ...]
    splits: tuple[Split, ...]
    labels: tuple[tuple[str, ...] | None, ...]
    skipped: tuple[bool, ...]
    flagged: tuple[bool, ...]


def columns(connection: Connection, project_id: int) -> PointColumns:
    """Read a project's utterances without their texts."""
    # Read as text, because 50,000 utterances have only a few hundred distinct labels to parse.
    labels = sa.type_coerce(utterance.c.labels, sa.Text)
    query = sa.select(
        utterance.c.id,
        utterance.c.text_hash,
        utterance.c.split,
        labels,
        utterance.c.skipped,
        utterance.c.flagged,
    ).where(utterance.c.project_id == project_id)
    rows = connection.execute(query.order_by(utterance.c.id)).all()
    if not rows:
        return PointColumns((), (), (), (), (), ())
    ids, hashes, splits, raw, skipped, flagged = zip(*rows, strict=True)
    parsed = {text: None if text is None else tuple(json.loads(text)) for text in set(raw)}
    return PointColumns(
        ids=ids,
        hashes=hashes,
        splits=splits,
        labels=tuple([parsed[text] for text in raw]),
        skipped=tuple([bool(value) for value in skipped]),
        flagged=tuple([bool(value) for value in flagged]),
    )


def texts(connection: Connection, project_id: int, ids: Sequence[str]) -> dict[str, str]:
    """Return the texts of some utterances by id; unknown ids are left out."""
    by_id: dict[str, str] = {}
    for start in range(0, len(ids), _CHUNK):
        query = sa.select(utterance.c.id, utterance.c.text).where(
            utterance.c.project_id == project_id,
            utterance.c.id.in_(ids[start : start + _CHUNK]),
        )
        by_id |= dict(connection.execute(query).all())
    return by_id


def arrivals(connection: Connection, project_id: int) -> dict[str, str]:
    """Return when each utterance was added (or restored, if deleted since), by id, as ISO 8601."""
    query = (
        sa.select(event.c.subject_id, batch.c.at)
        .join(batch, batch.c.id == event.c.batch_id)
        .where(
            event.c.project_id == project_id,
            event.c.subject == "utterance",
            event.c.field == "row",
            event.c.after.is_not(None),
        )
        .order_by(event.c.revision)
    )
    return dict(connection.execute(query).all())
