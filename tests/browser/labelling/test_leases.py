"""The texts that a tab of Label holds: its own alone, and given back as its page is left."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from playwright.sync_api import Page, TimeoutError, expect

from tests.builders.served_studio import Served, run

_CARD = "[data-role=utterance]:not(:empty)"
_TIMES = 15
_LEAVE = "event => window.dispatchEvent(new PageTransitionEvent(event, {persisted: true}))"


def prepared(studio: Served, folder: Path) -> Served:
    """Ten texts without a label, fewer than one tab asks for."""
    file = folder / "texts.txt"
    file.write_text("\n".join(f"utterance number {n}" for n in range(10)), encoding="utf-8")
    run(studio.home, "new", "p")
    run(studio.home, "import", "p", str(file))
    return studio


def look_again(tab: Page) -> None:
    """Ask until there are texts: a tab that closes gives its own back a moment after.

    The page may have asked by itself just before, which hides the button.
    """
    for _ in range(_TIMES):
        tab.locator("[data-key=again]").dispatch_event("click")
        with suppress(TimeoutError):
            tab.wait_for_selector(_CARD, timeout=2_000)
            return
    raise AssertionError(tab.locator("[data-role=rest]").inner_text())


def test_a_copied_tab_has_other_texts_and_gives_back_its_own_alone(
    visit: Callable[..., Page], serve: Callable[..., Served], tmp_path: Path
) -> None:
    """A copy of a tab had the tab's name, and so its texts; as it closed, a third tab had them."""
    studio = prepared(serve(empty=True), tmp_path)
    page = visit(studio, "/label?project=p")
    page.wait_for_selector(_CARD)
    with page.expect_popup() as opened:
        page.evaluate("window.open(location.href)")
    expect(opened.value.locator("[data-role=rest]")).to_contain_text("Others have the last 10")
    opened.value.close()
    later = visit(studio, "/label?project=p")
    expect(later.locator("[data-role=rest]")).to_contain_text("Others have the last 10")
    page.close()
    look_again(later)


def test_a_page_that_the_browser_kept_takes_its_texts_again(
    visit: Callable[..., Page], serve: Callable[..., Served], tmp_path: Path
) -> None:
    """It showed the cards that it had given back, while another tab had them."""
    studio = prepared(serve(empty=True), tmp_path)
    page, other = (visit(studio, "/label?project=p") for _ in range(2))
    page.wait_for_selector(_CARD)
    rest = other.locator("[data-role=rest]")
    expect(rest).to_be_visible()
    with page.expect_response(lambda answer: answer.request.method == "DELETE"):
        page.evaluate(_LEAVE, "pagehide")
    look_again(other)
    page.evaluate(_LEAVE, "pageshow")
    expect(page.locator("[data-role=rest]")).to_contain_text("Others have the last 10")
    other.close()
    look_again(page)
