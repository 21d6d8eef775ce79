"""What the Label page shows while a model is trained and loaded, or counts anew."""

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, Route, expect

from tests.builders.held_answers import reroute
from tests.builders.served_studio import Served

_UNTIMED = re.compile(r"once there is a model\.\s*Train Quick first\.\s*$")
"""It said “about 10 seconds” of any number of examples."""
RUNNING = {
    "id": "j",
    "kind": "train",
    "state": "running",
    "progress": 0.4,
    "stage": "reading your texts",
    "eta_seconds": None,
}


def test_the_card_says_that_the_first_training_runs(
    visit: Callable[..., Page], studio: Served
) -> None:
    """ "Train Quick first" stood there while Quick ran."""
    page = visit(studio, "/try?project=sample")
    state: dict[str, Any] = {"champion": None, "model": "none", "job": None}

    def status(route: Route) -> None:
        route.fulfill(json={**route.fetch().json(), **state})

    def queue(route: Route) -> None:
        found: dict[str, Any] = route.fetch().json()
        items = [{**item, "suggestions": None} for item in found["items"]]
        route.fulfill(json={**found, "items": items, "model": "none"})

    page.route("**/status", status)
    page.route("**/queue?*", queue)
    page.goto(f"{studio.base}/label?project=sample")
    card = page.get_by_role("region", name="Text to label")
    expect(card).to_contain_text("Train Quick first")
    state["job"] = RUNNING
    expect(card).to_contain_text("The first training runs; when it has ended, each card suggests")
    expect(card).not_to_contain_text("Train Quick")
    page.keyboard.press("m")
    expect(page.locator(".toast")).to_contain_text("The first training runs: ask again when")
    page.unroute_all(behavior="wait")


def test_the_card_in_view_gets_its_suggestions_as_soon_as_the_model_is_there(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“Suggestions will follow” stood above five intents of no meaning, and none followed."""
    state: dict[str, Any] = {"champion": None, "model": "none"}

    def status(route: Route) -> None:
        route.fulfill(json={**route.fetch().json(), **state})

    def bare(item: dict[str, Any]) -> dict[str, Any]:
        known = state["model"] == "ready"
        return item if known else {**item, "suggestions": None, "out_of_scope": False}

    def queue(route: Route) -> None:
        found: dict[str, Any] = route.fetch().json()
        items = [bare(item) for item in found["items"]]
        route.fulfill(json={**found, "items": items, "model": state["model"]})

    def suggestions(route: Route) -> None:
        route.fulfill(json=[bare(item) for item in route.fetch().json()])

    page = visit(studio, "/try?project=sample")
    page.route("**/status", status)
    page.route("**/queue?*", queue)
    page.route("**/suggestions?*", suggestions)
    page.goto(f"{studio.base}/label?project=sample")
    card = page.get_by_role("region", name="Text to label")
    # With 10,000 examples it takes minutes: Train tells the time before it begins.
    expect(card).to_contain_text("Train Quick first, and each card suggests an intent.")
    expect(card).to_contain_text("These are no suggestions.")
    quick = card.get_by_role("link", name="Train Quick first").get_attribute("href")
    page.keyboard.press("m")  # a red error came from the server
    expect(page.locator(".toast")).to_contain_text(_UNTIMED)
    expect(page.locator(".toast.bad")).to_have_count(0)
    text = page.locator("[data-role=utterance]").inner_text()
    state |= {"champion": 1, "model": "loading"}
    expect(card).to_contain_text("The model is loading; suggestions will follow.")
    expect(card.locator(".option")).to_have_count(0)
    state["model"] = "ready"
    expect(card.locator(".option .share").first).to_be_visible()
    expect(card).not_to_contain_text("suggestions will follow")
    expect(page.locator("[data-role=utterance]")).to_have_text(text)
    page.unroute_all(behavior="wait")
    page.goto(f"{studio.base}{quick}")  # "Best" was chosen there, which takes minutes
    expect(page.get_by_role("radio", name="Quick")).to_have_attribute("aria-checked", "true")


def test_while_sure_texts_are_counted_again_no_figure_of_before_is_told(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“Sure of 368 of 1,003” stood for 14 seconds under “1,977 wait for a label”."""
    page = visit(studio, "/label?project=sample")
    note = page.locator("[data-role=sure]")
    expect(note).to_contain_text("The model is sure of")
    counting = {"n": 0, "looked_at": 0, "texts": [], "check": [], "counting": True}
    is_counted = False

    def answer(route: Route) -> None:
        if is_counted:
            route.fallback()
        else:
            route.fulfill(json=counting)

    reroute(page, "**/sure?most=0", answer)
    champion = studio.ask("/projects/sample/status")["champion"]
    page.route(
        "**/sample/status",
        lambda route: route.fulfill(json={**route.fetch().json(), "champion": champion + 1}),
    )
    expect(note).to_have_text("Counting what the model is sure of …")  # another version answers
    is_counted = True
    expect(note).to_contain_text(f"The model is sure of {studio.ask('/projects/sample/sure')['n']}")
    page.unroute_all(behavior="wait")
