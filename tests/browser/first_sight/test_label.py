"""Label is understood at first sight: one way to begin, and each button says what it does."""

import re
from collections.abc import Callable
from functools import partial

import pytest
from playwright.sync_api import Page, Route, expect

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
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("button", name="Mark values (names, dates)").click()
    expect(page.get_by_label("Values", exact=True)).to_contain_text(
        "Slots makes more examples of this text by putting other values there."
    )


def test_each_way_to_give_no_intent_says_what_becomes_of_the_text(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Five ways stood there, two of them alike, and only a pointer held still told them apart."""
    page = visit(studio, "/label?project=sample")
    card = page.locator(".card")
    card.get_by_role("button", name="More actions").click()
    for name, brief in (
        ("Out of scope", "fits none of yours"),
        ("Skip", "does not come again"),
        ("Flag unclear", "skipped, for a second look"),
        ("Set aside to label together", "waits for others like it"),
        ("Similar texts next", "this one stays, they follow"),
    ):
        # Suggestions and pins may hold the same words, but they begin with others.
        button = card.get_by_role("button", name=re.compile(f"^{name}"))
        expect(button.get_by_text(brief, exact=True)).to_be_visible()
        expect(button).to_have_accessible_description(re.compile(r"\w+ \w+"))


@pytest.mark.parametrize("width", [1280, 390])
def test_what_is_used_now_and_then_is_folded_and_opens_by_the_keyboard(
    visit: Callable[..., Page], studio: Served, width: int
) -> None:
    """Eight actions of the same weight stood below the suggestions, on six lines of a phone."""
    page = visit(studio, "/label?project=sample", viewport={"width": width, "height": 844})
    card = page.locator(".card")
    more = card.get_by_role("button", name="More actions")
    aside = card.get_by_role("button", name="Set aside to label together")
    for name in ("Out of scope", "Skip", "Flag unclear", "Why"):
        expect(card.get_by_role("button", name=name, exact=True)).to_be_visible()
    expect(aside).to_have_count(0)
    more.focus()
    page.keyboard.press("Enter")
    expect(more).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Tab")
    expect(aside).to_be_focused()
    for name in ("Similar texts next", "Mark values", "Pin “"):
        button = card.get_by_role("button", name=name)
        button.scroll_into_view_if_needed()
        expect(button).to_be_in_viewport(ratio=1)
    page.keyboard.press("s")  # keys work as before, and it stays open on the next card
    expect(aside).to_be_visible()
    aside.focus()
    page.keyboard.press("Escape")
    expect(aside).to_have_count(0)
    expect(more).to_be_focused()
    page.keyboard.press("t")  # a folded action has its key
    expect(page.get_by_label("Set aside")).to_be_visible()


def test_a_text_that_is_flagged_as_unclear_does_not_come_again(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The button said that it skips the text, too, and after a reload it was on the card again."""
    page = visit(studio, "/label?project=sample&order=newest")
    card, left = page.locator("[data-role=utterance]"), page.locator("[data-role=left]")
    saved = page.locator("[data-role=saved]")
    expect(left).to_contain_text("wait for a label")
    waiting = int(left.inner_text().split()[0].replace(",", ""))
    text, key = card.inner_text(), card.get_attribute("data-id")
    page.keyboard.press("f")
    expect(card).not_to_have_text(text)
    expect(left).to_have_text(f"{waiting - 1} wait for a label")
    expect(saved).to_have_text("all saved")
    page.reload()
    expect(card).to_be_visible()
    assert card.get_attribute("data-id") != key
    expect(left).to_have_text(f"{waiting - 1} wait for a label")
    page.goto(f"{studio.base}/data?project=sample&state=flagged")
    row = page.locator(f"tr[data-id='{key}']")
    expect(row).to_contain_text("flagged while labelling")
    page.get_by_role("button", name="Undo: flag as unclear").click()
    expect(row).to_have_count(0)


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_the_card_leaves_the_note_that_somebody_wrote_on_its_text(
    visit: Callable[..., Page], studio: Served, when: str
) -> None:
    """F wrote “flagged while labelling” over it, also over what the card did not show yet."""
    newest = "/projects/sample/utterances?state=unlabelled&order=newest&size=1"
    [row] = studio.ask(newest)["rows"]
    flag = {"filter": {"ids": [row["id"]]}, "kind": "flag", "value": "ask Ann", "expected": 1}
    if when == "before":
        studio.ask("/projects/sample/edits", flag)
    page = visit(studio, "/label?project=sample&order=newest")
    card = page.locator("[data-role=utterance]")
    expect(card).to_have_attribute("data-id", row["id"])
    if when == "meanwhile":
        studio.ask("/projects/sample/edits", flag)
    else:
        expect(page.get_by_text("ask Ann", exact=True)).to_be_visible()
    page.keyboard.press("f")
    expect(card).not_to_have_attribute("data-id", row["id"])
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")
    [row] = studio.ask("/projects/sample/utterances/by-ids", {"ids": [row["id"]]})
    assert (row["flagged"], row["skipped"]) == ("ask Ann", True)


def test_a_suggestion_that_the_model_is_not_sure_of_says_so_beside_what_enter_takes(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“1 ↵ transfer 54 %” was taken for a recommendation."""
    page = visit(studio, "/")
    for probability, told in ((0.54, "Not sure: 54 % · Enter takes it"), (0.97, "97 %")):
        page.route("**/queue?*", partial(_answer, probability))
        page.goto(f"{studio.base}/label?project=sample")
        shares = page.locator(".option .share")
        expect(shares.first).to_have_text(told)
        expect(shares.nth(1)).to_have_text("2 %")
        page.unroute_all(behavior="wait")


def _answer(probability: float, route: Route) -> None:
    queue = route.fetch().json()
    for item in queue["items"]:
        item["out_of_scope"] = False
        item["suggestions"][0]["probability"] = probability
        item["suggestions"][1]["probability"] = 0.02
    route.fulfill(json=queue)
