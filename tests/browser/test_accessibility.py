"""Every page, light and dark: axe-core finds no fault, the focus is seen, and a phone shows it."""

from collections.abc import Callable
from importlib.resources import files
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.waiting import settled
from tests.builders.served_studio import Served, probe

AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
PAGES = (
    "",
    "data",
    "label",
    "slots",
    "review",
    "review?tab=border",
    "review?tab=fence",
    # "map",
    "train",
    "try?text=no+signal",
    "versions",
)
FIRST = ("Home", "Label", "Data", "Try")
REST = ("Slots", "Review", "Map", "Train", "Versions")


def test_no_page_has_a_serious_fault_and_all_fit_a_phone(
    studio: Served, visit: Callable[..., Page]
) -> None:
    page = visit(studio, viewport={"width": 1280, "height": 844}, color_scheme="light")
    for name in PAGES:
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": 1280, "height": 844})
        page.goto(f"{studio.base}/{name}")
        settled(page, name)
        if name.endswith("fence"):
            page.get_by_label("Method", exact=True).select_option("mixture")
            expect(page.locator(".fence")).to_contain_text("a familiarity of")
        page.evaluate(AXE)
        assert faults(page) == [], name
        assert page.locator("h1").count() == 1, name
        page.keyboard.press("Tab")  # the browser shows the focus to whoever uses keys
        assert page.evaluate(probe("ringless")) == [], name
        by_day = ink(page)
        page.emulate_media(color_scheme="dark")
        page.wait_for_function("document.body.classList.contains('dark')")
        assert ink(page) != by_day, f"{name} looks the same by day and by night"
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
        assert faults(page, "color-contrast") == [], name


def faults(page: Page, *rules: str) -> list[str]:
    """Ask axe-core for serious and critical faults, by all rules or by these."""
    only: dict[str, Any] = {"runOnly": list(rules)} if rules else {}
    found = page.evaluate(
        "rules => axe.run(document, rules)", {**only, "resultTypes": ["violations"]}
    )
    return [
        f"{fault['id']}: {node['target']} {node['failureSummary']}"
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"][:3]
    ]


def ink(page: Page) -> str:
    return str(page.locator("h1").evaluate("at => getComputedStyle(at).color"))


def test_a_phone_reaches_every_page(studio: Served, visit: Callable[..., Page]) -> None:
    page = visit(studio, viewport={"width": 390, "height": 844})
    pages = page.get_by_role("navigation", name="Pages")
    for name in FIRST:
        expect(pages.get_by_role("link", name=name)).to_be_in_viewport()
    expect(pages.get_by_role("link", name="Versions")).to_be_hidden()
    more = pages.get_by_role("button", name="More")
    more.click()
    for name in REST:
        expect(pages.get_by_role("link", name=name)).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(more).to_have_attribute("aria-expanded", "false")
    page.reload()
    page.wait_for_selector(".tiles a")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # "Skip to the page"
    assert page.evaluate("document.activeElement.id") == "page"
