"""The pages with the keyboard alone, and installed as an app."""

import json
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.waiting import settled
from tests.builders.served_studio import Served


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
    assert [error["errorId"] for error in found] == ["in-incognito"]  # as every test's browser is
