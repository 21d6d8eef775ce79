"""A file that a command reads: by its path, or `-` for standard input."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_STANDARD_INPUT = "-"


@contextmanager
def given_file(path: Path) -> Iterator[Path]:
    """Yield a path to read; for `-`, a copy of standard input that is deleted afterwards.

    Formats are recognised by the beginning of a file and then read from its start, which a pipe
    does not allow.
    """
    if str(path) != _STANDARD_INPUT:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="given-") as folder:
        copy = Path(folder) / "standard-input"
        with copy.open("wb") as out:
            shutil.copyfileobj(sys.stdin.buffer, out)
        yield copy
