"""Keep a studio sound: backups, and checks of database, files, data, jobs and disk."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from app.jobs.lock import is_free
from app.services.studio import Studio
from core.encoders.bundled import bundled_folder
from core.errors import StudioError
from storage import backup, jobs, projects
from storage.database import integrity
from storage.log import events, versions
from storage.queries import dataset

_MIN_FREE_BYTES = 1 << 30
_OWNER_ALONE, _OTHERS = 0o700, 0o077


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """The result of `doctor` for one part of the studio."""

    subject: str
    healthy: bool
    detail: str


def back_up(studio: Studio, out: Path) -> int:
    """Copy the whole studio into one file; return the number of files."""
    return backup.back_up(studio.database, studio.places.artifacts, out)


def restore(file: Path, home: Path) -> int:
    """Restore a backup into a home without a studio; return the number of files."""
    return backup.restore(file, home)


def examine(studio: Studio) -> list[HealthCheck]:
    """Check every part of the studio; delete files that killed processes left behind.

    A home that others on this machine may open is closed to them.
    """
    return [
        _finding("database", integrity(studio.database), "ok"),
        _artifacts(studio),
        _data(studio),
        _jobs(studio),
        _encoder(),
        _disk(studio),
        _privacy(studio.places.home),
    ]


def _finding(subject: str, found: str, healthy: str) -> HealthCheck:
    return HealthCheck(subject, found == healthy, found)


def _artifacts(studio: Studio) -> HealthCheck:
    with studio.database.read() as connection:
        damage = studio.artifacts.damage(connection)
    with studio.database.write() as connection:
        swept = studio.artifacts.sweep(connection)
    words = f"ok, {swept} leftovers swept" if swept else "ok"
    return HealthCheck("artifacts", not damage, "; ".join(damage) or words)


def _data(studio: Studio) -> HealthCheck:
    """Check that current rows equal the replayed log, and that versions match their hash."""
    wrong: list[str] = []
    with studio.database.read() as connection:
        for project in projects.list_all(connection):
            state = versions.state_at(connection, project.id, project.head_revision)
            now = list(dataset.utterances(connection, project.id))
            if state.utterance_records() != now or events.head(connection, project.id) < 0:
                wrong.append(f"'{project.name}' differs from its log")
            wrong += [
                f"'{project.name}' data version {version.number} changed"
                for version in versions.list_all(connection, project.id)
                if not versions.is_whole(connection, project.id, version)
            ]
    return HealthCheck("data", not wrong, "; ".join(wrong) or "ok")


def _jobs(studio: Studio) -> HealthCheck:
    with studio.database.read() as connection:
        live = jobs.live(connection)
        wanted = {job.id for job in (*live, *jobs.cancelled(connection))}
    stuck = [job.id for job in live if is_free(studio.places.supervisor_lock)]
    for folder in (studio.places.home / "checkpoints").glob("*"):
        if folder.name not in wanted:
            shutil.rmtree(folder, ignore_errors=True)
    if stuck:
        studio.executor.ensure_running()
        return HealthCheck(
            "jobs", healthy=True, detail=f"{len(stuck)} waited; a supervisor is started"
        )
    return HealthCheck("jobs", healthy=True, detail=f"ok, {len(live)} under way")


def _encoder() -> HealthCheck:
    try:
        bundled_folder()
    except StudioError as error:
        return HealthCheck("bundled encoder", healthy=False, detail=error.message)
    return HealthCheck("bundled encoder", healthy=True, detail="ok")


def _disk(studio: Studio) -> HealthCheck:
    free = shutil.disk_usage(studio.places.home).free
    return HealthCheck("disk", free > _MIN_FREE_BYTES, f"{free / (1 << 30):.1f} GiB free")


def _privacy(home: Path) -> HealthCheck:
    """Close a home that an earlier release left open: nobody reads files in a closed folder."""
    if not home.stat().st_mode & _OTHERS:
        return HealthCheck("privacy", healthy=True, detail="ok, only you can open the home")
    home.chmod(_OWNER_ALONE)
    detail = "others on this machine could open the home; now only you can"
    return HealthCheck("privacy", healthy=True, detail=detail)
