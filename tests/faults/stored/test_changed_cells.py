"""Any cell of the database is changed, and any byte or block of its file: `doctor` names it.

A zeroed block hit a stored embedding; `doctor` found nothing, and a version that learned from it
went live.
"""

import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.errors import StudioError
from storage.computed import vectors
from storage.database import damage, open_database
from tests.faults.shims.changed_cells import (
    Column,
    change_cell,
    columns_of,
    content_of,
    opened_raw,
    tables_of,
)
from tests.faults.table import Fault

FAULTS = (
    Fault(
        30.2,
        "A cell of the database is changed",
        "Each column of each table gets another value in up to three rows, which no index and no "
        "trigger learns of",
        "`doctor` names it, and a changed embedding is not used; the keys of stored embeddings "
        "alone are not looked at, for one with another key is found by no text",
        figures="cells",
    ),
    Fault(
        30.3,
        "A byte or a block of the database is changed",
        "A random byte is changed, or 4 KiB are zeroed or filled at random",
        "`doctor` names it, or no row was changed but the key of a stored embedding",
        figures="random",
    ),
)
_BLOCK = 4096
_NO_ROW, _KEY = "no row changed", "a key of the cache"
_KEYS_OF_CACHE = {("vector", "fingerprint"), ("vector", "text_hash")}
_FILLED = {("share", "kind"): "receipt", ("text_group", "id"): 7}


@pytest.fixture(scope="module")
def full(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with a row in each table."""
    home = tmp_path_factory.mktemp("full")
    file = home / "studio.db"
    shutil.copy(template / "studio.db", file)
    raw = opened_raw(file)
    for table in tables_of(raw):
        if raw.execute(f'SELECT 1 FROM "{table}" LIMIT 1').fetchone() is None:
            _fill(raw, table)
    raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    raw.close()
    assert found_in(file) == []
    return file


def _fill(raw: Any, table: str) -> None:
    values = {"INTEGER": 1, "TEXT": "null", "REAL": 0.5, "BLOB": b"\0\1\2\3"}
    columns = columns_of(raw, table)
    row = [_FILLED.get((table, c.name), values[c.kind]) for c in columns]
    raw.execute(f'INSERT INTO "{table}" VALUES ({", ".join("?" * len(row))})', row)


def found_in(file: Path) -> list[str]:
    """Return what `doctor` finds amiss in a database, without what lies around it."""
    try:
        found = list(damage(file))
        if found:
            return found
        database = open_database(file)
    except StudioError as error:
        return [error.message]
    try:
        with database.read() as connection:
            changed = vectors.remove_changed(connection, only_count=True)
        return [f"{changed} embeddings"] if changed else []
    finally:
        database.close()


def _columns(file: Path) -> list[Column]:
    raw = opened_raw(file)
    found = [column for table in tables_of(raw) for column in columns_of(raw, table)]
    raw.close()
    return found


def _unnamed(full: Path, copy: Path, column: Column, row: int) -> bool | None:
    """Whether a changed cell is not named; None where there is no such row."""
    shutil.copy(full, copy)
    if not change_cell(copy, column, row):
        return None
    assert content_of(copy) != content_of(full), column
    return found_in(copy) == []


@pytest.mark.quick
def test_a_changed_cell_of_each_table_is_named(full: Path, tmp_path: Path) -> None:
    last = {c.table: c for c in _columns(full) if not c.place}
    last |= {c.table: c for c in _columns(full) if c.table not in last}  # all of it is key
    assert len(last) == 27
    quiet = [c for c in last.values() if _unnamed(full, tmp_path / "copy.db", c, 0)]
    assert quiet == []


@pytest.mark.fire
def test_each_changed_cell_is_named(
    full: Path, tmp_path: Path, measured: Callable[[str, str], None]
) -> None:
    columns, quiet, count = _columns(full), set[tuple[str, str]](), 0
    for column in columns:
        for row in range(3):
            unnamed = _unnamed(full, tmp_path / "copy.db", column, row)
            count += unnamed is not None
            if unnamed:
                quiet.add((column.table, column.name))
    assert quiet <= _KEYS_OF_CACHE
    words = f"{count} cells of {len(columns)} columns changed, all named"
    measured("cells", f"{words} but {len(quiet)} keys of the cache.")


def _damaged_at_random(full: Path, tmp_path: Path, count: int, seed: int) -> Counter[str]:
    whole, before = full.read_bytes(), content_of(full)
    chance, copy, told = random.Random(seed), tmp_path / "copy.db", Counter[str]()
    for number in range(count):
        content = bytearray(whole)
        at = chance.randrange(len(whole))
        block = at - at % _BLOCK
        if number % 3 == 0:
            content[at] ^= chance.randrange(1, 256)
        else:
            content[block : block + _BLOCK] = (
                bytes(_BLOCK) if number % 3 == 1 else chance.randbytes(_BLOCK)
            )
        for left in tmp_path.glob("copy.db-*"):
            left.unlink()
        copy.write_bytes(content)
        if found_in(copy):
            told["named"] += 1
        else:
            told[_told_apart(content_of(copy), before, at)] += 1
    return told


def _told_apart(after: list[tuple[str, list[Any]]], before: list[Any], at: int) -> str:
    """Say what a damage did that is not named; `at` is its place in the file."""
    if after == before:
        return _NO_ROW
    return _KEY if _without_keys(after) == _without_keys(before) else f"unnamed at {at}"


def _without_keys(content: list[tuple[str, list[Any]]]) -> list[tuple[str, list[Any]]]:
    """Leave out the keys of the cache: an embedding with another key is found by no text."""
    return [
        (table, sorted(row[2:] for row in rows) if table == "vector" else rows)
        for table, rows in content
    ]


def test_a_damage_at_random_is_named(full: Path, tmp_path: Path) -> None:
    told = _damaged_at_random(full, tmp_path, 60, seed=1)
    assert set(told) <= {"named", _NO_ROW, _KEY}
    assert told["named"] > 30


@pytest.mark.fire
def test_each_damage_at_random_is_named(
    full: Path, tmp_path: Path, measured: Callable[[str, str], None]
) -> None:
    told = _damaged_at_random(full, tmp_path, 3_000, seed=2)
    assert set(told) <= {"named", _NO_ROW, _KEY}
    words = f"{told['named']:,} of {sum(told.values()):,} damages named"
    words += f"; {told[_NO_ROW]:,} changed no row, {told[_KEY]:,} a key of the cache"
    measured("random", f"{words}; 0 unnamed.")
