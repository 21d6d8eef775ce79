"""What still holds the bytes of an erased text once its rows are gone, and how it is removed.

A note in the home tells of it until all is removed: a kill in between is made good by the next
erasure, or by `doctor --repair`.
"""

import json
import shutil
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from core.files import replace_file, sync_folder
from storage.artifacts import ArtifactStore
from storage.database import Database, overwrite_free_pages

_NOTE = "erasing.json"


@dataclass(frozen=True, slots=True)
class Remains:
    """What is to be deleted; the database's free pages are to be rewritten, too.

    Attributes:
        blobs: SHA-256 of blobs.
        copies: Paths of copies of the database, of other files, and of folders.
    """

    blobs: tuple[str, ...]
    copies: tuple[str, ...]


def note_remains(home: Path, blobs: Iterable[str], files: Iterable[str]) -> None:
    """Note what is to be removed, durably; call it before the erasure is committed."""
    before = _noted(home) or Remains((), ())
    note = Remains((*before.blobs, *blobs), (*before.copies, *files))
    with replace_file(home / _NOTE, mode=0o600) as stream:
        stream.write(json.dumps(asdict(note)).encode())


def has_remains(home: Path) -> bool:
    """Whether an erasure was interrupted, or another program kept it from the free pages."""
    return (home / _NOTE).exists()


def remove_remains(home: Path, database: Database, artifacts: ArtifactStore) -> bool:
    """Remove all that is noted; False where another program reads the database for too long."""
    noted = _noted(home)
    if noted is None:
        return True
    with database.write() as connection:
        artifacts.remove_unused(connection, noted.blobs, grace_seconds=0)
    for copy in map(Path, noted.copies):
        if copy.is_dir():
            shutil.rmtree(copy)
        else:
            copy.unlink(missing_ok=True)
    for folder in {home, *(Path(copy).parent for copy in noted.copies)}:
        if folder.is_dir():
            sync_folder(folder)  # before the note goes
    if not overwrite_free_pages(database):
        return False
    (home / _NOTE).unlink(missing_ok=True)
    sync_folder(home)
    return True


def _noted(home: Path) -> Remains | None:
    try:
        note = json.loads((home / _NOTE).read_bytes())
    except FileNotFoundError:
        return None
    return Remains(tuple(note["blobs"]), tuple(note["copies"]))
