"""What a job works with, and how it reports progress."""

import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.home import Places
from storage import jobs
from storage.artifacts import ArtifactStore, record_tree
from storage.database import Database, Transaction
from storage.jobs import Progress
from storage.records import JobRecord

_REPORT_SECONDS = 0.5
_MOST_POINTS = 240
Publish = Callable[[Transaction], dict[str, Any]]
"""Writes a job's result in the transaction that ends the job, so that it exists exactly once."""


class Stopped(Exception):
    """The job stopped on request."""


@dataclass(slots=True)
class JobContext:
    """What a job works with, and its progress."""

    places: Places
    database: Database
    job: JobRecord
    began: float = field(default_factory=time.monotonic)
    reported_at: float = 0.0
    first_share: float | None = None
    curve: dict[str, list[list[float]]] = field(init=False)

    def __post_init__(self) -> None:
        """Continue the curves of an earlier attempt."""
        self.curve = {name: list(points) for name, points in (self.job.curve or {}).items()}

    def draw(self, name: str, x: float, y: float) -> None:
        """Add a point to a curve; the next report or `keep_curve` stores it."""
        points = self.curve.setdefault(name, [])
        for drawn in self.curve.values():  # an earlier attempt got past its last checkpoint
            while drawn and (drawn[-1][0] > x or (drawn is points and drawn[-1][0] == x)):
                drawn.pop()
        points.append([x, round(y, 5)])
        if len(points) > _MOST_POINTS:  # half of the points keep the shape
            del points[1:-1:2]

    def keep_curve(self) -> None:
        """Store the points added since the last report; a resumed job does not draw them again."""
        with self.database.write() as connection:
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

    def report(self, share: float, stage: str, *, at_once: bool = False) -> None:
        """Report the finished share, in [0, 1]; written twice a second, or `at_once`.

        Raises:
            Stopped: The job was asked to stop.
            Fenced: Another attempt has taken over.
        """
        moment = time.monotonic()
        if not at_once and moment - self.reported_at < _REPORT_SECONDS:
            return
        if self.first_share is None:
            self.first_share, self.began = share, moment
        self.reported_at = moment
        progress = Progress(min(max(share, 0.0), 1.0), stage, self._eta(share, moment))
        with self.database.write() as connection:
            if jobs.report(connection, self.job.id, self.job.attempt, progress):
                raise Stopped
            self._keep_curve(connection)

    def _keep_curve(self, connection: Transaction) -> None:
        if self.curve:
            jobs.keep_curve(connection, self.job.id, self.job.attempt, dict(self.curve))

    def _eta(self, share: float, moment: float) -> float | None:
        """Return seconds left at this attempt's speed; a resumed attempt starts above 0."""
        done = share - (self.first_share or 0.0)
        return (moment - self.began) * (1.0 - share) / done if done > 0.01 else None


@dataclass(frozen=True, slots=True)
class Workplace:
    """The home and database of a job's child process, with a function for each kind of job.

    Made by `app.bootstrap.open_workplace`.
    """

    places: Places
    database: Database
    kinds: Mapping[str, Callable[[JobContext], Publish]]
