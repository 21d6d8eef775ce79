"""The server and the browser of a measurement, and the clocks inside the page."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.chromium import ARGUMENTS, find_chromium
from tests.builders.served_studio import Served

PATIENCE_MS = 60_000

CLOCKS = Path(__file__).with_name("clocks.js")


@dataclass(frozen=True, slots=True)
class Figure:
    """What was measured, against what it should be; milliseconds.

    Attributes:
        home: What it was measured on.
        what: In words.
        samples: All of them.
        limit: That the judged one may reach, or None.
        judged: Percentile that is held against the limit.
    """

    home: str
    what: str
    samples: Sequence[float]
    limit: float | None = None
    judged: int = 95

    def at(self, percentile: float) -> float:
        """Return a percentile of the samples."""
        return float(np.percentile(np.asarray(self.samples), percentile))

    @property
    def kept(self) -> bool:
        """Whether the limit is kept."""
        return self.limit is None or self.at(self.judged) <= self.limit

    def as_json(self) -> dict[str, object]:
        """Everything of it that a table shows."""
        shown = {f"p{p}": round(self.at(p), 1) for p in (50, 95, 100)}
        rest = {"limit": self.limit, "judged": self.judged, "kept": self.kept}
        return {"home": self.home, "what": self.what, "n": len(self.samples)} | shown | rest


@dataclass(frozen=True, slots=True)
class Place:
    """An open page, the server's address, and the name of the home."""

    page: Page
    url: str
    home: str


@contextmanager
def served(home: Path) -> Iterator[Served]:
    """Serve a studio to everybody on this machine; end it afterwards."""
    studio = Served(home, asks_token=False, watched=False).start()
    try:
        yield studio
    finally:
        studio.stop()


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the system's Chromium without a window, drawing in software."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def page_of(browser: Browser) -> Iterator[Page]:
    """Open a page with clocks and with nothing cached."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.add_init_script(path=CLOCKS)
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    try:
        yield page
    finally:
        context.close()


def table(figures: Sequence[Figure]) -> str:
    """Write figures as text, the limit that is missed with a mark."""
    lines = [f"{'':9}{'p50':>8}{'p95':>8}{'worst':>8}{'limit':>8}{'n':>5}  what"]
    for one in figures:
        shown = "".join(f"{one.at(p):8.0f}" for p in (50, 95, 100))
        limit = "" if one.limit is None else f"{one.limit:.0f}"
        mark = "" if one.kept else "  <- missed"
        lines.append(f"{one.home:9}{shown}{limit:>8}{len(one.samples):5}  {one.what}{mark}")
    return "\n".join(lines)
