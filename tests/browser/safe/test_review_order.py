"""Whoever works through the findings is led in the order of the list on the screen."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.builders.held_answers import hold
from tests.builders.served_studio import Served

MADE = "[data-role=newest]:has(.good)"  # the newest act, once it is saved


def test_the_list_stays_in_its_order_and_a_finding_comes_back_at_once(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    """The list was sorted anew after each act; what was taken back came seconds later, unchosen."""
    page = visit(serve(), "/review?project=sample&kind=doubt")
    row = page.locator("[data-role=findings] li:not(.fold) button")
    row.first.wait_for()
    first, second, third, *_ = row.evaluate_all("all => all.map(one => one.dataset.key)")
    page.keyboard.press("j")
    expect(row.nth(1)).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("n")
    expect(page.locator(MADE)).to_be_visible()
    expect(page.locator(f"[data-key='{second}']")).to_have_count(0)
    expect(page.locator(f"[data-key='{third}']")).to_have_attribute("aria-pressed", "true")
    assert row.evaluate_all("all => all.map(one => one.dataset.key)")[:2] == [first, third]
    held = hold(page, "**/review/undo", method="POST")
    page.keyboard.press("u")
    expect(row.nth(1)).to_have_attribute("data-key", second)
    expect(row.nth(1)).to_have_attribute("aria-pressed", "true")
    held.arrived()
    held.release()
    expect(page.locator("[data-role=newest]", has_text="Taken back")).to_be_visible()
    expect(row.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(row.nth(2)).to_have_attribute("data-key", third)


def test_a_finding_that_comes_back_stays_while_its_undo_is_on_the_way(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    """A list that was asked for before the server had the undo took the finding away again."""
    page = visit(serve(), "/review?project=sample&kind=doubt")
    row = page.locator("[data-role=findings] li:not(.fold) button")
    row.first.wait_for()
    first = row.first.get_attribute("data-key")
    lists = hold(page, "**/sample/review?*")
    page.keyboard.press("n")
    expect(page.locator(MADE)).to_be_visible()
    lists.arrived()
    undo = hold(page, "**/review/undo", method="POST")
    page.keyboard.press("u")
    undo.arrived()
    expect(row.first).to_have_attribute("data-key", str(first))
    lists.release()
    expect(row.first).to_have_attribute("data-key", str(first))
    page.unroute_all(behavior="ignoreErrors")
    undo.release()
    expect(page.locator("[data-role=newest]", has_text="Taken back")).to_be_visible()
