"""Files: written whole or not at all, even if the process is killed or the power fails.

Also what else is asked of files and of their disks: whether they are there, how large they are,
whether a foreign zip may be unpacked, and what to tell where a disk is full.
"""

import errno
import hashlib
import os
import re
import stat
import time
import uuid
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from core.errors import DiskFull, InvalidInput

_MOUNTS = Path("/proc/self/mountinfo")
_NETWORK = {"afs": "AFS", "ceph": "Ceph", "cifs": "SMB", "fuse.sshfs": "SSHFS", "lustre": "Lustre"}
_NETWORK |= {"fuse.glusterfs": "GlusterFS", "nfs": "NFS", "nfs4": "NFS", "smb3": "SMB"}
"""Kinds of file systems of other machines, as Linux names them, and as people do."""


_PART = re.compile(r"\.part-[0-9a-f]{32}")
_ABANDONED_SECONDS = 3_600.0
"""Seconds without a write after which a part is that of a killed process."""


_SAMPLES, _PIECE = 8, 1 << 17
"""Pieces of a large file that tell how small it becomes, and the bytes of one."""


def deflated_size(file: Path) -> int:
    """Estimate the bytes of a file in a zip; of a large one, by pieces from all over it."""
    size = file.stat().st_size
    with file.open("rb") as stream:
        if size <= _SAMPLES * _PIECE:
            return len(zlib.compress(stream.read(), 1))
        packed = 0
        for at in range(_SAMPLES):
            stream.seek(at * (size - _PIECE) // (_SAMPLES - 1))
            packed += len(zlib.compress(stream.read(_PIECE), 1))
    return round(size * packed / (_SAMPLES * _PIECE))


def sweep_parts(folder: Path) -> int:
    """Delete parts that killed writers of `replace_file` left in a folder; return how many."""
    limit = time.time() - _ABANDONED_SECONDS
    swept = 0
    for file in folder.glob(".part-*"):
        with suppress(FileNotFoundError):
            if _PART.fullmatch(file.name) and file.stat().st_mtime < limit:
                file.unlink()
                swept += 1
    return swept


@contextmanager
def replace_file(target: Path, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """Write a file beside its target, and rename it to the target once all of it is on disk.

    A failure keeps the old file and adds no other. A missing folder is created. The process's umask
    limits the permissions of `mode`.
    """
    make_folder(target.parent)
    part = target.parent / f".part-{uuid.uuid4().hex}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(part, flags, mode)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            sync_file(stream)
        part.replace(target)
        sync_folder(target.parent)
    finally:
        part.unlink(missing_ok=True)


def write_atomically(path: Path, pieces: Iterable[bytes]) -> None:
    """Replace a file of the user, keeping permissions and links; InvalidInput if it cannot."""
    with _replaced(path) as stream:
        stream.writelines(pieces)


def write_together(contents: Mapping[Path, bytes]) -> None:
    """Replace files of the user as `write_atomically` does: all, or where one fails none."""
    for path in contents:
        require_place(path)
    with ExitStack() as stack:
        for path, content in contents.items():
            stream = stack.enter_context(_replaced(path))
            stream.write(content)
            stream.flush()  # a full disk is met before the first file is replaced


def require_place(path: Path) -> None:
    """Refuse to write to a folder, or into one that is not there; raises InvalidInput."""
    target = path.resolve()  # a link still points to the file
    if target.is_dir():
        raise InvalidInput(f"{path} is a folder.", "Name a file in it.")
    if not target.parent.is_dir():
        raise InvalidInput(f"There is no folder {target.parent}.", "Make it first.")


@contextmanager
def _replaced(path: Path) -> Iterator[IO[bytes]]:
    require_place(path)
    target = path.resolve()
    try:
        if target.exists() and not target.is_file():  # a device or a pipe is no file to replace
            with target.open("wb") as stream:
                yield stream
            return
        sweep_parts(target.parent)
        permissions = target.stat().st_mode & 0o777 if target.exists() else None
        with replace_file(target, 0o666 if permissions is None else permissions) as stream:
            yield stream
        if permissions is not None:
            target.chmod(permissions)  # the umask may have taken some
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be written: {error.strerror}.",
            "Check the free space and the permissions of the folder.",
        ) from error


def write_synced(path: Path, content: bytes) -> None:
    """Write a file and wait until it is on disk; a kill may truncate it."""
    with path.open("wb") as stream:
        stream.write(content)
        sync_file(stream)


def sync_file(stream: IO[bytes]) -> None:
    """Wait until all that was written to a file is on disk."""
    stream.flush()
    os.fsync(stream.fileno())


def is_file(name: str) -> bool:
    """Whether a file has this name."""
    try:
        return Path(name).is_file()
    except OSError:  # too long for a file's name, but allowed for a project's
        return False


def named_folder(name: str) -> Path | None:
    """Return the folder that a person names, with `~` expanded; None if there is none.

    A name may be too long for a file, and `~anna` may be no user of this computer.
    """
    try:
        path = Path(name).expanduser()
        return path if path.is_dir() else None
    except (OSError, RuntimeError, ValueError):
        return None


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, so that a loss of power keeps all of them."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for place in missing:
        sync_folder(place.parent)


def move_durably(source: Path, target: Path) -> None:
    """Rename a file that is on disk to another folder, so that a loss of power keeps it."""
    make_folder(target.parent)
    source.replace(target)
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Make a rename in a folder survive a loss of power, where folders can be synchronised."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


_MOST_DIRECTORY = 4 << 20
"""Bytes; the directory of a zip with 500 files of long names takes a tenth of it."""
_MOST_RATIO = 200


def has_large_directory(path: Path) -> bool:
    """Whether a zip names so many files that opening it, which reads all names, fills the memory.

    A million files take a gigabyte. What is no zip has none.
    """
    with path.open("rb") as stream:
        end = zipfile._EndRecData(stream)  # type: ignore[attr-defined] # as `ZipFile` finds it
    return end is not None and end[zipfile._ECD_SIZE] > _MOST_DIRECTORY  # type: ignore[attr-defined]


def entry_fault(entry: zipfile.ZipInfo, least_bytes: int) -> str | None:
    """Say why an entry of a foreign zip must not be unpacked; None if it may.

    One that unpacks to over 200 times its size, which counts as `least_bytes` at least, is a bomb.
    """
    name = entry.orig_filename
    checks = {
        "has a control character in its name": any(ord(sign) < 32 for sign in name),
        "has a backslash in its name": "\\" in name,
        "is absolute": name.startswith("/"),
        "names a drive": re.match(r"[A-Za-z]:", name) is not None,
        "climbs out by '..'": ".." in name.split("/"),
        "is a symbolic link": stat.S_ISLNK(entry.external_attr >> 16),
        "is encrypted": bool(entry.flag_bits & 0x1),
        "is a bomb": entry.file_size > _MOST_RATIO * max(entry.compress_size, least_bytes),
    }
    return next((reason for reason, wrong in checks.items() if wrong), None)


def disk_error(error: BaseException) -> DiskFull | None:
    """Return what to tell of a disk or quota that is full; None for any other error."""
    if not isinstance(error, OSError) or error.errno not in (
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EFBIG,
    ):
        return None
    return disk_full()


def disk_full() -> DiskFull:
    """Return what to tell of a full disk."""
    return DiskFull("The disk is full, so nothing was saved.", "Make room on it, then try again.")


def network_file_system(folder: Path) -> str | None:
    """Return the kind of network file system on which a folder lies; None for a local disk.

    Only Linux tells.
    """
    try:
        lines = _MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    mounts = [
        (Path(_unescaped(line.split()[4])), line.partition(" - ")[2]) for line in lines if line
    ]
    place = folder.resolve()
    over = [
        (len(at.parts), row, kind)
        for row, (at, kind) in enumerate(mounts)
        if place.is_relative_to(at)
    ]
    if not over:
        return None
    kind = max(over)[2].split()[0]  # of several at one place the last is on top
    return _NETWORK.get(kind)


def _unescaped(path: str) -> str:
    """Return a path of the table of mounts, in which a space is an octal number."""
    return path.encode("latin-1", "replace").decode("unicode_escape")
