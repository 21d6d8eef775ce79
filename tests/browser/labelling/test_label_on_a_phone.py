"""The Label page under a thumb: nothing moves by itself, and nothing hides."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.builders.served_studio import Served

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
CAUSE = "18 right answers refused as out of scope"


@pytest.fixture
def page(studio: Served, visit: Callable[..., Page]) -> Page:
    opened = visit(studio, "/label?project=sample", **PHONE)
    expect(opened.locator(".option .share")).to_have_count(5)
    return opened


def test_what_the_header_tells_moves_no_button(page: Page) -> None:
    """A cause of the accuracy took two rows more, the card jumped, and three labels went wrong."""

    def told(route: Route) -> None:
        found: dict[str, Any] = route.fetch().json()
        now = {"share": 0.123, "micro_f1": None, "right": 1, "n": 8, "causes": [CAUSE]}
        job = {"kind": "train", "state": "running", "progress": 0.3, "stage": "Encoding"}
        more = {"hot": 1234, "waiting": 0, "candidate": 12, "now": now, "job": job}
        route.fulfill(json={**found, **more})

    first = page.locator(".option").first
    before, top = first.bounding_box(), page.locator(".top").bounding_box()
    page.route("**/status", told)
    champion = page.locator("[data-role=champion]")
    expect(champion).to_contain_text("12.3 %")
    assert page.locator(".top").bounding_box() == top
    assert first.bounding_box() == before
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.unroute("**/status")
    expect(champion).to_have_attribute("href", "/versions?project=sample")  # it has the words
