"""Pictures of every page on a desk and on a phone, light and dark: `make screenshots`."""

import argparse
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from app.bootstrap import open_studio
from app.services.data.projects import create_sample
from app.services.training.runs import TrainingRequest, follow, start_training
from app.settings import Settings
from tests.browser.chromium import ARGUMENTS, find_chromium
from tests.builders.served_studio import Served

PAGES = {
    "projects": ("/", ".tiles a"),
    "data": ("/data?project=sample", "[data-role=utterances] tbody tr"),
    "label": ("/label?project=sample&order=helps", ".option"),
    "review": ("/review?project=sample", "[data-role=findings] button"),
    "map": ("/map?project=sample", ".map[data-ready=true]"),
    "train": ("/train?project=sample", "[data-role=verdict]"),
    "try": ("/try?project=sample&text=the+wifi+does+not+reach+my+bedroom", ".vote"),
    "versions": ("/versions?project=sample", "[data-role=models] > li"),
}
SIZES = {1280: 860, 390: 844}
SCHEMES = ("light", "dark")
IN_README = ("label", "map", "try", "review", "train")


def main() -> None:
    """Take the pictures; the five that the README shows go to docs/images, too."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=Path("build/screenshots"))
    folder = parser.parse_args().into
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        served = Served(prepared(Path(scratch) / "home")).start()
        try:
            take_all(served, folder)
        finally:
            served.stop()
    for name in IN_README:
        picture = (folder / f"{name}-1280-light.png").read_bytes()
        (Path("docs/images") / f"{name}.png").write_bytes(picture)
    print(f"{len(PAGES) * len(SIZES) * len(SCHEMES)} pictures in {folder}")  # noqa: T201


def prepared(home: Path) -> Path:
    """Make a studio with the sample, its instant model, and a tuned one that waits."""
    studio = open_studio(Settings(home=home, device="cpu"))
    create_sample(studio, "sample")
    for recipe in ("instant", "convfit"):
        job = start_training(studio, TrainingRequest("sample", recipe, {}, gate=False))
        for _ in follow(studio, job.id):
            pass
    studio.database.close()
    return home


def take_all(served: Served, folder: Path) -> None:
    """Take every page in every size and scheme."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        wait_for_clear_map(open_page(browser, served, (1280, SIZES[1280]), "light"), served)
        for width, height in SIZES.items():
            for scheme in SCHEMES:
                page = open_page(browser, served, (width, height), scheme)
                for name, (path, wanted) in PAGES.items():
                    page.goto(served.base + path)
                    page.wait_for_selector(wanted, timeout=60_000)
                    page.wait_for_timeout(700)
                    whole = name != "label" and name != "map"
                    page.screenshot(
                        path=folder / f"{name}-{width}-{scheme}.png", full_page=whole or width < 500
                    )
        browser.close()


def wait_for_clear_map(page: Page, served: Served) -> None:
    """Wait until the map that follows the first sketch is offered."""
    page.goto(served.base + PAGES["map"][0])
    page.locator("[data-role=map-offer] button").wait_for(timeout=120_000)
    page.context.close()


def open_page(browser: Browser, served: Served, size: tuple[int, int], scheme: str) -> Page:
    """Open a browser on the studio."""
    width, height = size
    context = browser.new_context(viewport={"width": width, "height": height})
    page = context.new_page()
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(served.address)
    return page


if __name__ == "__main__":
    main()
