"""All damage of a database's file that SQLite and the checksums find, in words."""

import re
import sqlite3
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


def damage_of(database: Path, module: Any = sqlite3) -> tuple[str, ...]:
    """List all damage of a database's file, reading only; () for a sound one.

    At most some 100 lines. `module` is a driver as `sqlite3`.

    Raises:
        StudioError: It could not be read for another reason, such as a lack of rights.
    """
    if not database.exists():
        return ()
    try:
        raw = module.connect(f"file:{database.as_posix()}?mode=ro", uri=True, timeout=15)
    except module.Error as error:
        return _as_damage(error, database)
    lines: list[str] = []
    try:
        add_checksum(raw)
        for (line,) in raw.execute(f"PRAGMA integrity_check({_MOST_LINES})"):
            lines += [] if line == "ok" else [_of_row(str(line))]
        lost = raw.execute("PRAGMA foreign_key_check").fetchall()
        lines += [f"{len(lost)} rows point nowhere"] if lost else []
        lines += ["the description of the tables was changed"] if schema_changed(raw) else []
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
