"""Write a whole studio into one file, and restore it."""

import hashlib
import json
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from core.errors import MALFORMED, ArtifactDamaged, Conflict
from core.files import disk_error, move_durably, replace_file, sweep_parts, sync_file
from storage.artifacts import ArtifactStore
from storage.database import Database, copy_database, open_database, scratch_database
from storage.faults import note_backup

_MANIFEST = "manifest.json"
_FORMAT = "intent-studio-backup-1"
_STAGING = ".restoring-"
_TRIES = 5
"""Times that a backup is begun while files are deleted beside it."""


def back_up(database: Database, artifacts: Path, out: Path) -> int:
    """Write the database and all artifacts into one zip; return the number of files.

    The database is copied before the artifacts, so that the files of every row are included. Where
    some were deleted meanwhile, it begins anew; those that a damaged home lacks are left out. What
    a killed backup left in the folder is deleted.

    Raises:
        Conflict: Files were deleted during each try.
    """
    sweep_parts(out.parent)
    lacking: set[str] = set()
    for _ in range(_TRIES):
        with tempfile.TemporaryDirectory() as scratch:
            copy = Path(scratch) / "studio.db"
            copy_database(database.engine, copy)
            files = {"studio.db": copy, **_artifacts(artifacts)}
            lacked, lacking = lacking, _named_in(copy, ArtifactStore(artifacts)) - files.keys()
            if lacking <= lacked and _written(files, out):
                note_backup(database.file, out)
                return len(files)
    raise Conflict(
        "Stored files were deleted while they were backed up.",
        "Back up again when nobody erases texts or deletes versions.",
    )


def _artifacts(folder: Path) -> dict[str, Path]:
    """Return the stored files by their names in a backup."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        f"artifacts/{path.relative_to(folder).as_posix()}": path
        for path in files
        if not path.name.startswith(".")
    }


def _named_in(copy: Path, store: ArtifactStore) -> set[str]:
    """Return the names, in a backup, of all blobs that a copy of the database names."""
    with scratch_database(copy) as raw:
        return {_entry(store, sha256) for (sha256,) in raw.execute("SELECT sha256 FROM blob")}


def _written(files: Mapping[str, Path], out: Path) -> bool:
    """Write a backup; return False, and leave none, where a file was deleted meanwhile."""
    try:
        with replace_file(out) as stream, zipfile.ZipFile(stream, "w") as archive:
            digests = {name: _store(archive, name, path) for name, path in files.items()}
            facts = {"format": _FORMAT, "files": digests}
            archive.writestr(_MANIFEST, json.dumps(facts, indent=1))
    except FileNotFoundError:
        if all(path.exists() for path in files.values()):
            raise
        return False
    return True


def restore(file: Path, home: Path) -> int:
    """Restore a backup into a home without a studio; return the number of files.

    Raises:
        Conflict: The home holds a studio already, or a log of one that SQLite would play into it.
        ArtifactDamaged: The backup is incomplete or changed; the home is unchanged.
        DiskFull: There is no room for what it holds.
    """
    if (home / "studio.db").exists():
        raise Conflict(f"{home} holds a studio already.", "Choose an empty --home.")
    logs = ", ".join(sorted(path.name for path in home.glob("studio.db-*")))
    if logs:
        raise Conflict(
            f"{home} holds what another database has left: {logs}.",
            "Choose an empty --home, or move these files to that database.",
        )
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in home.glob(f"{_STAGING}*"):  # of a restore that was killed
        shutil.rmtree(left)
    with tempfile.TemporaryDirectory(prefix=_STAGING, dir=home) as scratch:
        staged = Path(scratch)
        n_files = _unpack(file, staged)
        open_database(staged / "studio.db").close()
        # A killed restore may have brought some: equal names are equal contents.
        for artifact in sorted(p for p in (staged / "artifacts").rglob("*") if p.is_file()):
            move_durably(artifact, home / artifact.relative_to(staged))
        # The database last: it makes the home a studio.
        move_durably(staged / "studio.db", home / "studio.db")
    note_backup(home / "studio.db", file, datetime.fromtimestamp(file.stat().st_mtime, UTC))
    return n_files


def held(file: Path, store: ArtifactStore, names: Iterable[str]) -> set[str]:
    """Return which of some blobs a backup has, sound or not."""
    try:
        with zipfile.ZipFile(file) as archive:
            there = set(archive.namelist())
    except (*MALFORMED, zipfile.BadZipFile):
        return set()
    return {sha256 for sha256 in names if _entry(store, sha256) in there}


def recover(file: Path, store: ArtifactStore, names: Iterable[str]) -> set[str]:
    """Take blobs from a backup into the store, each only if it is sound; return their SHA-256."""
    try:
        with zipfile.ZipFile(file) as archive:
            return {sha256 for sha256 in names if _recovered(archive, store, sha256)}
    except (*MALFORMED, zipfile.BadZipFile) as error:
        if disk_error(error) is not None:
            raise
        return set()


def _entry(store: ArtifactStore, sha256: str) -> str:
    return f"artifacts/{store.path(sha256).relative_to(store.folder).as_posix()}"


def _recovered(archive: zipfile.ZipFile, store: ArtifactStore, sha256: str) -> bool:
    name = _entry(store, sha256)
    try:
        actual = hashlib.sha256()
        with archive.open(name) as source:
            while block := source.read(1 << 20):
                actual.update(block)
        if actual.hexdigest() != sha256:
            return False
        with archive.open(name) as source, replace_file(store.path(sha256)) as out:
            shutil.copyfileobj(source, out, 1 << 20)
    except (KeyError, EOFError, zipfile.BadZipFile, zlib.error):  # it has none, or a damaged one
        return False
    return True


def _unpack(file: Path, target: Path) -> int:
    try:
        with zipfile.ZipFile(file) as archive:
            facts = json.loads(archive.read(_MANIFEST))
            digests = dict(facts["files"])
            if facts["format"] != _FORMAT or set(archive.namelist()) != {*digests, _MANIFEST}:
                raise ArtifactDamaged(f"{file} is not a whole backup.", "Use another copy.")
            for name, digest in digests.items():
                _unpack_one(archive, name, digest, target)
    except (*MALFORMED, zipfile.BadZipFile, zlib.error) as error:
        raise disk_error(error) or ArtifactDamaged(
            f"{file} cannot be read as a backup: {error}."
        ) from error
    return len(digests)


def _unpack_one(archive: zipfile.ZipFile, name: str, digest: str, target: Path) -> None:
    place = (target / name).resolve()
    if not place.is_relative_to(target.resolve()):
        raise ArtifactDamaged(f"The backup holds a file named {name!r}.", "Do not trust it.")
    place.parent.mkdir(parents=True, exist_ok=True)
    actual = hashlib.sha256()
    with archive.open(name) as source, place.open("wb") as out:
        while block := source.read(1 << 20):
            actual.update(block)
            out.write(block)
        sync_file(out)
    if actual.hexdigest() != digest:
        raise ArtifactDamaged(f"{name} in the backup was changed.", "Use another copy.")


def _store(archive: zipfile.ZipFile, name: str, path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as source, archive.open(name, "w", force_zip64=True) as out:
        while block := source.read(1 << 20):
            digest.update(block)
            out.write(block)
    return digest.hexdigest()
