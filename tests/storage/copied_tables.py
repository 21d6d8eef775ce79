"""Tables of new databases that are copied from one file: the migrations run once a process."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from storage import database as opening
from storage.database import Database, open_database

_UP_TO_DATE = opening._bring_up_to_date
"""Makes the tables."""


@contextmanager
def copying_tables(made: Path) -> Iterator[None]:
    """Make the tables in a file, and give a copy of it to each database that is new."""
    open_database(made).close()
    newest = opening.SCHEMA

    def copy(database: Database) -> None:
        name = database.engine.url.database
        if newest == opening.SCHEMA and name and name != ":memory:":
            with suppress(OSError):  # no room, no right, or it is there: it is opened as it is
                _copy_whole(made, Path(name))
        _UP_TO_DATE(database)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "_bring_up_to_date", copy)
        yield


@contextmanager
def making_tables() -> Iterator[None]:
    """Make the tables of each new database, as outside of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "_bring_up_to_date", _UP_TO_DATE)
        yield


def _copy_whole(made: Path, new: Path) -> None:
    """Copy a file to where there is none, as a whole: others may open it at the same time."""
    if new.exists():
        return
    part = new.with_name(f".{new.name}-{os.getpid()}")
    try:
        shutil.copyfile(made, part)
        os.link(part, new)
    finally:
        part.unlink(missing_ok=True)
