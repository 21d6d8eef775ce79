"""A pin is named, taken back, and heard of where a label contradicts it."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.builders.served_studio import Served

_PINS = "/projects/sample/pins"


@pytest.fixture(autouse=True)
def unpinned(studio: Served) -> None:
    for pin in studio.ask(_PINS):
        studio.ask(_PINS, {"text": pin["text"]})


@pytest.fixture
def page(studio: Served, visit: Callable[..., Page]) -> Page:
    opened = visit(studio, "/label?project=sample")
    opened.wait_for_selector(".option .share", state="attached")
    return opened


def test_a_pin_names_its_answer_and_undo_takes_it_back(page: Page, studio: Served) -> None:
    """One key pinned a wrong answer, and U took back the act before it."""
    said = page.locator(".option .chip").first.inner_text()
    message = page.locator(".toast", has_text=re.compile(rf"^Pinned: must get {said}\."))
    page.keyboard.press("p")
    expect(message).to_be_visible()
    expect(page.locator("[data-role=decided]")).to_contain_text("Pinned")
    assert [pin["expected"] for pin in studio.ask(_PINS)] == [said]
    page.keyboard.press("u")
    taken_back = page.locator(".toast", has_text="The pin is taken back.")
    expect(taken_back).to_be_visible()
    assert studio.ask(_PINS) == []
    # It goes by itself, sooner or later than the second one comes.
    taken_back.get_by_role("button", name="Close this message").click()
    message.get_by_role("button", name="Close this message").click()
    page.keyboard.press("p")
    message.get_by_role("button", name="Undo").click()
    expect(taken_back).to_be_visible()
    assert studio.ask(_PINS) == []


def test_the_button_names_the_answer_that_it_pins(page: Page, studio: Served) -> None:
    """“Pin this answer” did not say which."""
    card = page.locator(".card")
    for state in ("helps", "unlike"):  # those unlike the examples are out of scope
        page.goto(f"{studio.base}/label?project=sample&order={state}")
        first = page.locator(".option").first
        expect(page.locator(".option .share").first).to_be_attached()
        said = first.locator(".chip").inner_text()
        card.get_by_role("button", name="More actions").click()
        expect(card.get_by_role("button", name=f"Pin “{said}” for this text")).to_be_visible()
    assert said == "out of scope"
    page.keyboard.press("p")
    expect(page.locator(".toast", has_text="Pinned: must get out of scope.")).to_be_visible()
    assert [pin["expected"] for pin in studio.ask(_PINS)] == ["out of scope"]


def test_a_label_that_contradicts_a_pin_says_so_at_once(page: Page, studio: Served) -> None:
    pinned, other, *_ = page.locator(".option .chip").all_inner_texts()
    page.keyboard.press("p")
    expect(page.locator(".toast", has_text="Pinned: must get")).to_be_visible()
    page.keyboard.press("2")
    told = page.locator(".toast", has_text=f"You labelled it {other}, but its pin says {pinned}.")
    expect(told.get_by_role("button", name="Keep the pin")).to_be_visible()
    told.get_by_role("button", name="Change the pin").click()
    expect(
        page.locator(".toast", has_text=f"The pin is changed: must get {other}.")
    ).to_be_visible()
    assert [pin["expected"] for pin in studio.ask(_PINS)] == [other]


def test_the_tab_of_pins_counts_the_broken_ones(studio: Served, visit: Callable[..., Page]) -> None:
    """A broken pin showed only in the last tab."""
    intents = {i["name"]: i["id"] for i in studio.ask("/projects/sample/overview")["intents"]}
    body = {"text": "the wifi does not reach the bedroom", "intents": [intents["roaming"]]}
    studio.ask(_PINS, body)
    opened = visit(studio, "/review?project=sample")
    expect(opened.locator(".tabs [data-key=pins]")).to_have_text("Pins1 broken")


def test_data_tells_of_a_contradicted_pin_and_a_removed_one_comes_back(
    studio: Served, visit: Callable[..., Page]
) -> None:
    """A pin went at one click, with no word and no way back."""
    intents = {i["name"]: i["id"] for i in studio.ask("/projects/sample/overview")["intents"]}
    row = studio.ask("/projects/sample/utterances?size=1&state=unlabelled")["rows"][0]
    pin = {"text": row["text"], "intents": [intents["roaming"]]}
    studio.ask(_PINS, pin)
    opened = visit(studio, "/data?project=sample&state=unlabelled")
    cell = opened.locator("[data-role=utterances] tbody tr", has_text=row["text"])
    cell.locator("[data-key^='label ']").click()
    opened.get_by_role("combobox", name="Find an intent").fill("data_usage")
    opened.keyboard.press("Enter")
    told = opened.locator(
        ".toast", has_text="You labelled it data_usage, but its pin says roaming."
    )
    expect(told).to_be_visible()
    opened.goto(f"{studio.base}/review?project=sample&tab=pins")
    opened.get_by_role("button", name="Remove pin").click()
    removed = opened.locator(".toast", has_text="The pin is removed.")
    expect(removed).to_be_visible()
    assert studio.ask(_PINS) == []
    removed.get_by_role("button", name="Undo").click()
    expect(opened.get_by_role("button", name="Remove pin")).to_be_visible()
    assert [one["expected"] for one in studio.ask(_PINS)] == ["roaming"]
