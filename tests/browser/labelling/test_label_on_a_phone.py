"""The Label page under a thumb: nothing moves by itself, and nothing hides."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.builders.held_answers import reroute, rest
from tests.builders.served_studio import Served

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
# Parts of the header that are seen, and those of them of which a side is cut off.
SEEN = """state => {
  const box = state.getBoundingClientRect();
  const places = [...state.children].map(one => [one.textContent, one.getBoundingClientRect()]);
  const seen = places.filter(([, at]) => at.width && at.top < box.bottom && at.left < box.right);
  const cut = seen.filter(([, at]) => at.right > box.right + 1 || at.bottom > box.bottom + 1);
  return [seen, cut].map(some => some.map(([words]) => words));
}"""
CAUSE = "18 right answers refused as out of scope"


@pytest.fixture
def page(studio: Served, visit: Callable[..., Page]) -> Page:
    opened = visit(studio, "/label?project=sample", **PHONE)
    expect(opened.locator(".option .share")).to_have_count(5)
    # What stands above the card comes after it.
    expect(opened.locator("[data-role=left]")).to_contain_text("wait for a label")
    rest(opened)
    return opened


def test_what_the_header_tells_moves_no_button(page: Page) -> None:
    """A cause of the accuracy took two rows more, the card jumped, and three labels went wrong."""

    def told(route: Route) -> None:
        found: dict[str, Any] = route.fetch().json()
        now = {"share": 0.123, "micro_f1": None, "right": 1, "n": 8, "causes": [CAUSE]}
        job = {"kind": "discover", "state": "running", "progress": 0.3, "stage": "Encoding"}
        more = {"hot": 1234, "waiting": 0, "candidate": 12, "now": now, "job": job}
        route.fulfill(json={**found, **more})

    first = page.locator(".option").first
    expect(first).to_be_visible()  # it is drawn anew while the model reads the other texts
    before, top = first.bounding_box(), page.locator(".top").bounding_box()
    reroute(page, "**/status", told)
    champion = page.locator("[data-role=champion]")
    expect(champion).to_contain_text("12.3 %")
    expect(champion).to_be_in_viewport(ratio=1)  # the score lay off to the right
    assert page.locator(".top").bounding_box() == top
    expect(first).to_be_visible()  # the card is drawn again with what the model says now
    assert first.bounding_box() == before
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    # “Decide on v12” was cut in its middle. What has no room is on Train and Versions.
    seen, cut = page.locator(".state").evaluate(SEEN)
    assert cut == []
    assert any("Decide on v12" in words for words in seen)
    page.unroute_all(behavior="wait")
    expect(champion).to_have_attribute("href", "/versions?project=sample")  # it has the words


def test_a_long_text_says_that_it_goes_on_and_a_tap_shows_the_rest(page: Page) -> None:
    """Half of a long message was cut off without a sign, and it was the half that decided."""
    words = " ".join(f"word{place}" for place in range(120))
    ids: list[str] = []  # of the first card: later answers begin with others

    def lengthened(route: Route) -> None:
        found: dict[str, Any] = route.fetch().json()
        for item in found["items"][: not ids]:
            item["text"] = words
            ids.append(item["id"])
        route.fulfill(json=found)

    reroute(page, "**/queue?*", lengthened)
    page.reload()
    text, more = page.locator("[data-role=utterance]"), page.get_by_role("button", name="Goes on")
    expect(text).to_have_text(words)
    expect(page.locator(".option .share")).to_have_count(5)
    expect(page.locator("[data-role=left]")).to_contain_text("wait for a label")
    first, skip = page.locator(".option").first, page.get_by_role("button", name="Skip")
    before = first.bounding_box()
    place = "node => node.scrollTop / (node.scrollHeight - node.clientHeight)"
    for _ in range(30):
        expect(first).to_be_in_viewport(ratio=1)
        expect(skip).to_be_in_viewport(ratio=1)
        if not more.is_visible():
            break
        more.tap()
        page.wait_for_timeout(50)
    assert text.evaluate(place) > 0.97
    assert first.bounding_box() == before
    page.get_by_role("button", name="Skip").tap()
    expect(text).not_to_have_text(words)
    assert text.evaluate("node => node.scrollTop") == 0
    page.unroute_all(behavior="wait")


def test_the_finder_opens_above_the_bar_and_the_next_text_is_in_view(page: Page) -> None:
    """One intent of the list showed above the bar, and the next text was above the screen."""
    text = page.locator("[data-role=utterance]")
    before = text.inner_text()
    field = page.get_by_role("combobox", name="Find or create an intent")
    field.tap()
    found = page.locator(".card [role=option]")
    for place in range(3):
        expect(found.nth(place)).to_be_in_viewport(ratio=1)
        found.nth(place).click(trial=True)  # no bar lies over it
    expect(text).to_be_in_viewport(ratio=1)
    page.evaluate("scrollTo(0, 250)")  # as a phone does when its keyboard opens
    found.nth(1).tap()
    expect(text).not_to_have_text(before)
    expect(text).to_be_in_viewport(ratio=1)
    page.locator("[data-role=decided]").get_by_role("button").tap()
    expect(text).to_have_text(before)
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")


def test_a_long_name_of_an_intent_leaves_its_share_free(page: Page) -> None:
    """The name ran over “100 %”."""
    option = page.locator(".option").first
    name, share = option.locator(".inside"), option.locator(".share")
    name.evaluate("node => { node.textContent = 'a_long_name_of_an_intent_'.repeat(4); }")
    inside, beside = name.bounding_box(), share.bounding_box()
    assert inside is not None
    assert beside is not None
    assert name.evaluate("node => node.scrollWidth <= node.clientWidth")
    assert inside["x"] + inside["width"] <= beside["x"]


@pytest.mark.parametrize("page_name", ["label", "review", "data", "try?text=no+signal"])
def test_no_key_is_shown_in_a_window_as_narrow_as_a_phone(
    visit: Callable[..., Page], studio: Served, page_name: str
) -> None:
    """Phones that report a mouse, and narrow windows, were full of keys."""
    mark = "&" if "?" in page_name else "?"
    page = visit(studio, f"/{page_name}{mark}project=sample", viewport=PHONE["viewport"])
    expect(page.locator("[data-role=champion]")).to_be_visible()
    page.locator(".content :is(button, a):visible").first.wait_for()
    expect(page.locator("kbd:visible")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
