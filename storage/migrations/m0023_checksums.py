"""Keep the CRC-32 of each stored embedding, so that a changed one is told from a sound one."""

from zlib import crc32

import sqlalchemy as sa
from alembic.operations import Operations

REVISION = "0023"

_TOGETHER = 4_096
_READ = """
SELECT fingerprint, text_hash, value FROM vector WHERE (fingerprint, text_hash) > (?, ?)
ORDER BY fingerprint, text_hash LIMIT ?
"""
_FILL = "UPDATE vector SET checksum = ? WHERE fingerprint = ? AND text_hash = ?"


def upgrade(operations: Operations) -> None:
    """Add the column and fill it, some thousand rows at a time: all together would fill memory."""
    column = sa.Column("checksum", sa.Integer, nullable=False, server_default="0")
    operations.add_column("vector", column)
    connection = operations.get_bind()
    last = ("", "")
    while rows := connection.exec_driver_sql(_READ, (*last, _TOGETHER)).all():
        sums = [(crc32(row.value), row.fingerprint, row.text_hash) for row in rows]
        connection.exec_driver_sql(_FILL, sums)
        last = (rows[-1].fingerprint, rows[-1].text_hash)
