"""Whoever labels faster than the network answers, or with a browser whose store is full."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.benchmarks.browser_homes import PROJECT, generated
from tests.builders.held_answers import reroute
from tests.builders.served_studio import Served, run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def project(studio: Served, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A project of unlabelled texts: enough for all tests, whose pages cannot release theirs."""
    pool = tmp_path_factory.mktemp("burst") / "pool.txt"
    pool.write_text("\n".join(text for text, _ in generated(400)), encoding="utf-8")
    run(studio.home, "new", PROJECT)
    run(studio.home, "import", PROJECT, str(pool))
    return PROJECT


@pytest.fixture
def page(studio: Served, project: str, visit: Callable[..., Page]) -> Page:
    opened = visit(studio, f"/label?project={project}")
    opened.wait_for_function("document.querySelector('[data-role=utterance]')?.dataset.id")
    return opened


def skipped(page: Page) -> int:
    path = f"/api/projects/{PROJECT}/overview"
    return int(page.evaluate(f"fetch('{path}').then(a => a.json()).then(a => a.counts.skipped)"))


def skip(page: Page, times: int) -> int:
    """Press the key so often; return how many decisions that made."""
    before = skipped(page)
    for _ in range(times):
        page.keyboard.press("s")
    page.wait_for_function("document.querySelector('[data-role=saved]').textContent == 'all saved'")
    return skipped(page) - before


def test_forty_keys_at_once_are_forty_decisions(page: Page) -> None:
    """Twenty cards were fetched ahead, so the other twenty keys fell on an empty card."""
    reroute(page, "**/queue?*", lambda _: None)  # more cards never come
    assert skip(page, 40) == 40


def test_a_burst_is_saved_while_another_model_arranges_the_queue_anew(
    visit: Callable[..., Page], studio: Served, project: str
) -> None:
    """When the model was ready, all cards but one were dropped before the new ones were there."""
    page = visit(studio, f"/label?project={project}")
    page.wait_for_function("document.querySelector('[data-role=utterance]')?.dataset.id")
    reroute(page, "**/queue?*", lambda _: None)

    def promoted(route: Route) -> None:
        route.fulfill(json={**route.fetch().json(), "champion": 1, "model": "ready"})

    reroute(page, "**/status", promoted)
    expect(page.locator(".toast", has_text="Version 1 answers now.")).to_be_visible()
    assert skip(page, 20) == 20


def test_a_full_store_of_the_browser_stops_no_decision(page: Page) -> None:
    """One decision that did not fit kept itself and all later ones from ever being sent."""
    page.evaluate("localStorage.setItem('full', 'x'.repeat(5 * 1024 * 1024 - 200))")
    assert skip(page, 5) == 5


def test_a_key_that_finds_no_text_is_reported(page: Page) -> None:
    """Keys on an empty card were lost, and nothing said so."""
    reroute(page, "**/queue?*", lambda _: None)
    saved = skip(page, 70)  # more than any page holds ahead at first
    assert saved < 70
    message = page.locator(".toast", has_text=f"{70 - saved} keys came while no text was shown")
    expect(message).to_contain_text("nothing was saved for them")
    expect(page.locator("[data-role=utterance]")).to_be_hidden()


def test_a_key_that_is_held_down_decides_on_one_card(page: Page) -> None:
    """Each repeat skipped one more card, which nobody had read."""
    before, text = skipped(page), page.locator("[data-role=utterance]")
    first = text.get_attribute("data-id")
    for _ in range(6):
        page.keyboard.down("s")  # from the second on, as a held key repeats
    page.keyboard.up("s")
    expect(text).not_to_have_attribute("data-id", first or "")
    page.wait_for_function("document.querySelector('[data-role=saved]').textContent == 'all saved'")
    assert skipped(page) == before + 1


def test_enter_does_not_repeat_what_was_clicked_on_the_card_before(page: Page) -> None:
    """The button that was clicked kept the focus, and Enter skipped the next card, too."""
    before = skipped(page)
    page.get_by_role("button", name="Skip").first.click()
    page.wait_for_function("document.querySelector('[data-role=saved]').textContent == 'all saved'")
    page.keyboard.press("Enter")  # there is no suggestion to take
    page.wait_for_timeout(300)
    assert skipped(page) == before + 1
