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


def test_patterns_are_read_for_the_version_that_the_map_shows(
    visit: Callable[..., Page], studio: Served
) -> None:
    """They were read for the version that was live by then, and the map waited for them again."""
    page = visit(studio)
    moving = {"marked": 5, "proposed": 0, "total": 9, "missing": 600, "words": ""}
    page.route("**/status", lambda it: it.fulfill(json={**it.fetch().json(), "marked": True}))
    page.route("**/map/drift?*", lambda it: it.fulfill(json=moving))
    page.route("**/map/layout", lambda it: it.fulfill(status=202, json={"job": "j"}))
    page.goto(f"{studio.base}/map?project=sample")
    page.wait_for_selector(".map[data-ready=true]")
    slider = page.get_by_label("Strength of compression")
    for strength in ("0.8", "0.5"):  # a job may have read them meanwhile, so that is asked anew
        with page.expect_request("**/map/drift?*"):
            slider.fill(strength)
        expect(slider).to_have_value("0")
    with page.expect_request("**/map/layout") as asked:
        page.get_by_role("button", name="Read them").click()
    assert asked.value.post_data_json == {"method": "pca", "model": 1, "templates": True}
    page.unroute_all(behavior="wait")


def test_a_map_is_made_again_where_the_layout_is_chosen_by_itself(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The page asked for the layout “auto”, which no job knows, and was refused."""
    page = visit(studio)
    page.route(
        "**/sample/map?method=*", lambda it: it.fulfill(json={**it.fetch().json(), "missing": 1})
    )
    page.route("**/map/layout", lambda it: it.fulfill(status=202, json={"job": "j"}))
    page.goto(f"{studio.base}/map?project=sample")
    with page.expect_request("**/map/layout") as asked:
        page.get_by_role("button", name="Make the map again").click()
    assert asked.value.post_data_json == {"method": "umap", "model": None, "templates": False}
    page.unroute_all(behavior="wait")


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
    with page.expect_request("**/map/colours?*by=prediction*"):
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
