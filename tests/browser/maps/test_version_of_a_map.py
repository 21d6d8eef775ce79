"""A map stays that of one version, and says when there is another one to load."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.builders.served_studio import Served


def test_a_map_keeps_its_version_when_another_one_goes_live(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Names and colours of the version that had gone live stood on the places of the one before.

    A label that came at the same moment was not shown, either.
    """
    told: dict[str, int] = {}
    page = visit(studio)
    page.route("**/status", lambda it: it.fulfill(json={**it.fetch().json(), **told}))
    places: list[str] = []
    page.on("request", lambda one: places.append(one.url) if "/map/xy" in one.url else None)
    page.goto(f"{studio.base}/map?project=sample")
    page.wait_for_selector(".map[data-ready=true]")
    assert ["&model=1&" in url for url in places] == [True]
    page.wait_for_load_state("networkidle")
    coloured = page.expect_request("**/map/colours?*by=intent*")
    named = page.expect_request("**/map/islands?*")
    with coloured as colours, named as islands:
        told.update(champion=2, revision=10_000)
    assert ["&model=1&" in one.value.url for one in (colours, islands)] == [True, True]
    offer = page.locator("[data-role=map-offer]")
    expect(offer).to_contain_text("Version 2 is live now and has a map of its own.")
