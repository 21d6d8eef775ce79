"""What a job works with, and how it reports progress."""

import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.home import Places
from core.errors import DatabaseBusy
from storage import jobs
from storage.artifacts import ArtifactStore, record_tree
from storage.database import Database, Transaction
from storage.jobs import Progress
from storage.records import JobRecord

_REPORT_SECONDS = 0.5
_MEASURED_SECONDS, _MEASURED_SHARE, _MEASURED_ENOUGH = 1.0, 0.05, 20.0
"""Units of work say how fast they are once they took so many seconds together and are so large a
share of all, or once they took the longer time: the first ones alone are slow, and mislead."""
_MOST_POINTS = 240
Publish = Callable[[Transaction], dict[str, Any]]
"""Writes a job's result in the transaction that ends the job, so that it exists exactly once."""


class Stopped(Exception):
    """The job stopped on request."""


@dataclass(slots=True)
class Pace:
    """The speed of equal units of work, such as steps, and the time left at that speed.

    What comes before the first unit, such as loading, is not part of it. A resumed job begins with
    the units of its earlier attempt. The newest half of the time tells the speed, so that a slow
    beginning, or a program that has ended since, is forgotten.

    Attributes:
        first: The moment of the first unit.
        start: From when on the speed is measured, and the units done by then.
        middle: The same of the next start.
        ends: When the work ends by the last measurement.
    """

    first: float | None = None
    start: tuple[float, float] = (0.0, 0.0)
    middle: tuple[float, float] | None = None
    ends: float | None = None

    def left(self, done: float, total: float) -> float | None:
        """Return the seconds left, after `done` units of `total`; None until one was measured."""
        moment = time.monotonic()
        if self.first is None:
            self.first, self.start = moment, (moment, done)
        began, begun_with = self.start
        took, measured = moment - began, done - begun_with
        least = _MEASURED_SHARE * (total - begun_with)
        enough = _MEASURED_SECONDS if measured >= least else _MEASURED_ENOUGH
        if measured > 0 and took >= enough:
            self.ends = moment + took / measured * max(0.0, total - done)
            if self.middle is None:
                self.middle = (moment, done)
            elif moment - self.first >= 2 * (self.middle[0] - self.first):
                self.start, self.middle = self.middle, (moment, done)
        return self.still_left()

    def still_left(self) -> float | None:
        """Return the seconds left by the last measurement, at least 0; None without one."""
        return None if self.ends is None else max(0.0, self.ends - time.monotonic())


@dataclass(slots=True)
class JobContext:
    """What a job works with, and its progress."""

    places: Places
    database: Database
    job: JobRecord
    reported_at: float = 0.0
    curve: dict[str, list[list[float]]] = field(init=False)

    def __post_init__(self) -> None:
        """Continue the curves of an earlier attempt."""
        self.curve = {name: list(points) for name, points in (self.job.curve or {}).items()}

    def draw(self, name: str, x: float, y: float, n: int = 0) -> None:
        """Add a point to a curve; the next report or `keep_curve` stores it.

        `n` is the number of texts of which `y` is a share, or 0.
        """
        points = self.curve.setdefault(name, [])
        for drawn in self.curve.values():  # an earlier attempt got past its last checkpoint
            while drawn and (drawn[-1][0] > x or (drawn is points and drawn[-1][0] == x)):
                drawn.pop()
        points.append([x, round(y, 5), n] if n else [x, round(y, 5)])
        if len(points) > _MOST_POINTS:  # half of the points keep the shape
            del points[1:-1:2]

    def keep_curve(self) -> None:
        """Store the points added since the last report; a resumed job does not draw them again.

        While the database is busy, they are left to the next report.
        """
        with suppress(DatabaseBusy), self.database.write() as connection:
            self._keep_curve(connection)

    def store_files(self, write: Callable[[Path], object]) -> Callable[[Transaction], str]:
        """Store the files that `write` puts into a folder; return the step that records them.

        Call the step in the transaction that ends the job; it returns the tree's SHA-256.
        """
        store = ArtifactStore(self.places.artifacts)
        with tempfile.TemporaryDirectory(prefix="job-") as scratch:
            write(Path(scratch))
            files = store.put_files(Path(scratch))
        return lambda connection: record_tree(connection, store, files)

    def report(
        self, share: float, stage: str, left: float | None = None, *, at_once: bool = False
    ) -> None:
        """Report the finished share, in [0, 1]; written twice a second, or `at_once`.

        `left` is the measured time left in seconds; None where nothing was measured yet. While the
        database is busy, the job goes on, and the next report tells.

        Raises:
            Stopped: The job was asked to stop.
            Fenced: Another attempt has taken over.
        """
        moment = time.monotonic()
        if not at_once and moment - self.reported_at < _REPORT_SECONDS:
            return
        self.reported_at = moment
        progress = Progress(min(max(share, 0.0), 1.0), stage, left)
        with suppress(DatabaseBusy), self.database.write() as connection:
            if jobs.report(connection, self.job.id, self.job.attempt, progress):
                raise Stopped
            self._keep_curve(connection)

    def _keep_curve(self, connection: Transaction) -> None:
        if self.curve:
            jobs.keep_curve(connection, self.job.id, self.job.attempt, dict(self.curve))


@dataclass(frozen=True, slots=True)
class Workplace:
    """The home and database of a job's child process, with a function for each kind of job.

    Made by `app.bootstrap.open_workplace`.
    """

    places: Places
    database: Database
    kinds: Mapping[str, Callable[[JobContext], Publish]]
