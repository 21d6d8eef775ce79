"""Scripts, styles, fonts and icons, at an address that changes with their content."""

import hashlib
import os
from functools import cache
from importlib.resources import files
from pathlib import Path

from fastapi.staticfiles import StaticFiles
from starlette.responses import Response
from starlette.types import Scope

MOUNTED = "/studio"
_KEPT = "private, max-age=31536000, immutable"
_ASKED = "no-cache"


class AssetFiles(StaticFiles):
    """Serves the package `assets`; a path may begin with the fingerprint of all files.

    With the fingerprint a browser keeps a file for a year. Without it, it asks each time whether
    the file has changed: a page must never run scripts of an older version of the studio.
    """

    def __init__(self) -> None:
        super().__init__(packages=[("assets", ".")])

    def get_path(self, scope: Scope) -> str:
        """Return the path within the package."""
        path = super().get_path(scope)
        return path.removeprefix(fingerprint() + os.sep)

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Answer with the file, and for how long it may be kept."""
        response = await super().get_response(path, scope)
        named = f"/{fingerprint()}/" in scope["path"]
        response.headers["Cache-Control"] = _KEPT if named else _ASKED
        return response


@cache
def fingerprint() -> str:
    """Return twelve hexadecimal digits that change when any file of `assets` changes."""
    root = Path(str(files("assets")))
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        if path.is_file() and path.suffix not in {".py", ".pyc"}:
            digest.update(str(path.relative_to(root)).encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:12]


def asset_address(path: str) -> str:
    """Return the address of a file such as `css/home.css`, which browsers keep for a year."""
    return f"{MOUNTED}/{fingerprint()}/{path}"
