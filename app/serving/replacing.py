"""Notice that a bundle's file was replaced by another one."""

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from app.log_lines import places_of
from core.errors import StudioError

_LOG = logging.getLogger("app.serving")

Stamp = tuple[int, int, int]
"""What changes with a file: its number on the disk, the time of its last change, its bytes."""


@dataclass(slots=True)
class Reloads:
    """New bundles of one model: those that answer since, and those that were refused."""

    taken: int = 0
    refused: int = 0


def stamp_of(path: Path) -> Stamp | None:
    """Return the stamp of a file; None where there is none at the moment."""
    try:
        found = path.stat()  # behind a link that was turned, another file
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


async def watch(
    path: Path, known: Stamp | None, seconds: float, take: Callable[[], Awaitable[None]]
) -> None:
    """Call `take` whenever a file is another than before, and was the same at two looks.

    A file that is still being written changes from one look to the next, `seconds` later. What
    cannot be taken is logged, and the next file is waited for.
    """
    before = known
    while True:
        await asyncio.sleep(seconds)
        now = stamp_of(path)
        if now is None or now == known or now != before:
            before = now
            continue
        known = now
        try:
            await take()
        except StudioError as error:
            _LOG.error("%s cannot be served: %s The earlier model goes on.", path, error.message)
        except Exception as error:  # noqa: BLE001 - the earlier model goes on
            incident, places = uuid.uuid4().hex[:8], "\n    ".join(places_of(error))
            _LOG.error("incident %s while %s was opened\n    %s", incident, path, places)
