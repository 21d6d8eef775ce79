"""A cache of embeddings by encoder fingerprint and text; never the source of truth."""

from collections.abc import Mapping, Sequence

import numpy as np
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.types import FloatArray
from storage.tables import vector

_CHUNK = 400


def get_many(
    connection: Connection, fingerprint: str, hashes: Sequence[str], dim: int
) -> dict[str, FloatArray]:
    """Return the known embeddings among the texts asked for, each (dim,) float32."""
    found: dict[str, FloatArray] = {}
    for start in range(0, len(hashes), _CHUNK):
        query = sa.select(vector.c.text_hash, vector.c.value).where(
            vector.c.fingerprint == fingerprint,
            vector.c.text_hash.in_(hashes[start : start + _CHUNK]),
        )
        for key, value in connection.execute(query):
            row = np.frombuffer(value, dtype="<f4")
            if len(row) == dim:
                found[key] = row
    return found


def put_many(connection: Connection, fingerprint: str, rows: Mapping[str, FloatArray]) -> None:
    """Keep embeddings by text hash; those already known are replaced."""
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
