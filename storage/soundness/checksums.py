"""Checksums in the database: SQLite's function `crc32`, and the sum of the tables' descriptions.

Each table but `vector` has an index `ix_TABLE_sum` over the CRC-32 of each row (migration 0024).
SQLite keeps it with every write, and `PRAGMA integrity_check` compares each row with its entry.
"""

import json
from typing import Any
from zlib import crc32

_SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name, type"


def add_checksum(raw: Any) -> None:
    """Give a driver's connection the function `crc32(BLOB)`, without which no row is written."""
    raw.execute("PRAGMA trusted_schema=ON")  # some builds else refuse the function in an index
    raw.create_function("crc32", 1, crc32, deterministic=True)


def note_schema(raw: Any) -> None:
    """Keep the sum of the tables' descriptions in the file's header, for `schema_changed`."""
    raw.execute(f"PRAGMA user_version={_schema_sum(raw)}")


def schema_changed(raw: Any) -> bool:
    """Whether the tables' descriptions differ from those noted; False where none were noted."""
    noted = raw.execute("PRAGMA user_version").fetchone()[0]
    return noted not in (0, _schema_sum(raw))


def _schema_sum(raw: Any) -> int:
    rows = [list(row) for row in raw.execute(_SCHEMA)]
    return crc32(json.dumps(rows).encode()) & 0x7FFF_FFFF or 1
