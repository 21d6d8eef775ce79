"""What a studio keeps without need after a time that its settings give; counted first."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from app.services.studio import Studio
from storage import artifacts, jobs, models, receipts
from storage.computed import layouts, vectors
from storage.database import Transaction, copies_aside

_DAY_SECONDS = 86_400
_OWN_LOG = "supervisor"


class _OnlyCounted(Exception):
    """Takes a transaction back, after it has told how much it would delete."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """What is deleted of one kind: how many, and the bytes of files; 0 for rows of the database."""

    kind: str
    count: int
    bytes: int = 0


@dataclass(slots=True)
class _Found:
    """Rows are deleted already when this is made; files wait for the end of the transaction."""

    rows: list[Pruned] = field(default_factory=list)
    files: dict[str, list[Path]] = field(default_factory=dict)
    blobs: list[str] = field(default_factory=list)

    def report(self) -> list[Pruned]:
        """Return all kinds, the files by their size now."""
        return self.rows + [
            Pruned(kind, len(files), sum(file.stat().st_size for file in files if file.exists()))
            for kind, files in self.files.items()
        ]


def prune(studio: Studio, *, now: bool) -> list[Pruned]:
    """Delete what nothing needs any more; without `now`, only count it.

    Never touched: what a version, the champions' history or a job under way needs, labels and
    their log, and files that are younger than an hour.
    """
    found = _Found()
    try:
        with studio.database.write() as connection:
            _prune_rows(studio, connection, found)
            found.files["log files of jobs without a version"] = list(_old_logs(studio, connection))
            _take_back_unless(now=now)
    except _OnlyCounted:
        pass
    found.files["copies from before an upgrade"] = list(_old_copies(studio))
    result = found.report()
    if now:
        for file in (file for files in found.files.values() for file in files):
            file.unlink(missing_ok=True)
        with studio.database.write() as connection:
            studio.artifacts.remove_unused(connection, found.blobs)
            studio.artifacts.sweep(connection)
    return result


def _take_back_unless(*, now: bool) -> None:
    if not now:
        raise _OnlyCounted


def _prune_rows(studio: Studio, connection: Transaction, found: _Found) -> None:
    settings = studio.settings
    traces = jobs.drop_traces(connection, _before(settings.keep_traces_days))
    found.rows.append(Pruned("curves and logs of jobs without a version", traces))
    trees = layouts.remove_old(connection, _before(settings.keep_layouts_days))
    freed = [artifacts.drop_tree(connection, tree) for tree in dict.fromkeys(trees)]
    found.blobs += [blob for blobs in freed for blob in blobs]
    size = sum(size for blobs in freed for size in blobs.values())
    found.rows.append(Pruned("maps of versions out of use", len(trees), size))
    if settings.keep_receipts_days is not None:
        before = _before(settings.keep_receipts_days)
        old = receipts.remove_old(connection, before, settings.actor)
        found.rows.append(Pruned("receipts", old))
    unneeded = vectors.remove_unneeded(connection, _encoders(studio, connection))
    found.rows.append(Pruned("embeddings of texts or encoders that are gone", unneeded))


def _encoders(studio: Studio, connection: Transaction) -> set[str]:
    """Return the fingerprints of encoders in use, and of their quick copies where maps use them."""
    known = models.encoder_fingerprints(connection)
    if studio.settings.map_precision == "float32":
        return known
    from core.encoders.quick.copies import fingerprint_of_copy, settled_encoding  # import torch

    settled = settled_encoding(studio.settings.map_precision)
    return known | {fingerprint_of_copy(one, settled) for one in known}


def _old_logs(studio: Studio, connection: Transaction) -> Iterator[Path]:
    """Yield the logs of ended jobs without a version, untouched for as long as traces are kept."""
    needed = {job.id for job in (*jobs.live(connection), *jobs.cancelled(connection))}
    needed |= jobs.with_versions(connection)
    limit = time.time() - studio.settings.keep_traces_days * _DAY_SECONDS
    folder = studio.places.log(_OWN_LOG).parent
    for file in sorted(folder.glob("*.log*")):
        name = file.name.partition(".")[0]
        if name not in {_OWN_LOG, *needed} and file.stat().st_mtime < limit:
            yield file


def _old_copies(studio: Studio) -> list[Path]:
    """Return the copies that upgrades made long ago; the newest one always stays."""
    copies = copies_aside(studio.places.database)
    copies.sort(key=lambda file: file.stat().st_mtime)
    limit = time.time() - studio.settings.keep_copies_days * _DAY_SECONDS
    return [file for file in copies[:-1] if file.stat().st_mtime < limit]


def _before(days: int) -> str:
    """Return the time so many days ago, as rows have it."""
    return (datetime.now(UTC) - timedelta(days=days)).isoformat()
