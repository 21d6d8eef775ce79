"""Folders for work in progress; those that killed processes left behind are deleted."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.home import Places
from app.jobs.lock import is_free, take_lock

_NAME = "in-use-"
_FORMER_NAMES = ("import-", "serve-")
_LOCK = "in-use.lock"


@contextmanager
def scratch_folder(places: Places) -> Iterator[Path]:
    """Make a folder for one use, and delete it at the end."""
    sweep_scratch(places)
    places.scratch.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=".", dir=places.scratch))
    lock = take_lock(made / _LOCK)  # before it has its name, so that nobody sweeps it
    folder = made.rename(places.scratch / f"{_NAME}{made.name[1:]}")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def sweep_scratch(places: Places) -> None:
    """Delete the folders of processes that were killed."""
    for name in (_NAME, *_FORMER_NAMES):
        for folder in places.scratch.glob(f"{name}*"):
            if is_free(folder / _LOCK):
                shutil.rmtree(folder, ignore_errors=True)
