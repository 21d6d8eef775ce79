"""Files that a route writes for one answer, and forgets once they are sent."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

BYTES: dict[int | str, dict[str, Any]] = {
    200: {"description": "Bytes", "content": {"application/octet-stream": {}}}
}
"""How the schema tells of an answer that is no JSON."""


def download(name: str, write: Callable[[Path], object]) -> FileResponse:
    """Let a file be written, and send it under a name; what that raises is the answer instead.

    On disk it has a name of our own: a project's may be longer than file systems allow.
    """
    folder = tempfile.TemporaryDirectory(prefix="download-")
    out = Path(folder.name) / "file"
    try:
        write(out)
    except BaseException:
        folder.cleanup()
        raise
    return FileResponse(out, filename=name, background=BackgroundTask(folder.cleanup))
