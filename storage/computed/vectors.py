"""A cache of embeddings by encoder fingerprint and text hash; never the source of truth."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.types import FloatArray
from storage.tables import utterance, vector

_CHUNK = 400
_ROWS = 4_096


def get_many(
    connection: Connection, fingerprint: str, hashes: Sequence[str], dim: int
) -> dict[str, FloatArray]:
    """Return the cached embeddings of these text hashes, each (dim,) float32."""
    by_hash: dict[str, FloatArray] = {}
    for start in range(0, len(hashes), _CHUNK):
        query = sa.select(vector.c.text_hash, vector.c.value).where(
            vector.c.fingerprint == fingerprint,
            vector.c.text_hash.in_(hashes[start : start + _CHUNK]),
        )
        for key, value in connection.execute(query):
            row = np.frombuffer(value, dtype="<f4")
            if len(row) == dim:
                by_hash[key] = row
    return by_hash


def of_project(
    connection: Connection, project_id: int, fingerprint: str, dim: int
) -> tuple[list[str], FloatArray]:
    """Return utterance ids with cached embeddings, rising, and the embeddings, (n, dim) float32."""
    here = sa.and_(
        utterance.c.text_hash == vector.c.text_hash,
        utterance.c.project_id == project_id,
        vector.c.fingerprint == fingerprint,
    )
    query = sa.select(utterance.c.id, vector.c.value).select_from(sa.join(utterance, vector, here))
    # The cache is stored in this order; any other takes twice the time.
    query = query.order_by(utterance.c.text_hash)
    ids: list[str] = []
    parts: list[FloatArray] = [np.zeros((0, dim), dtype=np.float32)]
    rows = connection.execution_options(yield_per=_ROWS).execute(query)
    for part in rows.partitions():
        whole = [(key, value) for key, value in part if len(value) == dim * 4]
        ids += [key for key, _ in whole]
        joined = b"".join([value for _, value in whole])
        parts.append(np.frombuffer(joined, dtype="<f4").reshape(-1, dim))
    rising = sorted(range(len(ids)), key=ids.__getitem__)
    return [ids[row] for row in rising], np.concatenate(parts)[rising]


def remove_unneeded(connection: Connection, fingerprints: Collection[str]) -> int:
    """Delete embeddings by other encoders, and those of texts that no project has; return how many.

    Each can be computed again. Without fingerprints, those by every encoder stay.
    """
    is_needed: sa.ColumnElement[bool] = vector.c.text_hash.in_(sa.select(utterance.c.text_hash))
    if fingerprints:
        is_needed = sa.and_(vector.c.fingerprint.in_(fingerprints), is_needed)
    return connection.execute(sa.delete(vector).where(sa.not_(is_needed))).rowcount


def put_many(connection: Connection, fingerprint: str, rows: Mapping[str, FloatArray]) -> None:
    """Store embeddings by text hash; cached ones are replaced."""
    values = [
        {"fingerprint": fingerprint, "text_hash": key, "value": row.astype("<f4").tobytes()}
        for key, row in rows.items()
    ]
    for start in range(0, len(values), _CHUNK):
        part = values[start : start + _CHUNK]
        keys = [item["text_hash"] for item in part]
        connection.execute(
            sa.delete(vector).where(
                vector.c.fingerprint == fingerprint, vector.c.text_hash.in_(keys)
            )
        )
        connection.execute(sa.insert(vector), part)
