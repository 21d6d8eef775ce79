"""A table or an index of a home's database of which one page is not what was written."""

import sqlite3
from pathlib import Path

_INTERIOR = (0x02, 0x05)
_LAST_CHILD = slice(8, 12)
"""Where a page of a tree names the last of the pages below it."""


def spoil(home: Path, name: str) -> None:
    """Overwrite the last page of a table or an index; no program may have the home open."""
    file = home / "studio.db"
    raw = sqlite3.connect(file)
    raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
    [page] = raw.execute(query, (name,)).fetchone()
    [size] = raw.execute("PRAGMA page_size").fetchone()
    raw.close()
    with file.open("r+b") as stream:
        while True:
            stream.seek((page - 1) * size)
            content = stream.read(size)
            if content[0] not in _INTERIOR:
                break
            page = int.from_bytes(content[_LAST_CHILD], "big")
        stream.seek((page - 1) * size)
        stream.write(b"\x5a" * size)
