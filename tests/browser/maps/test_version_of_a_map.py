"""A map stays that of one version, and says when there is another one to load."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

from tests.builders.held_answers import reroute
from tests.builders.served_studio import Served, add_intent_elsewhere


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


def test_a_map_whose_texts_have_changed_is_loaded_again_by_a_button(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Each label brought a message to load the map again, and nothing on the page did that."""
    page = visit(studio, "/map?project=sample")
    page.wait_for_selector(".map[data-ready=true]")
    page.wait_for_load_state("networkidle")
    entries = page.locator(".legend .entry")
    n = entries.count()
    refusal = {"message": "The texts of this map have changed.", "hint": "Load the map again."}
    reroute(page, "**/map/colours?*", lambda it: it.fulfill(status=409, json=refusal))
    add_intent_elsewhere(studio)
    offer = page.locator("[data-role=map-offer]")
    expect(offer).to_contain_text("Texts have come or gone since")
    expect(page.locator(".toast")).to_have_count(0)
    expect(entries).to_have_count(n)
    page.unroute("**/map/colours?*")
    with page.expect_request("**/projects/sample/map?*"):
        offer.get_by_role("button", name="Load the map again").click()
    expect(offer).to_be_hidden()
    expect(entries).to_have_count(n)


def test_the_tooltip_tells_the_answer_after_a_change_of_labels_too(
    visit: Callable[..., Page], studio: Served
) -> None:
    """From the first label on, also a colleague's, no tooltip told an answer any more."""
    page = visit(studio, "/map?project=sample")
    page.wait_for_selector(".map[data-ready=true]")
    page.wait_for_load_state("networkidle")
    state = page.evaluate("document.querySelector('.map').probe()")
    place = state["points"][state["seen"][-1]]
    told = page.locator("[data-role=tip] dt")
    page.mouse.move(*place)
    expect(told).to_have_text(["Label", "Answer"])
    page.mouse.move(5, 5)
    with page.expect_response("**/map/colours?*by=intent*"):
        add_intent_elsewhere(studio)
    page.mouse.move(*place)
    expect(told).to_have_text(["Label", "Answer"])


def test_a_moved_text_that_is_labelled_as_out_of_scope_is_told_as_that(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“Moved most” said “no label” of it."""

    def told(route: Route) -> None:
        found = route.fetch().json()
        first = {**found["moved"][0], "intents": []}
        moved = [{**first, "labelled": True}, {**first, "labelled": False}]
        route.fulfill(json={**found, "moved": moved})

    page = visit(studio)
    page.route("**/map/compare?*", told)
    page.goto(f"{studio.base}/map?project=sample&method=pca&other=1")
    lines = page.locator("[data-role=moved] .small")
    expect(lines).to_have_text([re.compile("^out of scope; "), re.compile("^no label; ")])
