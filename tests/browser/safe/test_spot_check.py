"""The spot check of Label, when not all answers are wanted."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.labelling.test_label_page import counted, waiting
from tests.builders.served_studio import Served


@pytest.mark.parametrize("width", [1280, 390])
def test_the_texts_that_were_judged_right_can_be_labelled_alone(
    visit: Callable[..., Page], studio: Served, width: int
) -> None:
    """Closing the check threw nineteen confirmed answers away; all 1,729 or none were offered."""
    before = counted(studio)
    page = visit(studio, "/label?project=sample", viewport={"width": width, "height": 844})
    page.get_by_role("button", name="Check 20 of them").click()
    check = page.locator("[data-role=spot-check]")
    expect(check).to_contain_text("1 of 20")
    page.keyboard.press("n")
    for place in range(2, 21):
        expect(check).to_contain_text(f"{place} of 20")
        page.keyboard.press("y")
    page.get_by_role("button", name="Only the 19 you found right").click()
    message = page.locator(".toast", has_text="19 texts labelled as the model answers.")
    expect(message).to_be_visible()
    expect(message).not_to_contain_text("nobody judged")
    assert waiting(studio) == before - 19
    page.keyboard.press("u")
    expect(page.locator(".toast", has_text="Taken back.")).to_be_visible()
    assert waiting(studio) == before
