"""Where this machine's Chromium is, and how it draws without a screen."""

import shutil

ARGUMENTS = ["--no-sandbox", "--enable-unsafe-swiftshader"]
"""WebGL, which the map needs, by the CPU; whole pages drawn that way take twice as long."""

_NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium() -> str | None:
    """Return the path of this machine's Chromium."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)
