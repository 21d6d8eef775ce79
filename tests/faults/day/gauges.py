"""What a studio takes of its machine, seen from outside and written down at intervals."""

import os
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

_MIB = 1 << 20


@dataclass(frozen=True)
class Reading:
    """A moment: memory, files and threads of the server; bytes of its files."""

    at: float
    resident_mib: float
    anonymous_mib: float
    files: int
    threads: int
    database_mib: float
    wal_mib: float
    logs_mib: float
    scratch_mib: float
    artifacts_mib: float


@dataclass
class Gauges:
    """Readings of a server of some process id until it is stopped."""

    home: Path
    pid: int
    every: float = 1.0
    readings: list[Reading] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def start(self) -> threading.Thread:
        """Read at once and then at intervals, in a thread."""
        thread = threading.Thread(target=self._read_on, daemon=True)
        thread.start()
        return thread

    def _read_on(self) -> None:
        while not self.over.wait(self.every):
            self.readings.append(self.read())

    def read(self) -> Reading:
        """Read everything now."""
        process = Path("/proc") / str(self.pid)
        status = dict(
            line.split(":", 1) for line in (process / "status").read_text("utf-8").splitlines()
        )
        return Reading(
            at=time.monotonic(),
            resident_mib=int(status["VmRSS"].split()[0]) / 1024,
            anonymous_mib=int(status["RssAnon"].split()[0]) / 1024,
            files=len(os.listdir(process / "fd")),  # noqa: PTH208 - names alone
            threads=int(status["Threads"]),
            database_mib=_size(self.home / "studio.db"),
            wal_mib=_size(self.home / "studio.db-wal"),
            logs_mib=_size(self.home / "logs"),
            scratch_mib=_size(self.home / "scratch"),
            artifacts_mib=_size(self.home / "artifacts"),
        )

    def around(self, share: float, name: str) -> float:
        """Return the median of a figure around a share of the time, from five hundredths before."""
        n = len(self.readings)
        last = max(1, round(n * share))
        part = self.readings[max(0, last - max(1, n // 20)) : last]
        return median(getattr(reading, name) for reading in part)

    def most(self, name: str) -> float:
        """Return the largest value of a figure."""
        return float(max(getattr(reading, name) for reading in self.readings))


def _size(place: Path) -> float:
    """Return the MiB of a file, or of all files in a folder; 0 where it is not there."""
    files = [place] if place.is_file() else place.rglob("*")
    total = 0
    for file in files:
        with suppress(OSError):
            total += file.stat().st_size if file.is_file() else 0
    return total / _MIB
