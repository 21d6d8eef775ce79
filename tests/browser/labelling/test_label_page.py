"""The Label page beyond the card: what the model is sure of, last decisions, goal, and keys."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.builders.served_studio import Served

_UNLABELLED = "/projects/sample/utterances?size=1&state=unlabelled"
_TESTS = "/projects/sample/utterances?size=1&split=test&state=labelled"


@pytest.fixture
def page(studio: Served, visit: Callable[..., Page]) -> Page:
    opened = visit(studio, "/label?project=sample")
    opened.wait_for_function("document.querySelector('[data-role=utterance]')?.dataset.id")
    return opened


def waiting(studio: Served) -> int:
    return int(studio.ask(_UNLABELLED)["total"])


def test_all_that_the_model_is_sure_of_is_accepted_after_a_check(
    page: Page, studio: Served
) -> None:
    before, tests = waiting(studio), studio.ask(_TESTS)["total"]
    sure = len(studio.ask("/projects/sample/sure")["texts"])
    note = page.locator("[data-role=sure]")
    expect(note).to_contain_text(f"The model is sure of {sure} of {before} unlabelled texts.")
    page.keyboard.press("a")
    check = page.locator("[data-role=spot-check]")
    expect(check).to_contain_text("Judge 20 of them, drawn at random.")
    expect(page.get_by_role("button", name="Accept")).to_have_count(0)
    wrong = page.locator("[data-role=checked-text]").inner_text()
    page.keyboard.press("n")
    for place in range(2, 21):
        expect(check).to_contain_text(f"{place} of 20")
        page.keyboard.press("y")
    expect(page.locator("[data-role=verdict]")).to_contain_text("1 of 20 wrong.")
    expect(check).to_contain_text("At most 22 % of the others are wrong (95 % sure)")
    assert waiting(studio) == before
    page.get_by_role("button", name=f"Accept {sure - 1} labels").click()
    message = page.locator(".toast", has_text=f"{sure - 1} texts labelled as the model answers.")
    expect(message).to_be_visible()
    expect(page.locator("[data-role=utterance]")).to_have_text(wrong)
    assert waiting(studio) == before - (sure - 1)
    assert studio.ask(_TESTS)["total"] == tests
    message.get_by_role("button", name="Undo").click()
    expect(page.locator(".toast", has_text="Taken back.")).to_be_visible()
    assert waiting(studio) == before


def test_the_last_decisions_and_the_goal_of_the_day_survive_a_reload(
    page: Page, studio: Served
) -> None:
    strip = page.get_by_role("list", name="Last decisions").locator("li[data-id]")
    texts = []
    for key in "s0s":
        texts.append(page.locator("[data-role=utterance]").inner_text())
        page.keyboard.press(key)
        expect(strip).to_have_count(len(texts))
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")
    today = page.locator("[data-role=today]")
    today.get_by_role("button").click()
    page.get_by_label("Texts a day").fill("40")
    page.get_by_role("button", name="Save").click()
    expect(today).to_contain_text("3 of 40 today")
    page.reload()
    expect(strip).to_have_count(3)
    expect(strip.locator(".soft")).to_have_text(texts[::-1])
    expect(today).to_contain_text("3 of 40 today")
    before = waiting(studio)
    strip.nth(1).get_by_role("button", name="Undo").click()
    expect(page.locator("[data-role=utterance]")).to_have_text(texts[1])
    expect(strip).to_have_count(2)
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")
    assert waiting(studio) == before + 1
    expect(today).to_contain_text("2 of 40 today")


def test_the_keys_of_the_page_lie_over_it(page: Page) -> None:
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys of this page")
    for key in ("1 to 5", "Enter", "0 or O", "A", "Ctrl K"):
        expect(keys.locator("dt", has_text=re.compile(f"^{key}$"))).to_be_visible()
    page.keyboard.press("s")  # no decision while the keys are read
    page.keyboard.press("Escape")
    expect(keys).to_have_count(0)
    expect(page.locator("[data-role=saved]")).to_have_text("saved as you go")


def test_the_queue_starts_with_what_helps_and_its_orders_are_few(page: Page) -> None:
    order = page.get_by_label("Order of the queue")
    expect(order).to_have_value("helps")
    expect(order.locator("option")).to_have_text(
        ["Helps most", "Least sure", "Unlike all examples", "Newest first", "Random"]
    )


def test_a_key_draws_two_lines_and_is_sent_when_the_next_card_is_drawn(page: Page) -> None:
    """Drawing ten lines anew and sending at once delayed the next card by a third of its time."""
    lines = page.locator("[aria-label='Last decisions'] li[data-id]")
    for _ in range(11):
        page.keyboard.press("s")
    expect(lines).to_have_count(10)
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")
    order = page.evaluate(
        """() => new Promise(done => {
          const [list] = document.querySelectorAll("[aria-label='Last decisions']");
          const before = [...list.children].slice(0, 9), order = [];
          const plain = window.fetch;
          window.fetch = (...given) => {
            if (!String(given[0]).endsWith('/ops')) return plain(...given);
            order.push('sent');
            window.fetch = plain;
            done({order, kept: before.every((line, at) => list.children[at + 1] === line)});
            return plain(...given);
          };
          requestAnimationFrame(() => order.push('drawn'));
          document.dispatchEvent(new KeyboardEvent('keydown', {key: 's', bubbles: true}));
        })"""
    )
    assert order == {"order": ["drawn", "sent"], "kept": True}
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")
