"""A cache of embeddings by encoder fingerprint and text hash; never the source of truth.

Each is stored with its CRC-32. One that does not match is not returned, so it is computed anew.
"""

import logging
from collections.abc import Collection, Mapping, Sequence
from zlib import crc32

import numpy as np
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.types import FloatArray
from storage.tables import utterance, vector

_LOG = logging.getLogger("storage")
_CHUNK = 400
_ROWS = 4_096
_CHANGED = "%d stored embeddings are not as they were written; they are computed anew"


def get_many(
    connection: Connection, fingerprint: str, hashes: Sequence[str], dim: int
) -> dict[str, FloatArray]:
    """Return the cached embeddings of these text hashes, each (dim,) float32."""
    by_hash: dict[str, FloatArray] = {}
    changed = 0
    for start in range(0, len(hashes), _CHUNK):
        query = sa.select(vector.c.text_hash, vector.c.value, vector.c.checksum).where(
            vector.c.fingerprint == fingerprint,
            vector.c.text_hash.in_(hashes[start : start + _CHUNK]),
        )
        for key, value, checksum in connection.execute(query):
            if crc32(value) != checksum:
                changed += 1
            elif len(value) == dim * 4:
                by_hash[key] = np.frombuffer(value, dtype="<f4")
    if changed:
        _LOG.warning(_CHANGED, changed)
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
    columns = (utterance.c.id, vector.c.value, vector.c.checksum)
    query = sa.select(*columns).select_from(sa.join(utterance, vector, here))
    # The cache is stored in this order; any other takes twice the time.
    query = query.order_by(utterance.c.text_hash)
    ids: list[str] = []
    parts: list[bytes] = []
    changed = 0
    rows = connection.execution_options(yield_per=_ROWS).execute(query)
    for part in rows.partitions():
        sound = [(key, value) for key, value, checksum in part if crc32(value) == checksum]
        changed += len(part) - len(sound)
        whole = [(key, value) for key, value in sound if len(value) == dim * 4]
        ids += [key for key, _ in whole]
        parts.append(b"".join([value for _, value in whole]))
    if changed:
        _LOG.warning(_CHANGED, changed)
    rising = sorted(range(len(ids)), key=ids.__getitem__)
    return [ids[row] for row in rising], _in_order(parts, rising, dim)


def _in_order(parts: Sequence[bytes], rising: Sequence[int], dim: int) -> FloatArray:
    """Return embeddings of consecutive parts in another order, copying each once."""
    places = np.empty(len(rising), dtype=np.int64)
    places[rising] = np.arange(len(rising))
    embeddings = np.empty((len(rising), dim), dtype=np.float32)
    at = 0
    for part in parts:
        read = np.frombuffer(part, dtype="<f4").reshape(-1, dim)
        embeddings[places[at : at + len(read)]] = read
        at += len(read)
    return embeddings


def remove_changed(connection: Connection, *, only_count: bool = False) -> int:
    """Delete the embeddings that do not match their CRC-32, or count them; return how many.

    Each is computed anew from its text when it is needed next.
    """
    # The keys are not read: damaged ones are no text.
    is_changed = sa.func.crc32(sa.cast(vector.c.value, sa.LargeBinary)) != vector.c.checksum
    if only_count:
        query = sa.select(sa.func.count()).select_from(vector).where(is_changed)
        return int(connection.execute(query).scalar_one())
    return connection.execute(sa.delete(vector).where(is_changed)).rowcount


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
    stored = {key: row.astype("<f4").tobytes() for key, row in rows.items()}
    values = [
        {"fingerprint": fingerprint, "text_hash": key, "value": value, "checksum": crc32(value)}
        for key, value in stored.items()
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
