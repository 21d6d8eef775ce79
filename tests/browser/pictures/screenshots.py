"""Pictures of every page on a desk and on a phone, light and dark: `make screenshots`."""

import argparse
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from app.bootstrap import open_studio
from app.services.data.projects import create_project, create_sample
from app.services.data.utterances import load_page
from app.services.discover.runs import start_grouping
from app.services.live.live_studio import open_live_studio
from app.services.review.proposals.proposing import ProposedChange, propose
from app.services.studio import Studio
from app.services.traffic.receiving import receive_traffic
from app.services.training.runs import TrainingRequest, follow, start_training
from app.services.what_if.repairs import Repair
from app.settings import Settings
from storage import projects
from storage.queries import utterances
from tests.browser.chromium import ARGUMENTS, find_chromium
from tests.browser.pictures.shots import EMPTY_HOME, PAGES, SETTLING_MS, Shot
from tests.builders.conversation_logs import with_conversations
from tests.builders.served_studio import Served
from tests.builders.slotted_project import with_values
from tests.builders.traffic.two_weeks import two_weeks

SIZES = {1280: 860, 390: 844}
SCHEMES = ("light", "dark")
HIGHEST = 1760  # pixels of a picture: what lies further down is read by nobody
PHONE = 500  # narrower windows, in pixels, are those of phones, on which a finger presses
IN_README = ("label", "map", "try", "review", "train")
README = Path("docs/images")


@dataclass(frozen=True)
class Camera:
    """Takes pictures of one studio in one size.

    Attributes:
        served: The studio.
        width: Of the window, in pixels.
        folder: Where the pictures go.
    """

    served: Served
    width: int
    folder: Path

    def take(self, page: Page, name: str, shot: Shot) -> Iterator[Path]:
        """Bring a page into its state, and take it in every scheme."""
        page.set_viewport_size(self._window)
        page.emulate_media(color_scheme="light")
        page.goto(self.served.base + shot.path)
        page.wait_for_selector(shot.wanted, timeout=60_000)
        if shot.act:
            shot.act(page)
        if shot.whole or self.width < PHONE:
            self._unroll(page)
        for scheme in SCHEMES:
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            page.wait_for_timeout(SETTLING_MS)
            picture = self.folder / f"{name}-{self.width}-{scheme}.png"
            page.screenshot(path=picture, animations="disabled")  # or caught between two schemes
            yield picture

    @property
    def _window(self) -> ViewportSize:
        return {"width": self.width, "height": SIZES[self.width]}

    def _unroll(self, page: Page) -> None:
        """Make the window as high as the page, so that bars that stay in sight lie at its edges."""
        page.wait_for_timeout(SETTLING_MS)
        height = int(page.evaluate("document.documentElement.scrollHeight"))
        page.set_viewport_size({**self._window, "height": min(height, HIGHEST)})

    def open_page(self, browser: Browser) -> Page:
        """Open a browser on the studio."""
        phone = self.width < PHONE
        context = browser.new_context(viewport=self._window, has_touch=phone, is_mobile=phone)
        page = context.new_page()
        page.goto(self.served.address)
        return page


def main() -> None:
    """Take the pictures; a whole round puts the five that the README shows into docs/images."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=Path("build/screenshots"))
    parser.add_argument(
        "--home", type=Path, help="Keep the studios in this folder for other rounds."
    )
    parser.add_argument("--width", type=int, choices=SIZES, action="append")
    parser.add_argument("names", nargs="*", help="Which pictures; all without one.")
    chosen = parser.parse_args()
    chosen.into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        homes = chosen.home or Path(scratch)
        taken = list(take_all(homes, chosen.into, chosen.names, chosen.width or list(SIZES)))
    if not chosen.names and not chosen.width:
        for name in IN_README:
            picture = (chosen.into / f"{name}-1280-light.png").read_bytes()
            (README / f"{name}.png").write_bytes(picture)
    print(f"{len(taken)} pictures in {chosen.into}")  # noqa: T201


def take_all(
    homes: Path, folder: Path, names: Iterable[str], widths: Iterable[int]
) -> Iterator[Path]:
    """Take the pictures of these names, or all, in these widths."""
    wanted = set(names) or {*PAGES, *EMPTY_HOME}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        for home, shots in ((prepared(homes / "sample"), PAGES), (homes / "empty", EMPTY_HOME)):
            chosen = {name: shot for name, shot in shots.items() if name in wanted}
            if not chosen:
                continue
            with serving(home) as served:
                if "map" in chosen:
                    wait_for_clear_map(Camera(served, 1280, folder).open_page(browser), served)
                for width in widths:
                    yield from take_each(browser, Camera(served, width, folder), chosen)
        browser.close()


def take_each(browser: Browser, camera: Camera, shots: Mapping[str, Shot]) -> Iterator[Path]:
    """Take pictures in one size."""
    page = camera.open_page(browser)
    for name, shot in shots.items():
        yield from camera.take(page, name, shot)
    page.context.close()


@contextmanager
def serving(home: Path) -> Iterator[Served]:
    """Serve a home."""
    served = Served(home).start()
    try:
        yield served
    finally:
        served.stop()


def prepared(home: Path) -> Path:
    """Make a studio unless it is there.

    The sample has an instant version, a tuned one that waits, two weeks of traffic, and proposals
    of an agent. A second project has marked values, a third one conversations, and a fourth one
    nothing.
    """
    if home.exists():
        return home
    studio = open_studio(Settings(home=home, device="cpu"))
    create_sample(studio, "sample")
    for recipe in ("instant", "convfit"):
        job = start_training(studio, TrainingRequest("sample", recipe, {}, gate=None))
        for _ in follow(studio, job.id):
            pass
    with_values(studio, "travel")
    with tempfile.TemporaryDirectory() as scratch:
        with_conversations(studio, Path(scratch), name="shop")
    create_project(studio, "new")
    for _ in follow(studio, start_grouping(studio, "sample").id):
        pass
    receive_traffic(open_live_studio(studio), "sample", list(two_weeks()), mask=True)
    with_proposals(studio)
    studio.database.close()
    return home


def with_proposals(studio: Studio) -> None:
    """Let an agent propose a label and an example."""
    with studio.database.read() as connection:
        keys = utterances.intent_ids(connection, projects.find(connection, "sample").id)
    text = load_page(
        studio, "sample", utterances.Filter("landed"), "oldest", utterances.Page(0, 1)
    ).rows[0]
    label = Repair("relabel", (text.id,), (keys["slow_internet"],))
    add = Repair("add", (), (keys["wifi_coverage"],), value="no bars at all in the attic")
    reasons = {label: "The similar texts ask about it.", add: "No example says attic."}
    propose(studio, "sample", "Agent 7", [ProposedChange(*one) for one in reasons.items()])


def wait_for_clear_map(page: Page, served: Served) -> None:
    """Wait until the map that follows the first sketch is offered."""
    page.goto(served.base + PAGES["map"].path)
    offer = page.locator("[data-role=map-offer] button")
    offer.or_(page.get_by_text("Clearer map: ")).first.wait_for(timeout=120_000)
    page.context.close()


if __name__ == "__main__":
    main()
