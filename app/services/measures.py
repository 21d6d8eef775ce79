"""What is measured of a running studio: its jobs, its files, and this process."""

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.services.studio import Studio
from storage import jobs


@dataclass(frozen=True, slots=True)
class StudioMeasures:
    """A studio as it is now.

    Attributes:
        jobs: Number of jobs by state; every state occurs.
        database_bytes: Size of the database's file.
        wal_bytes: Size of its write-ahead log.
        cache_bytes: Values that are kept because they take long to compute.
        resident_bytes: Memory of this process; None where the system does not tell.
        open_files: Files and sockets that this process holds; None where the system does not tell.
        threads: Threads of this process that Python knows.
    """

    jobs: Mapping[str, int]
    database_bytes: int
    wal_bytes: int
    cache_bytes: int
    resident_bytes: int | None
    open_files: int | None
    threads: int


def measure(studio: Studio) -> StudioMeasures:
    """Measure an open studio and the process that has it open."""
    with studio.database.read() as connection:
        by_state = jobs.count_by_state(connection)
    database = studio.places.database
    return StudioMeasures(
        jobs=by_state,
        database_bytes=_size(database),
        wal_bytes=_size(database.with_name(database.name + "-wal")),
        cache_bytes=studio.cache.held_bytes(),
        resident_bytes=_resident_bytes(),
        open_files=_open_files(),
        threads=threading.active_count(),
    )


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _resident_bytes() -> int | None:
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return None
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _open_files() -> int | None:
    try:
        return sum(1 for _ in Path("/proc/self/fd").iterdir())
    except OSError:
        return None
