"""Presses before what they need has come: no script breaks, and nothing is done by chance."""

from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

from tests.builders.held_answers import hold, settle
from tests.builders.served_studio import Served


def test_the_map_is_enlarged_before_its_points_have_come(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The page drew with nothing to draw by, and broke off."""
    page = visit(studio)
    points = hold(page, "**/projects/sample/map?*")
    page.goto(f"{studio.base}/map?project=sample")
    points.arrived()
    page.get_by_role("button", name="Larger").click()
    page.wait_for_timeout(500)  # it is drawn with the next frame, which a busy machine delays
    page.locator(".map").focus()
    for key in ("+", "0", "ArrowRight", "Enter", "Escape"):
        page.keyboard.press(key)
    settle(page)
    points.release()
    page.wait_for_selector(".map[data-ready=true]")


def test_no_training_starts_before_the_ways_to_train_are_known(
    visit: Callable[..., Page], twice: Served
) -> None:
    """“Cannot destructure property 'recipe'” was told."""
    page = visit(twice)
    choices = hold(page, "**/projects/sample/training-choices")
    page.goto(f"{twice.base}/train?project=sample")
    choices.arrived()
    start = page.get_by_role("region", name="New training").locator(".start button").first
    expect(start).to_be_disabled()
    choices.release()
    expect(start).to_be_enabled()
    expect(start).to_have_text("Retrain")


def test_a_finding_without_a_text_has_nothing_to_pin(
    visit: Callable[..., Page], studio: Served
) -> None:
    """P told of “undefined” where a finding was about a name alone."""

    def bare(route: Route) -> None:
        found = route.fetch().json()
        for finding in found["findings"]:
            finding["texts"] = []
        route.fulfill(json=found)

    page = visit(studio)
    page.route("**/projects/sample/review?*", bare)
    page.goto(f"{studio.base}/review?project=sample")
    expect(page.locator(".remedy").first).to_be_visible()
    page.keyboard.press("p")
    told = page.locator(".toast")
    expect(told).to_contain_text("It has no label that could be pinned.")
    page.unroute_all(behavior="wait")
