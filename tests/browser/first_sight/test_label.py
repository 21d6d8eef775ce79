"""Label is understood at first sight: one way to begin, and each button says what it does."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.builders.served_studio import Served


def test_the_card_is_the_way_to_begin_and_many_at_once_stand_back(
    visit: Callable[..., Page], studio: Served
) -> None:
    """A band above the card offered another start, and nobody knew which one was meant."""
    page = visit(studio, "/label?project=sample")
    note = page.locator("[data-role=sure]")
    expect(note).to_contain_text("Or label many at once.")
    card, below = page.locator(".card").bounding_box(), note.bounding_box()
    assert card
    assert below
    assert below["y"] >= card["y"] + card["height"]
    page.get_by_role("button", name="Mark values (names, dates)").click()
    expect(page.get_by_label("Values", exact=True)).to_contain_text(
        "Slots makes more examples of this text by putting other values there."
    )
