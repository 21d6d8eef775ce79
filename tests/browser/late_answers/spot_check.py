"""The spot check of the Label page: opened, and judged by keys."""

from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from tests.builders.served_studio import Served


def open_spot_check(visit: Callable[..., Page], studio: Served) -> tuple[Page, Locator, Locator]:
    """Open the check of twenty texts of the sample; return the page, the check and its verdict."""
    page = visit(studio, "/label?project=sample")
    expect(page.locator("[data-role=sure]")).to_contain_text("Check 20 of them")
    page.keyboard.press("a")
    check, verdict = (page.locator(f"[data-role={role}]") for role in ("spot-check", "verdict"))
    return page, check, verdict


def judge_twenty(page: Page, check: Locator, wrong: int = 0) -> None:
    """Judge the first texts wrong and the others right."""
    for place in range(1, 21):
        expect(check).to_contain_text(f"{place} of 20")
        page.keyboard.press("n" if place <= wrong else "y")
