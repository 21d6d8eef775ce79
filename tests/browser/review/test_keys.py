"""The keys of remedies are seen and work, and what has none says so."""

import json
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.chromium import ARGUMENTS, find_chromium
from tests.builders.served_studio import Served

pytestmark = pytest.mark.usefixtures("foretold")

_OF_A_MOUSE = (
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,"
    "primaryPointerType=4,availablePointerTypes=4"
)
"""How Playwright starts a Chromium without a screen; without it, the page knows of no mouse."""


@pytest.fixture
def without_a_mouse(chromium: Browser) -> Iterator[Browser]:
    """A Chromium on a computer where none is known: it has keys alone."""
    browser = chromium.browser_type.launch(
        executable_path=find_chromium(), args=ARGUMENTS, ignore_default_args=[_OF_A_MOUSE]
    )
    yield browser
    browser.close()


def test_keys_are_shown_where_no_pointer_is_known(without_a_mouse: Browser, studio: Served) -> None:
    """Such a computer was taken for a phone: no key stood beside any button, on any page."""
    page = without_a_mouse.new_page(viewport={"width": 1280, "height": 800})
    page.goto(f"{studio.base}/review?project=sample&kind=label&token={studio.token}")
    keep = page.locator(".remedy", has_text="Keep as it is")
    expect(keep.locator("kbd")).to_have_text("N")
    assert page.evaluate("matchMedia('(hover: none)').matches")
    expect(keep.locator("kbd")).to_be_visible()
    expect(page.get_by_text("The letter or number at the end of a button")).to_be_visible()


def test_keys_work_at_once_and_one_that_nothing_has_says_so(
    visit: Callable[..., Page], studio: Served
) -> None:
    """A number did nothing, without a word, and “?”, which lists the keys of Label, neither."""
    page = visit(studio, "/review?project=sample&kind=label")
    page.locator(".remedy").first.wait_for()
    page.keyboard.press("9")
    said = page.locator(".toast", has_text="No button of this finding has the key 9.")
    expect(said).to_be_visible()
    page.locator("[data-role=findings] button").nth(1).click()
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys of this page")
    expect(keys).to_contain_text("find another label")
    expect(keys).to_contain_text("Deleting has no key.")
    shown = page.locator(".remedy kbd:visible").all_inner_texts()
    listed = keys.locator("dt").all_inner_texts()
    assert all(key in listed or key.isdigit() for key in shown)
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    field = page.get_by_role("combobox", name="Find the right label")
    expect(field).to_be_focused()
    page.keyboard.type("9?")
    expect(field).to_have_value("9?")
    expect(keys).to_have_count(0)


def test_a_kind_without_findings_says_so_and_nothing_else(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Below “None left of this kind” stood an error of the page’s own program."""
    page = visit(studio, "/try?project=sample")
    page.route("**/projects/sample/review?*", _empty)
    page.goto(f"{studio.base}/review?project=sample&kind=misleading")
    expect(page.get_by_text("None left of this kind")).to_be_visible()
    expect(page.locator("[data-role=broken-pins]")).to_be_attached()
    expect(page.locator(".toast")).to_have_count(0)
    expect(page.get_by_text("Try again")).to_have_count(0)


def test_broken_pins_are_counted_as_pins_come_and_go(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“1 broken” stood on the tab when the list of pins was empty."""
    page = visit(studio, "/review?project=sample&tab=pins")
    tab = page.get_by_role("button", name="Pins")
    expect(page.get_by_role("heading", name="No pin yet")).to_be_visible()
    sheet = page.get_by_role("region", name="Pins")
    sheet.get_by_label("Text", exact=True).fill("my phone has no signal at home")
    sheet.get_by_label("Answer that it must get").select_option(label="Out of scope")
    sheet.get_by_role("button", name="Pin this answer").click()
    expect(tab).to_contain_text("1 broken")
    sheet.get_by_role("button", name="Remove pin").click()
    expect(page.get_by_role("heading", name="No pin yet")).to_be_visible()
    expect(tab).not_to_contain_text("broken")


def _empty(route: Route) -> None:
    told = route.fetch().json() | {"findings": []}
    route.fulfill(body=json.dumps(told), content_type="application/json")
