"""The watch over a studio's sockets sees what it is there to see."""

import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import watched_pages
from tests.browser.contexts import ContextPool
from tests.builders.held_answers import hold
from tests.builders.served_studio import Served, environment


def test_whom_a_studio_asks_is_written_down_and_not_reached(tmp_path: Path) -> None:
    script = "import socket; socket.create_connection(('192.0.2.1', 80), 1)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment(tmp_path / "home"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "no test may reach '192.0.2.1'" in done.stderr
    [stranger] = Served(tmp_path / "home").strangers()
    assert stranger.startswith("socket.getaddrinfo '192.0.2.1'")


@pytest.mark.parametrize("elsewhere", ["http://example.org/", "http://127.0.0.1:9/"])
def test_a_page_that_asks_elsewhere_is_noticed(
    studio: Served, contexts: ContextPool, elsewhere: str
) -> None:
    """Whatever it asks of others fails, and the test is told of what failed."""

    def asks() -> None:
        with watched_pages(contexts) as open_page:
            open_page(studio).evaluate(
                "address => new Promise(done => { const one = new Image(); "
                "one.onerror = () => done(); one.src = address; })",
                elsewhere,
            )

    with pytest.raises(AssertionError, match=elsewhere):
        asks()


def test_what_a_test_leaves_held_reaches_nobody(studio: Served, contexts: ContextPool) -> None:
    """It was let through: its answer led the page away while it was closed, which never ended."""
    with watched_pages(contexts) as open_page:
        page = open_page(studio)
        made = hold(page, "**/api/projects", "POST")
        page.get_by_role("textbox", name="Name").fill("left held")
        page.get_by_role("button", name="Create project", exact=True).click()
        made.arrived()
    assert page.is_closed()
    assert "left held" not in studio.ask("/project-names")


def test_a_page_reaches_no_other_host(chromium: Browser) -> None:
    page = chromium.new_page()
    for elsewhere in ("http://example.org/", "http://192.0.2.1/"):
        page.evaluate("address => { window.asked = address; }", elsewhere)
        refused = "() => fetch(window.asked, {mode: 'no-cors'}).then(() => 'ok', String)"
        assert "Failed to fetch" in page.evaluate(refused)
    page.close()
