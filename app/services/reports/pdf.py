"""Print a page as a PDF with this machine's Chromium, Chrome or Edge."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from app.settings import Settings
from core.errors import InvalidInput, RunFailed

_NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
    "chromium-headless-shell",
    "chrome-headless-shell",
)
_PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)
_ARGUMENTS = (
    "--headless",
    "--disable-gpu",
    "--disable-extensions",
    "--disable-background-networking",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND",  # printing needs no network
    "--no-pdf-header-footer",
)
_PATIENCE_SECONDS = 60.0
_SHORT = Path("/tmp")


def find_browser(settings: Settings) -> Path:
    """Find a Chromium: in STUDIO_CHROMIUM, else on the PATH, else in its usual place.

    Raises:
        InvalidInput: There is none, or STUDIO_CHROMIUM names a missing file.
    """
    if settings.chromium is not None:
        if settings.chromium.is_file():
            return settings.chromium
        raise InvalidInput(
            f"STUDIO_CHROMIUM names {settings.chromium}, and there is no such file.",
            "Name a Chromium, Chrome or Edge.",
        )
    for place in _candidates():
        if place.is_file():
            return place
    raise InvalidInput(
        "A PDF needs Chromium, Chrome or Edge, and this machine has none of them.",
        "Install one (apt-get install chromium), name it in STUDIO_CHROMIUM, or print the page.",
    )


def _candidates() -> Iterator[Path]:
    yield from (Path(found) for name in _NAMES if (found := shutil.which(name)))
    yield from map(Path, _PLACES)


def print_pdf(settings: Settings, page: str, out: Path) -> None:
    """Write a page of HTML as a PDF; nobody can unfold what is folded on paper.

    Raises:
        InvalidInput: There is no browser.
        RunFailed: The browser did not print.
    """
    browser = find_browser(settings)
    with tempfile.TemporaryDirectory(prefix="print-") as folder:
        source, made = Path(folder) / "page.html", Path(folder) / "page.pdf"
        source.write_text(page.replace("<details", "<details open"), encoding="utf-8")
        command = [str(browser), *_ARGUMENTS, f"--user-data-dir={folder}/profile"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.append("--no-sandbox")  # Chromium does not start as root otherwise
        said = _run([*command, f"--print-to-pdf={made}", source.as_uri()])
        if not made.is_file() or not made.read_bytes().startswith(b"%PDF"):
            raise RunFailed(f"{browser.name} did not print the page.", said[-300:])
        shutil.move(made, out)


def _run(command: list[str]) -> str:
    # The browser creates a socket in the temporary folder; a socket's path has at most 107 bytes.
    place = {"TMPDIR": str(_SHORT)} if _SHORT.is_dir() else {}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            timeout=_PATIENCE_SECONDS,
            check=False,
            env={**os.environ, **place},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RunFailed("The browser that prints did not come to an end.", str(error)) from error
    return done.stderr.decode(errors="replace")
