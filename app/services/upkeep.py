"""Keep a studio sound: backups, and checks of database, files, data, jobs and disk."""

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from app.jobs.lock import is_free
from app.services.studio import Studio
from core.encoders.bundled import bundled_folder
from core.errors import InvalidInput, StudioError
from core.text import counted
from storage import backup, jobs, projects
from storage.computed import vectors
from storage.log.erased_remains import has_remains, remove_remains
from storage.soundness.log_check import differences

_MIN_FREE_BYTES = 1 << 30
_OWNER_ALONE, _OTHERS = 0o700, 0o077
_DATED = re.compile(r"studio-\d{8}T\d{6}\.\d{6}Z\.zip")
_SHOWN = 8
"""Lines of damage that are shown."""


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """The result of `doctor` for one part of the studio.

    `mends` is whether it found something that it can mend without loss when it is asked to.
    """

    subject: str
    healthy: bool
    detail: str
    mends: bool = False


@dataclass(frozen=True, slots=True)
class DatedBackup:
    """A backup in a folder of several: its file, what it holds, and how many older ones went."""

    file: Path
    files: int
    deleted: int


def back_up(studio: Studio, out: Path) -> int:
    """Copy the whole studio into one file; return the number of files."""
    return backup.back_up(studio.database, studio.places.artifacts, out)


def back_up_dated(studio: Studio, folder: Path, keep: int) -> DatedBackup:
    """Copy the studio into a new file of a folder, named by the time; keep the newest ones.

    Older ones go only after the new one is complete. Other files of the folder are not touched.

    Raises:
        InvalidInput: The folder is a file.
    """
    if folder.exists() and not folder.is_dir():
        raise InvalidInput(f"{folder} is a file.", "Name a folder for dated backups.")
    file = folder / f"studio-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}.zip"
    n_files = back_up(studio, file)
    dated = sorted(path for path in folder.glob("studio-*.zip") if _DATED.fullmatch(path.name))
    gone = dated[:-keep]
    for path in gone:
        path.unlink(missing_ok=True)
    return DatedBackup(file, n_files, len(gone))


def restore(file: Path, home: Path) -> int:
    """Restore a backup into a home without a studio; return the number of files."""
    return backup.restore(file, home)


def examine(studio: Studio, *, repair: bool = False) -> list[HealthCheck]:
    """Check every part of the studio, reading only; with `repair`, mend what loses nothing.

    Mended are files that killed processes left behind, jobs that wait without a supervisor, an
    erasure that was interrupted, stored embeddings that were changed, and a home that others on
    this machine may open.
    """
    return [
        HealthCheck("database", healthy=True, detail="ok"),  # a damaged one was not opened
        _artifacts(studio, repair=repair),
        _data(studio),
        _embeddings(studio, repair=repair),
        _jobs(studio, repair=repair),
        _erasing(studio, repair=repair),
        _maps(studio),
        *_around(studio.places.home, repair=repair),
    ]


def examine_damaged(home: Path, damage: Sequence[str]) -> list[HealthCheck]:
    """Name all damage of a database that cannot be opened, and check what lies around it."""
    shown = "; ".join(damage[:_SHOWN])
    more = f"; {len(damage) - _SHOWN} more" if len(damage) > _SHOWN else ""
    unread = "not looked at, for the database is damaged"
    return [
        HealthCheck("database", healthy=False, detail=shown + more),
        *(
            HealthCheck(part, healthy=False, detail=unread)
            for part in ("artifacts", "data", "jobs")
        ),
        *_around(home, repair=False),
    ]


def _around(home: Path, *, repair: bool) -> list[HealthCheck]:
    return [_encoder(), _arithmetic(), _disk(home), _privacy(home, repair=repair)]


def _artifacts(studio: Studio, *, repair: bool) -> HealthCheck:
    with studio.database.read() as connection:
        damage = studio.artifacts.damage(connection)
        left = len(studio.artifacts.leftovers(connection))
    words = "ok"
    if left and repair:
        with studio.database.write() as connection:
            words = f"ok, {studio.artifacts.sweep(connection)} leftovers swept"
    elif left:
        words = f"ok, {counted(left, 'file')} that nothing needs"
    mends = bool(left) and not repair
    return HealthCheck("artifacts", not damage, "; ".join(damage) or words, mends)


def _data(studio: Studio) -> HealthCheck:
    """Check that current rows equal the replayed log, and that versions match their hash."""
    with studio.database.read() as connection:
        every = projects.list_all(connection)
        wrong = [line for project in every for line in differences(connection, project)]
    return HealthCheck("data", not wrong, "; ".join(wrong) or "ok")


def _embeddings(studio: Studio, *, repair: bool) -> HealthCheck:
    """Find stored embeddings that were changed: none is used, and each is computed anew."""
    with studio.database.write() if repair else studio.database.read() as connection:
        changed = vectors.remove_changed(connection, only_count=not repair)
    if not changed:
        return HealthCheck("embeddings", healthy=True, detail="ok")
    were = f"{counted(changed, 'stored embedding')} changed since written"
    if repair:
        detail = f"{were}: deleted, to be computed anew"
        return HealthCheck("embeddings", healthy=True, detail=detail)
    detail = f"{were}: not used, computed anew when needed"
    return HealthCheck("embeddings", healthy=False, detail=detail, mends=True)


def _jobs(studio: Studio, *, repair: bool) -> HealthCheck:
    with studio.database.read() as connection:
        live = jobs.live(connection)
        wanted = {job.id for job in (*live, *jobs.cancelled(connection))}
    folders = (studio.places.home / "checkpoints").glob("*")
    left = [folder for folder in folders if folder.name not in wanted]
    waiting = len(live) if live and is_free(studio.places.supervisor_lock) else 0
    if not repair:
        words = [f"{counted(waiting, 'job')} that nobody works on"] if waiting else []
        words += [f"{counted(len(left), 'checkpoint')} that nothing needs"] if left else []
        found = ", ".join(["ok", *words]) if words else f"ok, {len(live)} under way"
        return HealthCheck("jobs", healthy=True, detail=found, mends=bool(words))
    for folder in left:
        shutil.rmtree(folder, ignore_errors=True)
    if waiting:
        studio.executor.ensure_running()
        return HealthCheck(
            "jobs", healthy=True, detail=f"{waiting} waited; a supervisor is started"
        )
    return HealthCheck("jobs", healthy=True, detail=f"ok, {len(live)} under way")


def _erasing(studio: Studio, *, repair: bool) -> HealthCheck:
    """Finish an erasure that was killed after its rows were gone, and before their bytes were."""
    if not has_remains(studio.places.home):
        return HealthCheck("erasing", healthy=True, detail="ok")
    if not repair:
        detail = "an erasure was interrupted: files may still hold erased texts"
        return HealthCheck("erasing", healthy=False, detail=detail, mends=True)
    if remove_remains(studio.places.home, studio.database, studio.artifacts):
        return HealthCheck("erasing", healthy=True, detail="an interrupted erasure was finished")
    detail = "another program reads the database: repair once more when it has ended"
    return HealthCheck("erasing", healthy=False, detail=detail, mends=True)


def _encoder() -> HealthCheck:
    try:
        bundled_folder()
    except StudioError as error:
        return HealthCheck("bundled encoder", healthy=False, detail=error.message)
    return HealthCheck("bundled encoder", healthy=True, detail="ok")


def _arithmetic() -> HealthCheck:
    """Say in which number format trainings multiply on this machine's processor."""
    from core.encoders.precision import bfloat16_gain, has_bfloat16, settled_precision

    settled, words = settled_precision("auto", "cpu"), "this processor is not quick in bfloat16"
    if has_bfloat16():
        words = f"bfloat16 is {bfloat16_gain():.1f} times as fast"
    return HealthCheck("arithmetic", healthy=True, detail=f"tunes in {settled}; {words}")


def _maps(studio: Studio) -> HealthCheck:
    """Say in which number format the texts of maps and groups are encoded."""
    from core.encoders.quick.copies import settled_encoding

    settled, quick = settled_encoding(studio.settings.map_precision), settled_encoding("auto")
    detail = f"encoded in {settled}"
    if quick != settled:
        detail += f"; STUDIO_MAP_PRECISION=auto encodes in {quick}, which is quicker here"
    return HealthCheck("maps and groups", healthy=True, detail=detail)


def _disk(home: Path) -> HealthCheck:
    free = shutil.disk_usage(home).free
    return HealthCheck("disk", free > _MIN_FREE_BYTES, f"{free / (1 << 30):.1f} GiB free")


def _privacy(home: Path, *, repair: bool) -> HealthCheck:
    """Close a home that an earlier release left open: nobody reads files in a closed folder."""
    if not home.stat().st_mode & _OTHERS:
        return HealthCheck("privacy", healthy=True, detail="ok, only you can open the home")
    if not repair:
        detail = "others on this machine can open the home"
        return HealthCheck("privacy", healthy=False, detail=detail, mends=True)
    home.chmod(_OWNER_ALONE)
    detail = "others on this machine could open the home; now only you can"
    return HealthCheck("privacy", healthy=True, detail=detail)
