"""A remedy that is pressed before its effect is counted says that it waits, and is then done."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.builders.held_answers import Held, hold
from tests.builders.served_studio import Served

pytestmark = pytest.mark.usefixtures("foretold")


def _uncounted(route: Route) -> None:
    """Give findings before the effects of their remedies are known."""
    told = route.fetch().json()
    for finding in told["findings"]:
        for remedy in finding["remedies"]:
            remedy["effect"] = None
    route.fulfill(body=json.dumps(told), content_type="application/json")


def _open_uncounted(page: Page, studio: Served) -> Held:
    """Open Review while nothing is counted; return what holds the counts back."""
    page.route("**/projects/sample/review?*", _uncounted)
    late = hold(page, "**/review/what-if", "POST")
    page.goto(f"{studio.base}/review?project=sample&kind=label")
    return late


def test_a_press_while_answers_are_counted_says_what_it_waits_for(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The press did nothing to be seen for seconds, and seemed to be lost."""
    page = visit(studio, "/try?project=sample")
    late = _open_uncounted(page, studio)
    remedy = page.locator(".remedy", has_text="Delete this text")
    late.arrived()
    expect(remedy).to_contain_text("counting answers")
    remedy.click()
    expect(remedy).to_contain_text("It is done as soon as its effect is counted")
    late.release()
    asked = page.get_by_role("dialog").get_by_role("button", name="Do it anyway")
    made = page.locator("[data-role=newest]:has(.good)", has_text="Deleted this text")
    expect(made.or_(asked)).to_be_visible()
    if asked.count():
        asked.click()
    late.let_through(made.is_visible)
    page.keyboard.press("u")
    taken = page.locator("[data-role=newest]", has_text="Taken back: Deleted this text")
    late.let_through(taken.is_visible)


def test_of_two_presses_while_answers_are_counted_the_last_is_done(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Who thought better of it while it was counted would have had both done."""
    page = visit(studio, "/try?project=sample")
    late = _open_uncounted(page, studio)
    row = page.locator("[data-role=findings] button", has_text=", or “").first
    row.click()
    label = page.locator(".remedy", has_text="Label it “")
    delete = page.locator(".remedy", has_text="Delete this text")
    late.arrived(2)
    delete.click()
    label.click()
    expect(label).to_contain_text("as soon as its effect is counted")
    expect(delete).to_contain_text("counting answers")
    made = page.locator("[data-role=newest]:has(.good)")
    gives = page.get_by_role("dialog").get_by_role("button", name="Give this label")
    late.let_through(lambda: made.is_visible() or gives.is_visible())
    if gives.is_visible():
        gives.click()
    late.let_through(made.is_visible)
    expect(made).to_contain_text("Labelled “")
    page.keyboard.press("u")
    taken = page.locator("[data-role=newest]", has_text="Taken back: Labelled")
    late.let_through(taken.is_visible)
    expect(page.get_by_role("button", name="Undo the one before")).to_have_count(0)
