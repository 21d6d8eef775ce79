"""Files that a route writes for one answer and deletes after sending."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

BYTES: dict[int | str, dict[str, Any]] = {
    200: {"description": "Bytes", "content": {"application/octet-stream": {}}}
}
"""The schema's description of a binary answer."""


def download(name: str, write: Callable[[Path], object]) -> FileResponse:
    """Write a file, and send it under a name; errors of `write` become the answer.

    The file on disk has a fixed name, because a project's name may be too long for file systems.
    """
    folder = tempfile.TemporaryDirectory(prefix="download-")
    out = Path(folder.name) / "file"
    try:
        write(out)
    except BaseException:
        folder.cleanup()
        raise
    return FileResponse(out, filename=name, background=BackgroundTask(folder.cleanup))
