"""Browsers that look at a served studio, and refuse to ask anything of anywhere else."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Dialog,
    Error,
    Frame,
    Page,
    Request,
    expect,
    sync_playwright,
)

from app.bootstrap import open_studio
from app.services.data.bulk import BulkAct, Edit
from app.services.data.history import undo_last
from app.services.data.projects import create_sample
from app.services.data.utterances import change_many
from app.services.training.runs import TrainingRequest
from app.settings import Settings
from storage.queries import dataset
from storage.queries.utterances import Filter
from tests.browser.chromium import ARGUMENTS, find_chromium
from tests.browser.contexts import ContextPool
from tests.builders.served_studio import Served, StudioPool, copy_home
from tests.builders.traffic.two_weeks import two_weeks
from tests.builders.trained_home import EVERY_TEXT, group_here, lay_out_here, train_here
from tests.waiting import wait_until

# How long a page may take to show what must come: a busy machine is no fault of the page.
_PATIENCE_MS = 60_000
_DESK = {"width": 1280, "height": 900}
_NOBODY = ("data:", "blob:", "about:", "chrome-error:")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """One Chromium for all pages' tests."""
    path = find_chromium()
    if path is None and os.environ.get("BROWSER_TESTS") == "required":
        pytest.fail("There is no Chromium: apt-get install chromium")
    if path is None:
        pytest.skip("There is no Chromium on this machine: apt-get install chromium")
    expect.set_options(timeout=_PATIENCE_MS)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


def _made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Let the first of the test processes make a home for all of them, and return it."""
    own = factory.getbasetemp()
    shared = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / name
    shared.mkdir(exist_ok=True)
    home, making = shared / "home", shared / "making"
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not home.exists():
            make(making)
            making.rename(home)
    return home


@pytest.fixture(scope="package")
def sample_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample project with an instant model and a clear map of it; to be copied, not used."""

    def make(home: Path) -> None:
        studio = open_studio(Settings(home=home, device="cpu"))
        create_sample(studio, "sample")
        train_here(studio, TrainingRequest("sample", "instant", {}))
        lay_out_here(studio, "sample")  # else each visit of the map would start UMAP
        group_here(studio, "sample")
        studio.database.close()

    return _made_once(tmp_path_factory, "sample", make)


@pytest.fixture(scope="package")
def twice_home(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample with a second version that waits, better at some texts and worse at others.

    It learned from three sevenths of the labels alone, which have come back since, and its head
    cannot take them in before a training. To be copied, not used.
    """

    def make(home: Path) -> None:
        studio = open_studio(Settings(home=copy_home(sample_home, home), device="cpu"))
        with studio.database.read() as connection:
            rows = sorted(dataset.utterances(connection, 1, "train"), key=lambda row: row.text)
        ids = tuple(row.id for place, row in enumerate(rows) if place % 7 > 2)
        act = BulkAct(len(ids), EVERY_TEXT)
        change_many(studio, "sample", Filter(ids=ids), Edit("unlabel"), act)
        linear: dict[str, object] = {"head": {"kind": "linear"}}
        train_here(studio, TrainingRequest("sample", "instant", linear, gate=False))
        undo_last(studio, "sample")
        studio.database.close()

    return _made_once(tmp_path_factory, "twice", make)


@pytest.fixture(scope="package")
def studios() -> StudioPool:
    return StudioPool()


@pytest.fixture(scope="module")
def serve_copy(
    tmp_path_factory: pytest.TempPathFactory, studios: StudioPool
) -> Iterator[Callable[[Path], Served]]:
    """Serve a copy of a home to all tests of a file."""
    with ExitStack() as running:
        yield lambda home: running.enter_context(
            studios.serving(copy_home(home, tmp_path_factory.mktemp("served") / "home"))
        )


@pytest.fixture(scope="module")
def studio(sample_home: Path, serve_copy: Callable[[Path], Served]) -> Served:
    """One running studio with the sample for all tests of a file."""
    return serve_copy(sample_home)


@pytest.fixture(scope="module")
def talked(sample_home: Path, serve_copy: Callable[[Path], Served]) -> Served:
    """The sample with two weeks of traffic."""
    served = serve_copy(sample_home)
    texts = [asdict(one) for one in two_weeks()]
    served.ask("/projects/sample/traffic", {"texts": texts})
    return served


@pytest.fixture
def foretold(studio: Served) -> None:
    """Wait until the studio knows what each remedy changes, and counts no finding again.

    Until then findings stand in another order, and a remedy that harms has a key.
    """

    def is_known() -> bool:
        review = studio.ask("/projects/sample/review?limit=1")
        return bool(review["effects"] and not review["recounted"])

    wait_until(is_known, "what each remedy changes is known")


@pytest.fixture(scope="module")
def twice(twice_home: Path, serve_copy: Callable[[Path], Served]) -> Served:
    """The sample with a second version that waits."""
    return serve_copy(twice_home)


@pytest.fixture
def serve(
    tmp_path: Path, sample_home: Path, studios: StudioPool
) -> Iterator[Callable[..., Served]]:
    """Serve a copy of the sample's studio, or an empty one; the sample's as a user starts it."""
    with ExitStack() as running:

        def start(*, empty: bool = False, sample: bool = False) -> Served:
            home = tmp_path / f"home-{len(list(tmp_path.glob('home-?')))}"
            if not empty:
                copy_home(sample_home, home)
            return running.enter_context(studios.serving(home, sample=sample))

        yield start


@pytest.fixture(scope="package")
def contexts(chromium: Browser) -> ContextPool:
    return ContextPool(chromium)


@pytest.fixture
def visit(contexts: ContextPool) -> Iterator[Callable[..., Page]]:
    """Open a browser of its own on a studio; whatever it asks of elsewhere fails the test."""
    with watched_pages(contexts) as open_page:
        yield open_page


@pytest.fixture(scope="module")
def visit_once(contexts: ContextPool) -> Iterator[Callable[..., Page]]:
    """Open a page that the tests of a file share, watched like that of `visit`."""
    with watched_pages(contexts) as open_page:
        yield open_page


def _of_the_page_alone(settings: dict[str, Any]) -> tuple[Any, Any]:
    """Take size and colours out of settings: a context for each would load all scripts anew."""
    size = settings.get("viewport", _DESK)
    if not settings.get("is_mobile"):
        settings["viewport"] = _DESK
    settings.setdefault("reduced_motion", "reduce")  # colours are measured, not their change
    return size, settings.pop("color_scheme", None)


@contextmanager
def watched_pages(contexts: ContextPool) -> Iterator[Callable[..., Page]]:
    used: list[tuple[BrowserContext, dict[str, Any], str]] = []
    strangers: list[str] = []
    troubles: list[str] = []
    watching = ExitStack()  # what fails while a page is closed is no trouble

    def decide(dialog: Dialog) -> None:
        """Leave a page that asks whether to stay; no page has another reason to ask."""
        if dialog.type != "beforeunload":
            troubles.append(dialog.message)
        dialog.accept()

    def hear(error: Error) -> None:
        troubles.append(str(error))

    def open_page(served: Served, path: str = "/", **settings: Any) -> Page:
        size, colours = _of_the_page_alone(settings)
        context = contexts.take(settings)
        context.set_default_timeout(_PATIENCE_MS)
        used.append((context, settings, served.base))

        def look(asked: Request | Frame) -> None:
            if not asked.url.startswith((served.base, *_NOBODY)):
                strangers.append(asked.url)

        # Chromium finds no other host, and the studio's pages may ask none: what they ask of one
        # fails. To be told of each request would cost as much as a tenth of each page, and a route
        # that decides about each would switch off Chromium's cache: three times as much.
        context.on("requestfailed", look)
        watching.callback(context.remove_listener, "requestfailed", look)
        page = context.new_page()
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=colours)
        page.on("framenavigated", look)
        page.on("pageerror", hear)
        watching.callback(page.remove_listener, "pageerror", hear)
        page.on("dialog", decide)
        page.goto(f"{served.base}{path}{'&' if '?' in path else '?'}token={served.token}")
        page.wait_for_selector(".studio h1")
        return page

    with watching:
        yield open_page
    for context, settings, origin in used:
        contexts.give_back(context, settings, origin)
    assert strangers == []
    assert troubles == []


@pytest.fixture(scope="module")
def shared_map(visit_once: Callable[..., Page], studio: Served) -> Page:
    """The map of the sample for all tests of a file that do not need another one."""
    page = visit_once(studio, "/map?project=sample")
    page.wait_for_selector(".map[data-ready=true]")
    return page
