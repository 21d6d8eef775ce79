"""Save and Discard of the limit keep their places, and the tab says for which version it is."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.builders.served_studio import Served

pytestmark = pytest.mark.usefixtures("foretold")


def test_save_keeps_its_place_when_a_limit_is_chosen(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“Discard changes” came to where “Save” stood, and a press there lost the choice."""
    page = visit(studio, "/review?project=sample&tab=fence")
    save = page.get_by_role("button", name="Save", exact=True)
    discard = page.get_by_role("button", name="Discard changes")
    for width, height in ((1280, 800), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        expect(save).to_be_disabled()
        page.locator(".decision").evaluate("one => one.scrollIntoView({block: 'center'})")
        at, beside = save.bounding_box(), discard.bounding_box()
        slider = page.get_by_role("slider", name="Limit")
        slider.evaluate("one => one.focus({preventScroll: true})")
        page.keyboard.press("ArrowLeft")
        expect(save).to_be_enabled()
        assert (save.bounding_box(), discard.bounding_box()) == (at, beside)
        assert at is not None
        assert beside is not None
        assert at["x"] + at["width"] <= beside["x"]
        discard.click()
        expect(discard).to_be_disabled()


def test_the_tab_says_for_which_version_the_limit_is(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Version 2 waited, and nothing said whose limit was chosen."""
    page = visit(studio, "/review?project=sample&tab=fence")
    said = page.locator("[data-role=version]")
    expect(said).to_contain_text("for version 1, which answers now")
