"""Content-addressed files: a blob is named by its SHA-256, a tree is a folder of blobs."""

import hashlib
import json
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.errors import ArtifactDamaged
from storage.files import file_sha256, replace_file
from storage.tables import blob, layout, model_version, tree

_GRACE_SECONDS = 3_600


@dataclass(frozen=True, slots=True)
class ArtifactStore:
    """The folder of blobs; rows about them live in the database."""

    folder: Path

    def path(self, sha256: str) -> Path:
        """Where a blob lies."""
        return self.folder / sha256[:2] / sha256[2:]

    def put_files(self, source: Path) -> dict[str, str]:
        """Copy a folder's files in, durably; return relative name to SHA-256.

        No row is written: that happens last, by `record_tree`, so that a kill before it leaves
        files that `sweep` takes away, and never a row without its files.
        """
        found: dict[str, str] = {}
        for file in sorted(path for path in source.rglob("*") if path.is_file()):
            sha256 = file_sha256(file)
            target = self.path(sha256)
            if not target.exists():
                with replace_file(target) as stream, file.open("rb") as content:
                    shutil.copyfileobj(content, stream, 1 << 20)
            os.utime(target)  # young again, so that a sweep beside us leaves it alone
            found[file.relative_to(source).as_posix()] = sha256
        return found

    def check_out(self, connection: Connection, tree_sha256: str, target: Path) -> Path:
        """Lay a tree's files out in a folder, verifying each.

        Raises:
            ArtifactDamaged: A file is missing or changed.
        """
        rows = connection.execute(sa.select(tree).where(tree.c.sha256 == tree_sha256)).all()
        if not rows:
            raise ArtifactDamaged(
                f"The files of tree {tree_sha256[:12]} are not known.", "Restore a backup."
            )
        for row in rows:
            source = self.path(row.blob_sha256)
            if not source.is_file() or file_sha256(source) != row.blob_sha256:
                raise ArtifactDamaged(
                    f"The stored file {row.path} is missing or was changed.",
                    "Restore a backup, or train again; `intent-studio doctor` lists the damage.",
                )
            place = target / row.path
            place.parent.mkdir(parents=True, exist_ok=True)
            _link_or_copy(source, place)
        return target

    def sweep(self, connection: Connection, grace_seconds: float = _GRACE_SECONDS) -> int:
        """Delete files that nothing refers to and rows of trees that nothing has."""
        used = sa.union(sa.select(model_version.c.tree_sha256), sa.select(layout.c.tree_sha256))
        connection.execute(sa.delete(tree).where(tree.c.sha256.not_in(used)))
        needed = sa.select(tree.c.blob_sha256)
        connection.execute(sa.delete(blob).where(blob.c.sha256.not_in(needed)))
        known = set(connection.execute(sa.select(blob.c.sha256)).scalars())
        limit, gone = time.time() - grace_seconds, 0
        for file in [path for path in self.folder.rglob("*") if path.is_file()]:
            if file.parent.name + file.name not in known and file.stat().st_mtime < limit:
                file.unlink(missing_ok=True)
                gone += 1
        return gone

    def damage(self, connection: Connection) -> list[str]:
        """Name every blob that is missing or not what its name says."""
        found: list[str] = []
        for sha256 in connection.execute(sa.select(blob.c.sha256)).scalars():
            file = self.path(sha256)
            if not file.is_file():
                found.append(f"{sha256[:12]} is missing")
            elif file_sha256(file) != sha256:
                found.append(f"{sha256[:12]} was changed")
        return found


def record_tree(connection: Connection, store: ArtifactStore, files: dict[str, str]) -> str:
    """Write the rows of a tree whose files are in place; return the tree's SHA-256."""
    canonical = json.dumps(sorted(files.items()), separators=(",", ":"))
    name = hashlib.sha256(canonical.encode()).hexdigest()
    if connection.execute(sa.select(tree.c.sha256).where(tree.c.sha256 == name)).first():
        return name
    known = set(connection.execute(sa.select(blob.c.sha256)).scalars())
    for sha256 in sorted(set(files.values()) - known):
        size = store.path(sha256).stat().st_size
        connection.execute(sa.insert(blob).values(sha256=sha256, size=size))
    rows = [{"sha256": name, "path": path, "blob_sha256": sha} for path, sha in files.items()]
    connection.execute(sa.insert(tree), rows)
    return name


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without links
        shutil.copyfile(source, target)
