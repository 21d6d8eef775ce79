"""Content-addressed files: a blob is named by its SHA-256, a tree is a folder of blobs."""

import hashlib
import json
import os
import shutil
import time
import uuid
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.errors import ArtifactDamaged
from core.files import file_sha256, replace_file, sync_folder
from storage.tables import blob, conversation_log, layout, model_version, tree

_GRACE_SECONDS = 3_600
_ASIDE = ".gone-"
_FROM_BACKUP = "Take it from a backup, or use another version."
_OWNERS = (model_version, layout, conversation_log)
"""The tables whose rows refer to a tree."""


@dataclass(frozen=True, slots=True)
class ArtifactStore:
    """The folder of blobs; their rows are in the database.

    `found_damaged` has the trees whose files a check of this process has found damaged.
    """

    folder: Path
    found_damaged: set[str] = field(default_factory=set, compare=False)

    def path(self, sha256: str) -> Path:
        """Return the path of a blob."""
        return self.folder / sha256[:2] / sha256[2:]

    def read(self, sha256: str) -> bytes:
        """Return the content of a blob.

        Raises:
            ArtifactDamaged: It is missing or was changed.
        """
        file = self.path(sha256)
        content = file.read_bytes() if file.is_file() else b""
        if hashlib.sha256(content).hexdigest() != sha256:
            raise ArtifactDamaged(
                f"The stored file {sha256[:12]} is missing or was changed.", _FROM_BACKUP
            )
        return content

    def put_files(self, source: Path) -> dict[str, str]:
        """Copy a folder's files into the store, durably; return relative name to SHA-256.

        `record_tree` writes the rows afterwards. A kill in between leaves files that `sweep`
        deletes, and never a row without its files.
        """
        digests: dict[str, str] = {}
        for file in sorted(path for path in source.rglob("*") if path.is_file()):
            sha256 = file_sha256(file)
            target = self.path(sha256)
            # A damaged file of this name is mended: a new version would share it.
            if not _made_young(target) or file_sha256(target) != sha256:
                with replace_file(target) as stream, file.open("rb") as content:
                    shutil.copyfileobj(content, stream, 1 << 20)
            digests[file.relative_to(source).as_posix()] = sha256
        return digests

    def check_out(
        self,
        connection: Connection,
        tree_sha256: str,
        target: Path,
        only: Container[str] | None = None,
    ) -> Path:
        """Copy or link a tree's files, or `only` those of some paths, into a folder; verify each.

        Raises:
            ArtifactDamaged: A file is missing or changed.
        """
        for path, sha256 in self._verified(connection, tree_sha256, only):
            place = target / path
            place.parent.mkdir(parents=True, exist_ok=True)
            _link_or_copy(self.path(sha256), place)
        return target

    def verify(self, connection: Connection, tree_sha256: str) -> None:
        """Read all files of a tree.

        Raises:
            ArtifactDamaged: A file is missing or changed.
        """
        for _ in self._verified(connection, tree_sha256):
            pass

    def known_damaged(self, connection: Connection, tree_sha256: str) -> bool:
        """Whether a file of a tree is missing or of another size, or was changed.

        The files are read only where a check of this process has found one changed before.
        """
        if tree_sha256 in self.found_damaged:
            try:
                self.verify(connection, tree_sha256)
            except ArtifactDamaged:
                return True
        query = sa.select(blob.c.sha256, blob.c.size)
        joined = query.join_from(tree, blob, blob.c.sha256 == tree.c.blob_sha256)
        rows = connection.execute(joined.where(tree.c.sha256 == tree_sha256)).all()
        return any(_size(self.path(row.sha256)) != row.size for row in rows)

    def _verified(
        self, connection: Connection, tree_sha256: str, only: Container[str] | None = None
    ) -> Iterator[tuple[str, str]]:
        """Yield path and SHA-256 of each file of a tree once it has been read and is whole."""
        files = tree_files(connection, tree_sha256)
        if not files:
            raise ArtifactDamaged(
                f"The files of tree {tree_sha256[:12]} are not known.", "Restore a backup."
            )
        for path, sha256 in files.items():
            if only is not None and path not in only:
                continue
            source = self.path(sha256)
            if not source.is_file() or file_sha256(source) != sha256:
                self.found_damaged.add(tree_sha256)
                raise ArtifactDamaged(
                    f"The stored file {path} is missing or was changed.", _FROM_BACKUP
                )
            yield path, sha256
        if only is None:
            self.found_damaged.discard(tree_sha256)

    def sweep(self, connection: Connection, grace_seconds: float = _GRACE_SECONDS) -> int:
        """Delete rows of unused trees and old files without a row; return the number of files."""
        files = self.leftovers(connection, grace_seconds)
        connection.execute(sa.delete(tree).where(tree.c.sha256.not_in(_used_trees())))
        needed = sa.select(tree.c.blob_sha256)
        connection.execute(sa.delete(blob).where(blob.c.sha256.not_in(needed)))
        limit = time.time() - grace_seconds
        return sum(_removed_if_old(file, limit) for file in files)

    def leftovers(
        self, connection: Connection, grace_seconds: float = _GRACE_SECONDS
    ) -> list[Path]:
        """List the files that no version needs and that are older than the grace period."""
        needed = sa.select(tree.c.blob_sha256).where(tree.c.sha256.in_(_used_trees()))
        known = set(connection.execute(needed).scalars())
        limit = time.time() - grace_seconds
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        unknown = [file for file in files if file.parent.name + file.name not in known]
        return [file for file in unknown if _is_old(file, limit)]

    def remove_unused(
        self, connection: Connection, names: Iterable[str], grace_seconds: float = _GRACE_SECONDS
    ) -> int:
        """Delete the files of those blobs that have no row, durably; return how many.

        Young files are kept for `sweep`, because a job may be about to publish them. The caller's
        writing transaction prevents new rows.
        """
        known = set(connection.execute(sa.select(blob.c.sha256)).scalars())
        limit = time.time() - grace_seconds
        unused = [name for name in names if name not in known]
        removed = sum(_removed_if_old(self.path(name), limit) for name in unused)
        removed += sum(_removed_aside(self.path(name), name, limit) for name in unused)
        for folder in {self.path(name).parent for name in unused}:
            if folder.is_dir():
                sync_folder(folder)
        return removed

    def is_young(self, sha256: str, grace_seconds: float = _GRACE_SECONDS) -> bool:
        """Whether a blob's file is younger than the grace period, so only `sweep` may delete it."""
        file = self.path(sha256)
        return file.exists() and file.stat().st_mtime >= time.time() - grace_seconds

    def damaged(self, connection: Connection) -> dict[str, str]:
        """Return "is missing" or "was changed" for each blob that is not what its name says."""
        return self.damaged_among(connection.execute(sa.select(blob.c.sha256)).scalars())

    def damaged_among(self, names: Iterable[str]) -> dict[str, str]:
        """Return the same for those of some blobs."""
        found: dict[str, str] = {}
        for sha256 in names:
            file = self.path(sha256)
            if not file.is_file():
                found[sha256] = "is missing"
            elif file_sha256(file) != sha256:
                found[sha256] = "was changed"
        return found

    def changed(self) -> tuple[int, list[str]]:
        """Return the number of blobs, and those that are not what their name says.

        No row is read, so a blob that is missing is not told, nor what needs a changed one.
        """
        files = [file for file in self.folder.glob("??/*") if not file.name.startswith(".")]
        names = {file.parent.name + file.name: file for file in sorted(files)}
        return len(names), [name for name, file in names.items() if file_sha256(file) != name]


def record_tree(connection: Connection, store: ArtifactStore, files: dict[str, str]) -> str:
    """Write the rows of a tree whose files are stored; return the tree's SHA-256."""
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


def own_blobs(connection: Connection, tree_sha256: str) -> dict[str, int]:
    """Return the size of each blob that becomes unused if one model version drops its tree."""
    sharing = sa.select(sa.func.count()).where(model_version.c.tree_sha256 == tree_sha256)
    if int(connection.execute(sharing).scalar_one()) > 1:
        return {}
    return _only_in(connection, tree_sha256)


def drop_tree(connection: Connection, tree_sha256: str) -> dict[str, int]:
    """Delete the rows of an unused tree; return its blobs that no other tree needs.

    Their files are kept until the transaction commits; then call `remove_unused`.
    """
    for owner in _OWNERS:
        used = sa.select(owner.c.id).where(owner.c.tree_sha256 == tree_sha256)
        if connection.execute(used).first() is not None:
            return {}
    freed = _only_in(connection, tree_sha256)
    connection.execute(sa.delete(tree).where(tree.c.sha256 == tree_sha256))
    connection.execute(sa.delete(blob).where(blob.c.sha256.in_(freed)))
    return freed


def tree_files(connection: Connection, tree_sha256: str) -> dict[str, str]:
    """Return the SHA-256 of each file of a tree, by its path."""
    query = sa.select(tree.c.path, tree.c.blob_sha256).where(tree.c.sha256 == tree_sha256)
    return {row.path: row.blob_sha256 for row in connection.execute(query)}


def tree_size(connection: Connection, tree_sha256: str) -> int:
    """Return the bytes of all files of a tree."""
    query = sa.select(sa.func.coalesce(sa.func.sum(blob.c.size), 0))
    joined = query.join_from(tree, blob, blob.c.sha256 == tree.c.blob_sha256)
    return int(connection.execute(joined.where(tree.c.sha256 == tree_sha256)).scalar_one())


def blob_at(connection: Connection, tree_sha256: str, path: str) -> str | None:
    """Return the SHA-256 of one file of a tree, or None."""
    query = sa.select(tree.c.blob_sha256)
    row = connection.execute(query.where(tree.c.sha256 == tree_sha256, tree.c.path == path))
    return row.scalar_one_or_none()


def _only_in(connection: Connection, tree_sha256: str) -> dict[str, int]:
    mine = sa.select(tree.c.blob_sha256).where(tree.c.sha256 == tree_sha256)
    others = sa.select(tree.c.blob_sha256).where(tree.c.sha256 != tree_sha256)
    query = sa.select(blob.c.sha256, blob.c.size)
    rows = connection.execute(
        query.where(blob.c.sha256.in_(mine), blob.c.sha256.not_in(others))
    ).all()
    return {row.sha256: row.size for row in rows}


def _size(file: Path) -> int | None:
    try:
        return file.stat().st_size
    except OSError:
        return None


def _made_young(file: Path) -> bool:
    """Touch a file, so that a concurrent sweep keeps it; return whether it exists."""
    try:
        os.utime(file)
    except FileNotFoundError:
        return False
    return True


def _is_old(file: Path, limit: float) -> bool:
    try:
        return file.stat().st_mtime < limit
    except FileNotFoundError:  # another process swept it
        return False


def _used_trees() -> sa.CompoundSelect[Any]:
    return sa.union(*(sa.select(owner.c.tree_sha256) for owner in _OWNERS))


def _removed_if_old(file: Path, limit: float) -> bool:
    """Delete a file that was not touched since `limit`, after renaming it.

    A writer that touches it after the rename finds it missing and writes it again. A touch before
    the rename shows in the modification time, and the name is restored.
    """
    aside = file.with_name(f"{_ASIDE}{uuid.uuid4().hex}")
    try:
        if file.stat().st_mtime >= limit:
            return False
        file.rename(aside)
    except FileNotFoundError:
        return False
    if aside.stat().st_mtime >= limit:
        aside.rename(file)
        return False
    aside.unlink()
    return True


def _removed_aside(file: Path, sha256: str, limit: float) -> int:
    """Delete what a killed `_removed_if_old` has renamed; return the number of files."""
    left = [aside for aside in file.parent.glob(f"{_ASIDE}*") if _is_old(aside, limit)]
    same = [aside for aside in left if file_sha256(aside) == sha256]
    for aside in same:
        aside.unlink(missing_ok=True)
    return len(same)


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without links
        shutil.copyfile(source, target)
