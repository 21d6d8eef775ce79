"""Where this machine's Chromium is, and how it draws without a screen."""

import shutil

ARGUMENTS = [
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]
"""WebGL, which the map needs, computed by the CPU."""

_NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium() -> str | None:
    """Return the path of this machine's Chromium."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)
