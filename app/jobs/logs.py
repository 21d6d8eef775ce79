"""The log of a job's process: rotated at 4 MB, and never without its end."""

import os
import time
from pathlib import Path

_LIMIT_BYTES = 4 << 20
_TAIL_BYTES = 8_000
_LOOK_SECONDS = 1.0
_OUT, _ERR = 1, 2


def rotate_own_log(log: Path) -> None:
    """Rotate the log of this process whenever it has grown to 4 MB; runs in a thread."""
    while log.exists():
        time.sleep(_LOOK_SECONDS)
        if log.stat().st_size > _LIMIT_BYTES:
            rotate(log)


def rotate(log: Path) -> None:
    """Rename the log of this process, and print to a new file from now on.

    Only the process that writes can rotate without losing lines: cutting a file that another
    process appends to loses what is written between the reading of its end and the cut.
    """
    log.replace(_older(log))
    with log.open("ab") as stream:
        for descriptor in (_OUT, _ERR):
            os.dup2(stream.fileno(), descriptor)


def end_of(log: Path) -> str:
    """Read the last 8,000 bytes that were printed, as text; empty where there is no log."""
    parts = [_tail(part) for part in (_older(log), log) if part.exists()]
    return b"".join(parts)[-_TAIL_BYTES:].decode(errors="replace")


def _older(log: Path) -> Path:
    return log.with_name(f"{log.name}.older")


def _tail(log: Path) -> bytes:
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - _TAIL_BYTES))
        return stream.read()
