"""Where this machine's Chromium is, and how it draws without a screen."""

import shutil

ARGUMENTS = [
    "--no-sandbox",
    "--enable-unsafe-swiftshader",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
"""WebGL, which the map needs, by the CPU; whole pages drawn that way take twice as long.

No name leads anywhere: what a page asks of another host fails as on a machine without a network.
"""

_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def find_chromium() -> str | None:
    """Return the path of this machine's Chromium.

    Its headless shell is preferred: without windows and their toolbars, which are pages, too, a
    page costs 1.0 instead of 2.2 seconds of processor.
    """
    return next((path for name in _NAMES if (path := shutil.which(name))), None)
