"""The remedies of a finding are in sight: nothing lies on them."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.builders.served_studio import Served

pytestmark = pytest.mark.usefixtures("foretold")

_SIZES = ((1280, 800), (1280, 600), (390, 844))
_LYING_ON = """() => {
  const boxes = [...document.querySelectorAll(
    '[data-role=finding] :is(h2, .told, .remedy, h3, .turns)'
  )].map(one => [one.textContent.slice(0, 40), one.getBoundingClientRect()]);
  return boxes.slice(1).flatMap(([words, {top}], at) =>
    top < boxes[at][1].bottom - 1 ? [[boxes[at][0], words]] : []);
}"""


def test_what_a_remedy_changes_does_not_lie_on_the_last_remedies(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“If you choose …” was printed over the last two of five remedies, and none could be read."""
    found = {"texts": 6, "remedies": 5}
    page = visit(studio, "/try?project=sample")
    page.route("**/projects/sample/review?*", lambda route: _shaped(route, **found))
    for texts, remedies in ((6, 5), (1, 5), (6, 1)):
        found.update(texts=texts, remedies=remedies)
        page.set_viewport_size({"width": 1280, "height": 800})
        page.goto(f"{studio.base}/review?project=sample&kind=confusion")
        expect(page.locator(".remedy")).to_have_count(remedies)
        expect(page.locator(".remedy [data-role=radius]")).to_have_count(remedies)
        page.locator("[data-role=findings] button[data-key*=':']").first.click()
        page.locator(".remedy").last.hover()
        expect(page.locator("[data-role=finding] h3").first).to_contain_text("If you choose")
        for width, height in _SIZES:
            page.set_viewport_size({"width": width, "height": height})
            assert page.evaluate(_LYING_ON) == [], (texts, remedies, width, height)


def test_what_a_remedy_changes_can_be_read_to_its_end(
    visit: Callable[..., Page], studio: Served
) -> None:
    """What goes on below the edge of the sheet is reached by scrolling, and ends before its rim."""
    page = visit(studio, "/try?project=sample")
    page.route("**/projects/sample/review?*", lambda route: _shaped(route, texts=6, remedies=5))
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"{studio.base}/review?project=sample&kind=confusion")
    expect(page.locator(".remedy [data-role=radius]")).to_have_count(5)
    page.locator(".remedy").last.hover()
    sheet = page.locator("[data-role=finding]")
    expect(sheet.locator("h3").first).to_be_in_viewport()
    sheet.evaluate("one => one.scrollTo(0, one.scrollHeight)")
    last = sheet.locator(".turns > :last-child").bounding_box()
    rim = sheet.bounding_box()
    assert last is not None
    assert rim is not None
    assert last["y"] + last["height"] <= rim["y"] + rim["height"] - 8


def _shaped(route: Route, *, texts: int, remedies: int) -> None:
    """Give the first finding as many texts and remedies with an effect."""
    told = route.fetch().json()
    first = told["findings"][0]
    acts = [one for one in first["remedies"] if one["repair"] and not one["asks"]]
    first["texts"] = (first["texts"] * texts)[:texts]
    first["remedies"] = (acts * remedies)[:remedies]
    route.fulfill(body=json.dumps(told), content_type="application/json")
