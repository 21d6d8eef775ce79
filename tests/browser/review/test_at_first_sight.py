"""What the Review page says is understood, and its blue button does no harm."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

from tests.builders.served_studio import Served

_REVIEW = "/projects/sample/review"
_PHONE = {"width": 390, "height": 844}


def test_on_a_phone_the_title_of_a_finding_takes_few_lines_and_texts_are_not_cut(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Two long names and the words between them took five lines; buttons beside texts were cut."""
    names = {i["id"]: i["name"] for i in studio.ask("/projects/sample/overview")["intents"]}
    found = studio.ask(f"{_REVIEW}?kind=confusion&limit=1")["findings"][0]
    long = ("balance_not_updated_after_bank_transfer", "transfer_not_received_by_recipient")

    def told(route: Route) -> None:
        words = route.fetch().text()
        for key, name in zip(found["intents"], long, strict=True):
            words = words.replace(names[key], name)
        route.fulfill(body=words, content_type="application/json")

    page = visit(studio, "/try?project=sample", viewport=_PHONE)
    for path in ("review?*", "overview"):
        page.route(f"**/projects/sample/{path}", told)
    page.goto(f"{studio.base}/review?project=sample&kind=confusion")
    page.locator("[data-role=findings] button[data-key*=':']", has_text=long[0]).first.click()
    title = page.locator("[data-role=finding] h2")
    expect(title).to_contain_text(long[0])
    lines = (
        "one => one.getBoundingClientRect().height / parseFloat(getComputedStyle(one).lineHeight)"
    )
    assert title.evaluate(lines) <= 3.2
    assert title.locator(".whole-name").count() == 2
    edge = page.locator("[data-role=finding]").evaluate("one => one.getBoundingClientRect().right")
    for button in page.locator("[data-role=finding] li button").all():
        box = button.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= edge
