"""Keep a studio sound: backups, and checks of database, files, data, jobs and disk."""

import re
import shutil
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from app.home import Places
from app.jobs.lock import is_free
from app.services.studio import Studio
from app.settings import Settings
from core.encoders.bundled import bundled_folder
from core.errors import InvalidInput, StudioError
from core.text import counted, size_words, some_of
from storage import backup, jobs, projects
from storage.artifacts import ArtifactStore, drop_tree
from storage.computed import layouts, text_groups, vectors
from storage.faults import last_backup
from storage.log.erased_remains import has_remains, remove_remains
from storage.log.versions import differences
from storage.soundness.artifact_owners import file_damage, of_maps_alone, without_files
from storage.soundness.damage import OlderDatabase

_MIN_FREE_BYTES = 1_000_000_000
_OWNER_ALONE, _OTHERS = 0o700, 0o077
_DATED = re.compile(r"studio-\d{8}T\d{6}\.\d{6}Z\.zip")
_INSTEAD_OF_FILES = (
    "Train again and put the new version in use; then `intent-studio versions PROJECT --delete N "
    "--even-so` removes a version whose files are lost, and `intent-studio dialogues remove` a log."
)
_AFTER_THE_UPGRADE = (
    "Start the studio, which upgrades the database after a copy of it is made, and look again: "
    "then each damaged file is named with what needs it."
)
_INSTEAD_OF_ROWS = "Restore a backup into another home, and compare."
_SHOWN = 8
"""Lines of damage that are shown."""
_NEED_THE_DATABASE = {
    "data": "texts and their log are rows of the database",
    "embeddings": "they are rows of the database",
    "merged groups": "they are rows of the database",
    "jobs": "they are rows of the database",
}
"""Checks that are left out where the database is damaged or waits for its upgrade, and why."""


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """The result of `doctor` for one part of the studio.

    `mends` is whether it found something that it can mend without loss when it is asked to.
    `remedy` is what ends a finding that it cannot mend, or "".
    """

    subject: str
    healthy: bool
    detail: str
    mends: bool = False
    remedy: str = ""


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

    Mended are stored files that the newest backup holds sound, damaged maps, which are deleted to
    be made anew, files that killed processes left behind, jobs that wait without a supervisor, an
    erasure that was interrupted, stored embeddings that were changed, groups that were merged in
    a circle, and a home that others on this machine may open.
    """
    return [
        HealthCheck("database", healthy=True, detail="ok"),  # a damaged one was not opened
        _artifacts(studio, repair=repair),
        _data(studio),
        _embeddings(studio, repair=repair),
        _merged_groups(studio, repair=repair),
        _jobs(studio, repair=repair),
        _erasing(studio, repair=repair),
        _maps(studio.settings),
        *_around(studio.places.home, repair=repair),
    ]


def examine_damaged(
    settings: Settings, damage: Sequence[str], *, repair: bool = False
) -> list[HealthCheck]:
    """Name all damage of a database that cannot be opened, and check all that needs no database.

    Checks that need it are named with the reason; with `repair`, a home is closed to others.
    """
    places = Places.of(settings)
    shown = "; ".join(damage[:_SHOWN])
    more = f"; {len(damage) - _SHOWN} more" if len(damage) > _SHOWN else ""
    return [
        HealthCheck("database", healthy=False, detail=shown + more),
        _artifacts_alone(ArtifactStore(places.artifacts)),
        *_left_out("is damaged", mends=False),
        _interrupted_erasure(places.home, mends=False),
        _maps(settings),
        *_around(places.home, repair=repair),
    ]


def examine_older(settings: Settings, older: OlderDatabase) -> list[HealthCheck]:
    """Check, reading only, what can be checked of a database before it is upgraded."""
    places = Places.of(settings)
    detail = (
        f"ok, of an older release (schema {older.schema}): the next start upgrades it, after a "
        "copy of it is made"
    )
    return [
        HealthCheck("database", healthy=True, detail=detail, mends=True),
        _artifacts_before(ArtifactStore(places.artifacts), older),
        *_left_out("is of an older release", mends=True),
        _interrupted_erasure(places.home, mends=True),
        _maps(settings),
        *_around(places.home, repair=False),
    ]


def _left_out(state: str, *, mends: bool) -> list[HealthCheck]:
    """Name the checks that a database in this state does not allow; `mends` as of all checks."""
    return [
        HealthCheck(part, healthy=False, detail=f"left out: {why}, which {state}", mends=mends)
        for part, why in _NEED_THE_DATABASE.items()
    ]


def _artifacts_before(store: ArtifactStore, older: OlderDatabase) -> HealthCheck:
    """Check each stored file that a database names which waits for its upgrade."""
    damaged = store.damaged_among(older.blobs)
    shown = [f"{name[:12]} {how}" for name, how in damaged.items()]
    read = f"{counted(len(older.blobs), 'file')} looked for, "
    words = f"{read}{len(damaged)} damaged: {some_of(shown, _SHOWN)}" if damaged else f"{read}ok"
    remedy = _AFTER_THE_UPGRADE if damaged else ""
    return HealthCheck("artifacts", not damaged, words, remedy=remedy)


def _artifacts_alone(store: ArtifactStore) -> HealthCheck:
    """Check each stored file by its name alone."""
    n_files, changed = store.changed()
    read = f"{counted(n_files, 'file')} read, {len(changed)} changed"
    names = f" ({some_of([name[:12] for name in changed], _SHOWN)})" if changed else ""
    unknown = "missing files left out: the list of files is in the database, which is damaged"
    return HealthCheck("artifacts", not changed, f"{read}{names}; {unknown}")


def _around(home: Path, *, repair: bool) -> list[HealthCheck]:
    return [_encoder(), _arithmetic(), _disk(home), _privacy(home, repair=repair)]


def _artifacts(studio: Studio, *, repair: bool) -> HealthCheck:
    with studio.database.read() as connection:
        damaged = file_damage(connection, studio.artifacts)
        lost = without_files(connection)
        left = len(studio.artifacts.leftovers(connection))
    mended = _mended_files(studio, damaged, repair=repair)
    if repair:
        damaged = {name: words for name, words in damaged.items() if name not in mended}
    wrong = [*damaged.values(), *lost]
    words = [f"{counted(len(mended), 'damaged file')} mended"] if repair and mended else []
    if left and repair:
        with studio.database.write() as connection:
            swept = studio.artifacts.sweep(connection)
        words.append(f"{counted(swept, 'leftover')} swept")
    elif left:
        words.append(f"{counted(left, 'file')} that nothing needs")
    may_mend = mended.issuperset(damaged) and not lost and bool(left or mended)
    return HealthCheck(
        "artifacts",
        not wrong,
        "; ".join(wrong) or ", ".join(["ok", *words]),
        mends=may_mend and not repair,
        remedy=_INSTEAD_OF_FILES if wrong else "",
    )


def _mended_files(studio: Studio, damaged: Collection[str], *, repair: bool) -> set[str]:
    """Take damaged files from the newest backup, and delete damaged maps, which are made anew.

    Returns the SHA-256 of the files that were mended; without `repair`, of those that can be.
    """
    known = last_backup(studio.places.database) if damaged else None
    mended = set[str]()
    if known is not None:
        find = backup.recover if repair else backup.held
        mended = find(Path(known.file), studio.artifacts, damaged)
    with studio.database.write() if repair and damaged else studio.database.read() as connection:
        maps = of_maps_alone(connection, set(damaged) - mended)
        if repair and maps:
            for tree in layouts.remove_damaged(connection, maps):
                drop_tree(connection, tree)
    return mended | maps


def _data(studio: Studio) -> HealthCheck:
    """Check that current rows equal the replayed log, and that versions match their hash."""
    with studio.database.read() as connection:
        every = projects.list_all(connection)
        wrong = [line for project in every for line in differences(connection, project)]
    remedy = _INSTEAD_OF_ROWS if wrong else ""
    return HealthCheck("data", not wrong, "; ".join(wrong) or "ok", remedy=remedy)


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


def _merged_groups(studio: Studio, *, repair: bool) -> HealthCheck:
    """Find groups that were merged in a circle; repaired, the one that is shown is in no other."""
    found = list[str]()
    with studio.database.write() if repair else studio.database.read() as connection:
        for project in projects.list_all(connection):
            families = text_groups.families(connection, project.id)
            for number in families.circular:
                found.append(f"'{families.groups[number].name}' of '{project.name}'")
                if repair:
                    text_groups.change(connection, project.id, number, {"merged_into": None})
    if not found:
        return HealthCheck("merged groups", healthy=True, detail="ok")
    detail = f"merged in a circle: {some_of(found, _SHOWN)}"
    return HealthCheck("merged groups", healthy=repair, detail=detail, mends=not repair)


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
    if not repair or not has_remains(studio.places.home):
        return _interrupted_erasure(studio.places.home, mends=True)
    if remove_remains(studio.places.home, studio.database, studio.artifacts):
        return HealthCheck("erasing", healthy=True, detail="an interrupted erasure was finished")
    detail = "another program reads the database: repair once more when it has ended"
    return HealthCheck("erasing", healthy=False, detail=detail, mends=True)


def _interrupted_erasure(home: Path, *, mends: bool) -> HealthCheck:
    if not has_remains(home):
        return HealthCheck("erasing", healthy=True, detail="ok")
    detail = "an erasure was interrupted: files may still hold erased texts"
    return HealthCheck("erasing", healthy=False, detail=detail, mends=mends)


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


def _maps(settings: Settings) -> HealthCheck:
    """Say in which number format the texts of maps and groups are encoded."""
    from core.encoders.quick.copies import settled_encoding

    settled, quick = settled_encoding(settings.map_precision), settled_encoding("auto")
    detail = f"encoded in {settled}"
    if quick != settled:
        detail += f"; STUDIO_MAP_PRECISION=auto encodes in {quick}, which is quicker here"
    return HealthCheck("maps and groups", healthy=True, detail=detail)


def _disk(home: Path) -> HealthCheck:
    free = shutil.disk_usage(home).free
    return HealthCheck("disk", free > _MIN_FREE_BYTES, f"{size_words(free)} free")


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
