"""Every page, on a desk and on a phone, light and dark, and with the keyboard alone."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.builders.served_studio import Served, probe

PAGES = (
    "",
    "data",
    "label",
    "review",
    "review?tab=border",
    "review?tab=fence",
    "map",
    "train",
    "try?text=no+signal",
    "versions",
)


@pytest.mark.parametrize(
    ("width", "schemes"), [(1280, ("light", "dark")), (390, ("dark", "light"))]
)
def test_every_page_fits_is_readable_and_has_one_heading(
    studio: Served, visit: Callable[..., Page], width: int, schemes: tuple[str, str]
) -> None:
    page = visit(studio, viewport={"width": width, "height": 844}, color_scheme=schemes[0])
    for name in PAGES:
        page.emulate_media(color_scheme=schemes[0])
        page.goto(f"{studio.base}/{name}")
        settled(page, name)
        if name.endswith("fence"):
            page.get_by_label("Method", exact=True).select_option("mixture")
            expect(page.locator(".fence")).to_contain_text("a familiarity of")
        inks = []
        for scheme in schemes:
            page.emulate_media(color_scheme=scheme)
            # Gradio sets the class after the change; measured before it, both schemes look alike.
            page.wait_for_function(
                "night => document.body.classList.contains('dark') === night", arg=scheme == "dark"
            )
            inks.append(page.locator("h1").evaluate("at => getComputedStyle(at).color"))
            assert page.locator("h1").count() == 1, (name, scheme)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, scheme)
            assert page.evaluate(probe("contrasts")) == [], (name, scheme)
            assert page.evaluate(probe("nameless")) == [], (name, scheme)
        assert inks[0] != inks[1], f"{name} looks the same by day and by night"


def settled(page: Page, name: str) -> None:
    """Wait until the page shows what it is there for."""
    wanted = {
        "": ".tiles a",
        "data": "[data-role=utterances] tbody tr",
        "label": ".option",
        "review": "[data-role=finding] .remedy [data-role=radius], .walk li, .figure",
        "map": ".map[data-ready=true]",
        "train": "[data-role=estimate]:not(:empty)",
        "try": ".vote",
        "versions": "[data-role=models] tbody tr",
    }
    page.wait_for_selector(wanted[name.partition("?")[0]])


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
    page.wait_for_selector(".vote")
    tab_to(page, "Pin")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-role=pins] li")
    tab_to(page, "Train", back=True)
    page.keyboard.press("Enter")
    settled(page, "train")
    expect(page.get_by_role("button", name="Retrain")).to_be_enabled()
    tab_to(page, "Instant")
    page.keyboard.press("Enter")
    expect(page.get_by_role("radio", name="Instant")).to_have_attribute("aria-checked", "true")
    tab_to(page, "Retrain")


def tab_to(page: Page, name: str, *, back: bool = False) -> None:
    """Press Tab until the control of this name has the focus, and see that it shows it."""
    names = []
    for _ in range(80):
        page.keyboard.press("Shift+Tab" if back else "Tab")
        found = page.evaluate(
            """() => { const at = document.activeElement, style = getComputedStyle(at);
            const ring = style.outlineStyle !== 'none' || style.boxShadow !== 'none';
            return [(at.getAttribute('aria-label') ?? at.innerText ?? '').trim(), ring]; }"""
        )
        names.append(found[0])
        if found[0].startswith(name):
            assert found[1], f"'{name}' does not show that it has the focus"
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
    assert [error["errorId"] for error in found] == ["in-incognito"]  # as every test's browser is
