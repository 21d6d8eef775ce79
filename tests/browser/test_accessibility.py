"""Every page, light and dark, by keyboard alone, on a phone, and for readers of all scripts."""

import json
import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests.builders.served_studio import Served, probe, run

AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
PAGES = (
    "",
    "data",
    "label",
    "discover",
    "slots",
    "review",
    "review?tab=border",
    "review?tab=fence",
    "map",
    "train",
    "try?text=no+signal",
    "versions",
    "history",
)
SHOWN = {
    "": ".tiles a",
    "data": "[data-role=utterances] tbody tr",
    "label": ".option",
    "discover": "[data-role=typical] li",
    "slots": ".page .sheet",
    "review": "[data-role=finding] .remedy [data-role=radius], .walk li, .figure",
    "map": ".map[data-ready=true]",
    "train": "[data-role=estimate]:not(:empty)",
    "try": ".vote",
    "versions": "[data-role=models] > li",
    "history": "[data-role=acts] tbody tr",
}
"""What a page shows when it is filled, by its path."""
FIRST = ("Home", "Label", "Data", "Try")
REST = ("Discover", "Slots", "Conversations", "Review", "Map", "Train", "Versions", "History")


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
            page.get_by_text("Another measure").click()
            page.get_by_label("Measure", exact=True).select_option("mixture")
            expect(page.locator(".fence").first).to_contain_text("a familiarity of")
            wishes = page.locator("[data-role=wishes]")
            expect(wishes).not_to_contain_text("below the score of a limit")
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
        # One finding's texts overflowed in the fonts of another machine, out of reach of keys.
        page.evaluate(probe("squeezed"))
        assert faults(page, "scrollable-region-focusable") == [], name


def settled(page: Page, name: str) -> None:
    """Wait until a page, named by its path, has been filled."""
    page.wait_for_selector(SHOWN[name.partition("?")[0]])


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


def test_a_text_from_right_to_left_stands_so(studio: Served, visit: Callable[..., Page]) -> None:
    text = "האינטרנט לא עובד"
    page = visit(studio, "/try")
    box = page.get_by_label("Text to try")
    expect(box).to_have_attribute("placeholder", re.compile("For example: ."))
    box.fill(text)
    page.get_by_label("Expected intent").select_option(index=1)
    page.get_by_role("button", name="Pin", exact=True).click()
    pin = page.locator("[data-role=pins]").get_by_text(text)
    page.wait_for_selector("[data-role=pins] li")
    for place in (box, pin):
        assert place.evaluate("at => at.matches(':dir(rtl)')")
    page.goto(f"{studio.base}/review?tab=pins")
    cell = page.get_by_role("cell", name=text, exact=True)
    assert cell.evaluate("at => at.matches(':dir(rtl)')")


def test_the_keyboard_alone_reaches_and_does_everything(
    studio: Served, visit: Callable[..., Page]
) -> None:
    page = visit(studio)
    tab_to(page, "sample")
    page.keyboard.press("Enter")
    page.wait_for_selector(".option")
    page.keyboard.press("Enter")
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")
    page.keyboard.press("Control+z")
    tab_to(page, "Try")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('Try')")
    tab_to(page, "Text to try")
    page.keyboard.type("the router has no light")
    page.wait_for_selector(".acts:not([inert])")  # until then the answer is that to its beginning
    tab_to(page, "Expected intent")  # nothing is chosen for the person
    page.keyboard.press("ArrowDown")
    tab_to(page, "Pin")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-role=pins] li")
    tab_to(page, "Train", back=True)
    page.keyboard.press("Enter")
    settled(page, "train")
    expect(page.get_by_role("button", name="Retrain")).to_be_enabled()
    tab_to(page, "Quick")
    page.keyboard.press("Enter")
    expect(page.get_by_role("radio", name="Quick")).to_have_attribute("aria-checked", "true")
    tab_to(page, "Retrain")


def tab_to(page: Page, name: str, *, back: bool = False) -> None:
    """Press Tab until the control of this name has the focus."""
    names = []
    for _ in range(80):
        page.keyboard.press("Shift+Tab" if back else "Tab")
        name_now = page.evaluate(
            "() => { const at = document.activeElement;"
            " return (at.getAttribute('aria-label') ?? at.innerText ?? '').trim(); }"
        )
        names.append(name_now)
        if name_now.startswith(name):
            return
    raise AssertionError(f"Tab never reached '{name}': {names}")


def test_the_studio_can_be_installed_as_an_app(studio: Served, visit: Callable[..., Page]) -> None:
    page = visit(studio)
    session = page.context.new_cdp_session(page)
    manifest = session.send("Page.getAppManifest")
    assert manifest["errors"] == []
    icons = json.loads(manifest["data"])["icons"]
    assert [icon["src"] for icon in icons] == ["/pwa_icon"]
    assert page.request.get(f"{studio.base}/pwa_icon").text().startswith("<svg")
    found = session.send("Page.getInstallabilityErrors")["installabilityErrors"]
    # Every test's browser is private, and a whole Chromium installs nothing from there.
    assert {error["errorId"] for error in found} <= {"in-incognito"}


def test_label_shows_a_text_from_right_to_left_so(
    studio: Served, visit: Callable[..., Page], tmp_path: Path
) -> None:
    """Its question mark stood at its beginning, and mixed texts stood in a wrong order."""
    text = "أين بطاقتي ABC-12؟"
    file = tmp_path / "texts.txt"
    file.write_text(f"{text}\n", encoding="utf-8")
    run(studio.home, "new", "arabic")
    run(studio.home, "import", "arabic", str(file))
    page = visit(studio, "/label?project=arabic")
    card = page.locator("[data-role=utterance]")
    expect(card).to_have_text(text)
    assert card.evaluate("at => at.matches(':dir(rtl)')")
    page.keyboard.press("v")
    expect(page.locator(".marking [data-word]")).to_have_count(3)
    page.keyboard.press("ArrowLeft")  # the words go on to the left
    expect(page.locator(".marking [aria-current=true]")).to_have_text("بطاقتي")
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    aside = page.get_by_role("region", name="Set aside").get_by_text(text)
    expect(aside).to_be_visible()
    assert aside.evaluate("at => at.matches(':dir(rtl)')")
