"""Change one cell of a database as a failing disk does: no index and no trigger learns of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storage.database import _sqlite_module
from storage.soundness.checksums import add_checksum

_INSERT = "INSERT INTO sqlite_master (rowid, type, name, tbl_name, rootpage, sql) VALUES"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; `place` is its place in the primary key, from 1, or 0."""

    table: str
    name: str
    kind: str
    place: int


def opened_raw(file: Path) -> Any:
    """Open a database's file without the studio's settings: no reference is checked."""
    raw = _sqlite_module().connect(str(file), isolation_level=None)
    add_checksum(raw)
    return raw


def tables_of(raw: Any) -> list[str]:
    """Return the names of all tables, sorted."""
    names = raw.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    return [str(name) for (name,) in names.fetchall()]


def columns_of(raw: Any, table: str) -> list[Column]:
    """Return the columns of a table, in order."""
    rows = raw.execute(f'PRAGMA table_info("{table}")').fetchall()
    return [Column(table, row[1], row[2], row[5]) for row in rows]


def content_of(file: Path) -> list[tuple[str, list[Any]]]:
    """Return all rows of all tables, read from the tables themselves; raises what SQLite raises."""
    raw = opened_raw(file)
    try:
        tables = tables_of(raw)
        raw.text_factory = bytes
        rows = [raw.execute(f'SELECT * FROM "{table}" NOT INDEXED').fetchall() for table in tables]
        return list(zip(tables, rows, strict=True))
    finally:
        raw.close()


def change_cell(file: Path, column: Column, row: int) -> bool:
    """Change a column's value in the n-th row of its table; return whether it has such a row."""
    with _knowing_columns_alone(file, column.table) as raw:
        keys = [c.name for c in columns_of(raw, column.table) if c.place] or ["rowid"]
        names = ", ".join(f'"{name}"' if name != "rowid" else name for name in keys)
        rows = raw.execute(f'SELECT "{column.name}", {names} FROM "{column.table}"').fetchall()
        if row >= len(rows):
            return False
        value, *own = rows[row]
        where = " AND ".join(f"{name} IS ?" for name in names.split(", "))
        change = f'UPDATE "{column.table}" SET "{column.name}" = ? WHERE {where}'
        raw.execute(change, (_other(value, column.kind), *own))
    return True


def _other(value: Any, kind: str) -> Any:
    """Return another value of a column's kind."""
    if value is None:
        return "?" if kind == "TEXT" else 1
    if isinstance(value, bytes):
        return bytes([value[0] ^ 1]) + value[1:]
    if isinstance(value, str):
        return value[:-1] + chr(ord(value[-1]) ^ 1) if value else "?"
    return value + 1_001  # the key of no other row


@contextmanager
def _knowing_columns_alone(file: Path, table: str) -> Iterator[Any]:
    """Give a connection that knows nothing of a table but its columns.

    The rows of the schema come back as they were, with the pages that they point at.
    """
    raw = opened_raw(file)
    schema = raw.execute("SELECT rowid, * FROM sqlite_master").fetchall()
    [described] = [row[5] for row in schema if row[1:3] == ("table", table)]
    bare = _bare(columns_of(raw, table), keyless="WITHOUT ROWID" in described)
    raw.execute("PRAGMA writable_schema=ON")
    raw.execute("DELETE FROM sqlite_master WHERE type <> 'table'")
    raw.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (bare, table))
    raw.close()
    raw = opened_raw(file)
    try:
        yield raw
    finally:
        raw.close()
        raw = opened_raw(file)
        raw.execute("PRAGMA writable_schema=ON")
        raw.execute("DELETE FROM sqlite_master")
        raw.executemany(f"{_INSERT} (?, ?, ?, ?, ?, ?)", schema)
        raw.close()


def _bare(columns: list[Column], *, keyless: bool) -> str:
    keys = [c for c in sorted(columns, key=lambda c: c.place) if c.place]
    has_number = not keyless and len(keys) == 1 and keys[0].kind == "INTEGER"
    words = [
        f'"{c.name}" {c.kind}' + (" PRIMARY KEY" if has_number and c.place else "") for c in columns
    ]
    if keyless:
        words.append(f"PRIMARY KEY ({', '.join(key.name for key in keys)})")
    ending = " WITHOUT ROWID" if keyless else ""
    return f'CREATE TABLE "{columns[0].table}" ({", ".join(words)}){ending}'
