"""The Try page while an answer is late: what is chosen and listed is that of the newest request."""

import time
from collections.abc import Callable
from urllib.parse import quote

import pytest
from playwright.sync_api import APIResponse, Page, Route, expect

from tests.builders.held_answers import hold, reroute, settle
from tests.builders.served_studio import Served

PINS = "/projects/sample/pins"
FIRST, SECOND = "xylophone quartz 1 1 1", "xylophone quartz 2 2 2"


def test_no_label_is_chosen_for_a_text_that_is_typed_on(
    visit: Callable[..., Page], studio: Served
) -> None:
    """A label chosen while the whole text was not answered was lost, or went to its beginning."""
    page = visit(studio, f"/try?project=sample&text={quote(FIRST)}")
    expected = page.get_by_label("Expected intent")
    expect(expected).to_be_visible()
    late = hold(page, "**/predict", "POST", most=1)
    page.get_by_label("Text to try").fill(f"{FIRST} again")
    late.arrived()
    expected.focus()
    expect(expected).not_to_be_focused()
    late.release()
    expect(page.locator(".acts:not([inert])")).to_be_visible()
    expected.select_option(label="roaming")
    page.wait_for_timeout(300)  # longer than the page waits before it asks
    expect(expected.locator("option:checked")).to_have_text("roaming")
    expect(page.get_by_role("button", name="Pin", exact=True)).to_be_enabled()


@pytest.mark.parametrize("address", ["/try?project=sample", "/review?project=sample&tab=pins"])
def test_a_late_list_of_pins_brings_no_removed_pin_back(
    visit: Callable[..., Page], studio: Served, address: str
) -> None:
    """Two requests for the pins overlapped; the older was answered last, and stayed."""
    for text in (FIRST, SECOND):
        studio.ask(PINS, {"text": text, "intents": []})
    page = visit(studio, address)
    late: list[tuple[Route, APIResponse]] = []

    def answer(route: Route) -> None:
        if late or route.request.method != "GET":
            route.fallback()
        else:
            late.append((route, route.fetch()))

    remove = [page.get_by_label(f"Remove pin of “{text}”") for text in (FIRST, SECOND)]
    expect(remove[0]).to_be_visible()
    reroute(page, f"**{PINS}*" if "try" in address else f"**{PINS}/history", answer)
    remove[0].click()
    limit = time.monotonic() + 60
    while not late:
        assert time.monotonic() < limit, "the page did not ask for the pins"
        page.wait_for_timeout(20)
    remove[1].click()
    expect(remove[1]).to_have_count(0)
    [(route, response)] = late
    with page.expect_event("requestfinished", lambda done: done == route.request):
        route.fulfill(response=response)
    settle(page)
    expect(remove[1]).to_have_count(0)
