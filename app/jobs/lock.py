"""File locks that the kernel releases when the last process that holds them ends."""

import errno
import fcntl
import os
from pathlib import Path


def take_lock(path: Path) -> int | None:
    """Take a file's lock without waiting; return its descriptor, or None when it is held.

    A child that inherits the descriptor holds the lock too, even after its parent is killed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def is_free(path: Path) -> bool:
    """Whether no process holds a file's lock now."""
    descriptor = take_lock(path)
    if descriptor is None:
        return False
    os.close(descriptor)
    return True


def lacks_processes(error: OSError) -> bool:
    """Whether this machine had no room for one more process just now."""
    return error.errno in (errno.EAGAIN, errno.ENOMEM)
