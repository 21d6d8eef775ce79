"""The card, slots and Review while answers are late: what is shown and sent is what was meant."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.late_answers.spot_check import judge_twenty, open_spot_check
from tests.builders.held_answers import hold
from tests.builders.served_studio import Served


def test_a_verdict_on_an_answer_that_was_taken_back_is_not_shown(
    visit: Callable[..., Page], studio: Served
) -> None:
    """It came behind U, and offered to accept with one text that nobody had judged."""
    page, check, verdict = open_spot_check(visit, studio)
    held = hold(page, "**/sure/check", "POST")
    judge_twenty(page, check)
    held.arrived()
    page.keyboard.press("u")
    held.release()
    expect(check).to_contain_text("20 of 20")
    expect(verdict).to_have_count(0)
    page.keyboard.press("y")
    held.arrived()
    held.release()
    expect(verdict).to_be_visible()
    page.keyboard.press("Escape")


def test_a_list_of_pins_of_before_does_not_hide_a_new_one(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The first list came behind a pin, and a label that contradicts the pin was not told."""
    page = visit(studio, "/history?project=sample")  # it asks for no pins that it may give up
    lists = hold(page, "**/projects/sample/pins")
    page.goto(f"{studio.base}/label?project=sample")
    options = page.locator(".option .chip")
    expect(options).to_have_count(5)
    pinned, other, *_ = options.all_inner_texts()
    lists.arrived()
    older = lists.answered()
    page.keyboard.press("p")
    for _ in range(2):
        lists.arrived()
        lists.release()
    older()
    page.keyboard.press("2")
    told = f"You labelled it {other}, but its pin says {pinned}."
    expect(page.locator(".toast", has_text=told)).to_be_visible()
    for _ in range(2):
        page.keyboard.press("u")
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")


@pytest.mark.usefixtures("foretold")
def test_what_is_typed_for_the_next_pin_stays(visit: Callable[..., Page], studio: Served) -> None:
    """The field was emptied when the pin before had been saved."""
    page = visit(studio, "/review?project=sample&tab=pins")
    pins = page.get_by_role("region", name="Pins")
    text = pins.get_by_label("Text")
    text.fill("my bill is too high")
    pins.get_by_label("Answer that it must get").select_option(label="Out of scope")
    saved = hold(page, "**/projects/sample/pins", "POST")
    pins.get_by_role("button", name="Pin this answer").click()
    saved.arrived()
    text.fill("the next one")
    saved.release()
    expect(pins.locator("tbody tr", has_text="my bill is too high")).to_be_visible()
    expect(text).to_have_value("the next one")
    studio.ask("/projects/sample/pins", {"text": "my bill is too high"})
