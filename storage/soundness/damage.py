"""All damage of a database's file that SQLite and the checksums find, in words."""

import re
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from core.errors import DatabaseDamaged
from storage.faults import in_words
from storage.soundness.checksums import add_checksum, schema_changed

_MOST_LINES = 100
_ROW = re.compile(r"row (\d+) missing from index ix_(\w+)_sum")
_ROWS = re.compile(r"wrong # of entries in index ix_(\w+)_sum")
_NO_SUM = "cannot hold BLOB values"
"""Said of a checksum of a text that is bytes by now."""


@dataclass(frozen=True, slots=True)
class OlderDatabase:
    """What a database says that waits for its upgrade: its schema, and its files by SHA-256."""

    schema: str
    blobs: tuple[str, ...]


def damage_of(database: Path, module: Any = sqlite3) -> tuple[str, ...]:
    """List all damage of a database's file, reading only; () for a sound one.

    At most some 100 lines. `module` is a driver as `sqlite3`.

    Raises:
        StudioError: It could not be read for another reason, such as a lack of rights.
    """
    return _looked_at(database, module, _look_at_all) if database.exists() else ()


def is_damaged(database: Path, module: Any = sqlite3) -> bool:
    """Whether SQLite's quick check finds damage; it reads each page once, and compares no index.

    Raises:
        StudioError: It could not be read for another reason.
    """
    return bool(_looked_at(database, module, lambda raw: _quick(raw, "1")))


def damaged_tables(database: Path, module: Any = sqlite3) -> frozenset[str]:
    """Name the tables of which a page is damaged, in the table itself or in an index of it.

    Raises:
        StudioError: It could not be read for another reason.
    """
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
    names: list[str] = []

    def list_names(raw: Any) -> Iterator[str]:
        names.extend(str(row[0]) for row in raw.execute(query))
        return iter(())

    _looked_at(database, module, list_names)
    return frozenset(
        name for name in names if _looked_at(database, module, partial(_quick, what=f"'{name}'"))
    )


def older_than(newest: str, database: Path, module: Any = sqlite3) -> OlderDatabase | None:
    """Read a sound database of an earlier schema as it is; None for one of any other.

    Raises:
        StudioError: It could not be read.
    """
    if not database.exists():
        return None
    found: list[OlderDatabase] = []

    def read(raw: Any) -> Iterator[str]:
        for (schema,) in raw.execute("SELECT version_num FROM alembic_version").fetchall():
            if schema < newest:
                blobs = raw.execute("SELECT sha256 FROM blob ORDER BY sha256")
                found.append(OlderDatabase(str(schema), tuple(str(row[0]) for row in blobs)))
        return iter(())

    _looked_at(database, module, read)
    return found[0] if found else None


def _look_at_all(raw: Any) -> Iterator[str]:
    for (line,) in raw.execute(f"PRAGMA integrity_check({_MOST_LINES})"):
        if line != "ok":
            yield _of_row(str(line))
    lost = raw.execute("PRAGMA foreign_key_check").fetchall()
    if lost:
        yield f"{len(lost)} rows point nowhere"
    if schema_changed(raw):
        yield "the description of the tables was changed"


def _quick(raw: Any, what: str) -> Iterator[str]:
    rows = raw.execute(f"PRAGMA quick_check({what})")
    return (str(row[0]) for row in rows if row[0] != "ok")


def _looked_at(
    database: Path, module: Any, look: Callable[[Any], Iterator[str]]
) -> tuple[str, ...]:
    """Return what `look` finds wrong by a connection that only reads, and why it stopped."""
    try:
        raw = module.connect(f"file:{database.as_posix()}?mode=ro", uri=True, timeout=15)
    except module.Error as error:
        return _as_damage(error, database)
    lines: list[str] = []
    try:
        add_checksum(raw)
        lines.extend(look(raw))
    except UnicodeDecodeError:  # SQLite quotes what it could not read
        lines.append("the description of the tables is no text")
    except module.Error as error:
        lines += _as_damage(error, database)
    finally:
        raw.close()
    return tuple(lines)


def _of_row(line: str) -> str:
    """Say in words what SQLite says of an index of checksums."""
    line = _ROW.sub(r"table \2, row \1: changed since it was written", line)
    return _ROWS.sub(r"table \1: it has other rows than were written", line)


def _as_damage(error: Exception, database: Path) -> tuple[str, ...]:
    said = str(error)
    if _NO_SUM in said:
        return ("a text was changed to what is no text",)
    told = in_words(said, database)
    if told is None or isinstance(told, DatabaseDamaged):
        return (said,)
    raise told from error
