"""The Try page while an answer is late: what is chosen and listed is that of the newest request."""

import time
from collections.abc import Callable
from urllib.parse import quote

import pytest
from playwright.sync_api import APIResponse, Page, Route, expect

from tests.builders.held_answers import hold, reroute, settle
from tests.builders.served_studio import Served

PINS = "/projects/sample/pins"
FIRST, SECOND = "xylophone quartz 1 1 1", "xylophone quartz 2 2 2"
_NO_PAUSE_ENDS = """() => {
  const later = window.setTimeout;
  window.setTimeout = (act, wait, ...more) => (wait === 40 ? 0 : later(act, wait, ...more));
}"""
"""The page asks 40 ms after the last letter; here it never does."""


def test_no_label_is_chosen_for_a_text_that_is_typed_on(
    visit: Callable[..., Page], studio: Served
) -> None:
    """A label chosen while the whole text was not answered was lost, or went to its beginning."""
    page = visit(studio, f"/try?project=sample&text={quote(FIRST)}")
    expected = page.get_by_label("Expected intent")
    expect(expected).to_be_visible()
    late = hold(page, "**/predict", "POST", most=1)
    page.get_by_label("Text to try").fill(f"{FIRST} again")
    late.arrived()
    expected.focus()
    expect(expected).not_to_be_focused()
    late.release()
    expect(page.locator(".acts:not([inert])")).to_be_visible()
    expected.select_option(label="roaming")
    page.wait_for_timeout(300)  # longer than the page waits before it asks
    expect(expected.locator("option:checked")).to_have_text("roaming")
    expect(page.get_by_role("button", name="Pin", exact=True)).to_be_enabled()


@pytest.mark.parametrize("address", ["/try?project=sample", "/review?project=sample&tab=pins"])
def test_a_late_list_of_pins_brings_no_removed_pin_back(
    visit: Callable[..., Page], studio: Served, address: str
) -> None:
    """Two requests for the pins overlapped; the older was answered last, and stayed."""
    for text in (FIRST, SECOND):
        studio.ask(PINS, {"text": text, "intents": []})
    page = visit(studio, address)
    late: list[tuple[Route, APIResponse]] = []

    def answer(route: Route) -> None:
        if late or route.request.method != "GET":
            route.fallback()
        else:
            late.append((route, route.fetch()))

    remove = [page.get_by_label(f"Remove pin of “{text}”") for text in (FIRST, SECOND)]
    expect(remove[0]).to_be_visible()
    reroute(page, f"**{PINS}*" if "try" in address else f"**{PINS}/history", answer)
    remove[0].click()
    limit = time.monotonic() + 60
    while not late:
        assert time.monotonic() < limit, "the page did not ask for the pins"
        page.wait_for_timeout(20)
    remove[1].click()
    expect(remove[1]).to_have_count(0)
    [(route, response)] = late
    with page.expect_event("requestfinished", lambda done: done == route.request):
        route.fulfill(response=response)
    settle(page)
    expect(remove[1]).to_have_count(0)


def test_an_answer_to_what_was_typed_before_is_given_up_at_the_next_letter(
    visit: Callable[..., Page], studio: Served
) -> None:
    """It came before the page asked again, and offered its acts beside another text."""
    page = visit(studio, f"/try?project=sample&text={quote(FIRST)}")
    expect(page.locator(".acts:not([inert])")).to_be_visible()
    late, box = hold(page, "**/predict", "POST"), page.get_by_label("Text to try")
    box.fill(f"{FIRST} again")
    late.arrived()
    page.evaluate(_NO_PAUSE_ENDS)
    with page.expect_event("requestfailed", lambda one: one == late.routes[0].request):
        box.fill(SECOND)


def test_an_intent_that_was_made_elsewhere_can_be_expected(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Try went on with the intents that it had begun with, until it was loaded anew."""
    page = visit(studio, f"/try?project=sample&text={quote(FIRST)}")
    expected = page.get_by_label("Expected intent")
    expect(expected).to_be_visible()
    studio.ask("/projects/sample/intents", {"name": "made beside Try"})
    expect(expected.locator("option", has_text="made beside Try")).to_have_count(1)


def test_a_receipt_that_comes_late_does_not_stand_under_another_text(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The link to share was that of the text before."""
    page = visit(studio, f"/try?project=sample&text={quote('no signal on my phone')}")
    kept = hold(page, "**/projects/sample/receipts", "POST")
    page.get_by_role("button", name="Download HTML").click()
    kept.arrived()
    page.get_by_label("Text to try").fill("my bill is too high")
    expect(page.locator("[data-role=answer] .answer")).to_contain_text("wrong_charge")
    with page.expect_download():
        kept.release()
    expect(page.locator("[data-role=sharing]")).to_have_count(0)


def test_an_act_on_another_text_is_not_lost_without_a_word(
    visit: Callable[..., Page], studio: Served
) -> None:
    """While one example was being saved, a press for the next text did nothing and said nothing."""
    page = visit(studio, f"/try?project=sample&text={quote('no signal on my phone 1')}")
    add = page.get_by_role("button", name="Right: add as example")
    acts = hold(page, "**/review/act", "POST")
    add.click()
    acts.arrived()
    page.get_by_label("Text to try").fill("no signal on my phone 2")
    expect(page.locator(".acts:not([inert])")).to_be_visible()
    add.click()
    told = page.locator(".toast", has_text="The change before is still being saved.")
    expect(told).to_contain_text("press again")
    acts.release()
    expect(page.locator(".toast", has_text="Added “no signal on my phone 1”")).to_be_visible()
    assert acts.routes == []


def test_a_label_that_somebody_gave_meanwhile_is_not_overwritten_on_try(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Adding and relabelling went by the answer on the page, and replaced the newer label."""
    text = "xylophone quartz 3 3 3"
    by = {one["name"]: one["id"] for one in studio.ask("/projects/sample/overview")["intents"]}

    def labelled(name: str) -> None:
        repair = {"kind": "add", "intents": [by[name]], "value": text}
        studio.ask("/projects/sample/review/act", {"key": f"{name} by another", "repair": repair})

    labelled("roaming")
    page = visit(studio, f"/try?project=sample&text={quote(text)}")
    known = page.locator("[data-role=known] .chip")
    expect(known).to_have_text(["roaming"])
    page.get_by_label("Expected intent").select_option(label="lost_sim")
    hold(page, "**/sample/status")  # else the page would show the newer label
    labelled("wrong_charge")
    page.get_by_role("button", name="Add as example", exact=True).click()
    told = page.locator(".toast.bad", has_text="A text was changed meanwhile.")
    expect(told).to_contain_text("Nothing was overwritten.")
    expect(known).to_have_text(["wrong_charge"])
    page.locator(".vote", has_text=text).get_by_role("button", name="Relabel").click()
    page.get_by_label("Label of the example").select_option(label="lost_sim")
    labelled("data_usage")
    page.get_by_role("button", name="Save label").click()
    expect(told).to_have_count(2)
    expect(known).to_have_text(["data_usage"])
