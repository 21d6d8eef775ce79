"""A click that meets an answer on its way: neither the button nor what it says is lost."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.builders.held_answers import hold
from tests.builders.served_studio import Served, add_intent_elsewhere


def test_a_line_chosen_while_a_preview_comes_is_not_set_back(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The preview waited for the release, came behind the click, and brought its own line back."""
    page = visit(studio, "/review?project=sample&tab=fence")
    key = page.locator("[data-key^='lose '][aria-pressed=false]").first.get_attribute("data-key")
    choice = page.locator(f"[data-key='{key}']")
    previews = hold(page, "**/fence/what-if", "POST")
    page.get_by_label("Limit", exact=True).press("ArrowRight")
    previews.arrived()
    moved = previews.routes[0].request.post_data_json["limit"]
    come = previews.answered()
    choice.hover()
    page.mouse.down()
    come()
    page.mouse.up()
    previews.arrived()
    assert previews.routes[0].request.post_data_json["limit"] != moved
    previews.release()
    expect(choice).to_have_attribute("aria-pressed", "true")


def test_an_entry_pressed_while_colours_come_is_shown_alone(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The legend was drawn anew between press and release, and the click met no entry at all."""
    page = visit(studio, "/map?project=sample")
    page.wait_for_selector(".map[data-ready=true]")
    page.wait_for_load_state("networkidle")
    colours = hold(page, "**/map/colours?*", most=1)
    with page.expect_response("**/map/islands?*"):
        add_intent_elsewhere(studio)
    colours.arrived()
    come = colours.answered()
    entry = page.locator(".legend .entry").first
    entry.hover()
    page.mouse.down()
    come()
    page.mouse.up()
    expect(entry).to_have_attribute("aria-pressed", "true")
