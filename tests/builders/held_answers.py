"""Answers that come late: held back until a test lets them through."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Error, Page, Request, Route

_PATIENCE = 60.0
_REST_MS = 1000
_PROBE = "/api/health/live"  # the server answers it by 200
_CAUGHT = 204
_STATE = """() => ({
  focus: document.activeElement?.outerHTML.slice(0, 120),
  messages: [...document.querySelectorAll('.toast')].map(one => one.innerText),
})"""


@dataclass
class Held:
    """What a page asked for and has not been answered.

    Attributes:
        page: The page that waits.
        routes: Its questions, in the order in which they were asked.
    """

    page: Page
    routes: list[Route] = field(default_factory=list)

    def arrived(self, count: int = 1) -> None:
        """Wait until as many questions have been asked as `count` says."""
        limit = time.monotonic() + _PATIENCE
        while len(self.routes) < count:
            if time.monotonic() > limit:
                asked = f"{len(self.routes)} of {count} questions were asked"
                raise AssertionError(f"{asked}; the page: {self.page.evaluate(_STATE)}")
            self.page.wait_for_timeout(20)

    def release(self, place: int = 0) -> None:
        """Let one question through, and wait until the page has had its answer."""
        route = self.routes.pop(place)
        with self.page.expect_event("requestfinished", lambda done: done == route.request):
            route.fallback()
        settle(self.page)

    def let_through(self, until: Callable[[], bool]) -> None:
        """Let all questions through that are asked, and those that follow, until it is done."""
        limit = time.monotonic() + _PATIENCE
        while not until():
            assert time.monotonic() < limit, self.page.evaluate(_STATE)
            if self.routes:
                self.release()
            else:
                self.page.wait_for_timeout(20)

    def answered(self, place: int = 0) -> Callable[[], None]:
        """Let the server answer one question now; return what gives the page that answer."""
        route = self.routes.pop(place)
        response = route.fetch()

        def give() -> None:
            with self.page.expect_event("requestfinished", lambda done: done == route.request):
                route.fulfill(response=response)
            settle(self.page)

        return give


_HELD: dict[Page, list[Held]] = {}
"""What tests have held of each page that is open."""


def hold(page: Page, part: str, method: str = "GET", most: int = 100) -> Held:
    """Hold back the first questions of a method whose address matches a pattern.

    Args:
        page: The page whose questions they are.
        part: What the address has to match, as Playwright's globs do.
        method: Which of them; the others go through.
        most: How many are held; those after them go through.
    """
    held = Held(page)
    _HELD.setdefault(page, []).append(held)
    seen: list[Any] = []

    def keep(route: Route) -> None:
        if route.request.method != method or len(seen) >= most:
            route.fallback()
            return
        seen.append(route)
        held.routes.append(route)

    reroute(page, part, keep)
    return held


def give_up(page: Page) -> None:
    """Let the questions fail that a test has left held.

    Chromium lets them through when a page's routes are taken away. An answer may then lead the page
    to another address while it is being closed, and Chromium waits for it for ever.
    """
    for held in _HELD.pop(page, []):
        while held.routes:
            with suppress(Error):  # its page is gone, or a test has answered it
                held.routes.pop().abort()


def reroute(page: Page, part: str, handler: Callable[[Route], Any]) -> None:
    """Give a test the requests of an open page whose address matches a pattern.

    Chromium confirms the first route of an open page a moment before its requests take the new way.
    A key pressed in that moment sent its question past the test, once in some hundred times. This
    returns when a question of its own has been caught.
    """
    page.route(part, handler)
    page.route(f"**{_PROBE}", lambda route: route.fulfill(status=_CAUGHT))
    limit = time.monotonic() + _PATIENCE
    while page.evaluate("path => fetch(path).then(answer => answer.status)", _PROBE) != _CAUGHT:
        assert time.monotonic() < limit, "requests do not go through the page's routes"
    page.unroute(f"**{_PROBE}")


def rest(page: Page) -> None:
    """Wait until the page has asked for nothing but its status for a second."""
    asked: list[Request] = []

    def note(request: Request) -> None:
        if not request.url.endswith("/status"):
            asked.append(request)

    page.on("request", note)
    limit, n = time.monotonic() + _PATIENCE, -1
    while len(asked) > n:
        assert time.monotonic() < limit, [one.url for one in asked]
        n = len(asked)
        page.wait_for_timeout(_REST_MS)
    page.remove_listener("request", note)


def settle(page: Page) -> None:
    """Let the page do what an answer brought: its promises, and one drawing."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
