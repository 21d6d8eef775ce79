"""Acts that are killed in a process of their own, and whether a home is sound afterwards."""

import multiprocessing
import signal
from collections.abc import Callable

from app.services.studio import Studio
from app.services.upkeep import examine


def die_in_a_fork(act: Callable[..., None], *given: object) -> None:
    """Do an act, which kills its process, in a fork; that knows the libraries already.

    It opens a home anew, so that nobody else has one open.
    """
    child = multiprocessing.get_context("fork").Process(target=act, args=given)
    child.start()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL


def sound(studio: Studio) -> bool:
    """Whether the database and its data are whole."""
    return all(part.healthy for part in examine(studio) if part.subject in ("database", "data"))
