"""The log of a job's process: rotated at 4 MB without losing its end."""

import os
import time
from pathlib import Path

_LIMIT_BYTES = 4 << 20
_TAIL_BYTES = 8_000
_LOOK_SECONDS = 1.0
_OUT, _ERR = 1, 2


def rotate_own_log(log: Path) -> None:
    """Rotate this process's log whenever it exceeds 4 MB; runs in a thread."""
    while log.exists():
        time.sleep(_LOOK_SECONDS)
        if log.stat().st_size > _LIMIT_BYTES:
            rotate(log)


def rotate(log: Path) -> None:
    """Rename this process's log, and redirect output to a new file.

    Only the writing process can rotate without losing lines: if another process truncated the file,
    lines written between its read and the truncation would be lost.
    """
    log.replace(_older(log))
    redirect_output(log)


def redirect_output(log: Path) -> None:
    """Append what this process prints from now on to a file; one over 4 MB is set aside first."""
    log.parent.mkdir(parents=True, exist_ok=True)
    if log.exists() and log.stat().st_size > _LIMIT_BYTES:
        log.replace(_older(log))
    with log.open("ab") as stream:
        for descriptor in (_OUT, _ERR):
            os.dup2(stream.fileno(), descriptor)


def end_of(log: Path) -> str:
    """Read the last 8,000 bytes of output as text; empty without a log."""
    parts = [_tail(part) for part in (_older(log), log) if part.exists()]
    return b"".join(parts)[-_TAIL_BYTES:].decode(errors="replace")


def _older(log: Path) -> Path:
    return log.with_name(f"{log.name}.older")


def _tail(log: Path) -> bytes:
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - _TAIL_BYTES))
        return stream.read()
