"""Replace a file as a whole or not at all."""

import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from core.errors import InvalidInput


def write_atomically(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a new file beside the old one and put it in its place once it is safe on disk.

    A failure of the disk or of `pieces` leaves the old file as it was, and no other.

    Raises:
        InvalidInput: The folder does not exist or cannot be written to, or the disk is full.
    """
    target = path.resolve()  # a link goes on pointing to the file
    if target.is_dir():
        raise InvalidInput(f"{path} is a folder.", "Name a file in it.")
    if not target.parent.is_dir():
        raise InvalidInput(f"There is no folder {target.parent}.", "Make it first.")
    temporary = target.with_name(f".{target.name[:80]}.{secrets.token_hex(6)}.part")
    try:
        _write(temporary, pieces)
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o777)
        temporary.replace(target)
        _sync_folder(target.parent)
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be written: {error.strerror}.",
            "Check the free space and the permissions of the folder.",
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def _write(temporary: Path, pieces: Iterable[bytes]) -> None:
    with temporary.open("xb") as stream:
        stream.writelines(pieces)
        stream.flush()
        os.fsync(stream.fileno())


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a loss of power, where folders can be synchronised."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
