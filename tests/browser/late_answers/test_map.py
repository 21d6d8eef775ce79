"""Answers that come late to the map, the versions and the reshaping of intents mislead nobody."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.builders.held_answers import hold, reroute, rest, settle
from tests.builders.served_studio import Served, probe

_TOOL = """scheme => {
    document.body.classList.toggle('dark', scheme === 'dark');
    const tool = document.querySelector('.map-tools [aria-pressed=true]');
    const seen = document.createElement('i');
    seen.style.color = 'var(--accent)';
    tool.closest('.studio').append(seen);
    const colours = [getComputedStyle(tool).color, getComputedStyle(seen).color];
    seen.remove();
    document.body.classList.remove('dark');
    return colours;
}"""
_BRIGHT = "document.querySelector('.map').probe().bright.length"


@pytest.fixture(scope="module")
def shared_map(visit_once: Callable[..., Page], studio: Served) -> Page:
    """The map of the sample, which the tests that do not open it anew share."""
    return visit_once(studio, "/map?project=sample")


@pytest.fixture
def page(shared_map: Page) -> Iterator[Page]:
    """The shared map with nothing selected, searched for or shown alone."""
    shared_map.wait_for_selector(".map[data-ready=true]")
    yield shared_map
    shared_map.unroute_all(behavior="ignoreErrors")
    shared_map.get_by_label("Close this message").evaluate_all("all => all.map(one => one.click())")
    everything = shared_map.locator("[data-role=show-all]")
    if everything.is_visible():
        everything.click()
    shared_map.get_by_label("Highlight texts").fill("")
    shared_map.locator(".map").focus()
    shared_map.keyboard.press("Escape")
    shared_map.mouse.move(5, 5)


def lasso(page: Page, places: list[int]) -> None:
    page.evaluate(probe("lasso"), places)


def lasso_five(page: Page) -> None:
    """Draw a lasso around five points with the mouse."""
    circle = page.evaluate(probe("five_points"))
    turns = [2 * math.pi * step / 24 for step in range(26)]
    for step, turn in enumerate(turns):
        x = circle["x"] + circle["radius"] * math.cos(turn)
        y = circle["y"] + circle["radius"] * math.sin(turn)
        page.mouse.move(x, y)
        if step == 0:
            page.mouse.down()
    page.mouse.up()


def test_a_late_answer_about_a_lasso_does_not_replace_a_newer_lasso(page: Page) -> None:
    """The texts of an earlier lasso came last and stood there, and the label went to them."""
    held = hold(page, "**/utterances/by-ids", "POST")
    for places in ([0, 1], [2, 3, 4]):
        lasso(page, places)
    held.arrived(2)
    held.release(1)
    held.release(0)
    expect(page.locator("[data-role=picked]")).to_have_text("3 texts selected")
    expect(page.locator("[data-role=selection] li:not([role=option])")).to_have_count(3)


def test_a_label_goes_to_the_newest_lasso_before_its_texts_are_there(
    page: Page, studio: Served
) -> None:
    """While the texts of a lasso were on their way, a label went to the lasso before it."""
    ids = studio.ask("/projects/sample/map")["ids"]
    held = hold(page, "**/utterances/by-ids", "POST")
    lasso(page, [0, 1])
    held.arrived()
    held.release()
    lasso(page, [2, 3, 4])
    held.arrived()
    reroute(page, "**/edits", lambda route: route.fulfill(json={"changed": 3}))
    with page.expect_request("**/edits") as edit:
        page.get_by_role("button", name="Flag").click()
    # In any order: texts without a label come first, and which these are differs from home to home.
    assert set(edit.value.post_data_json["filter"]["ids"]) == set(ids[2:5])
    held.release()


def test_an_intent_that_was_made_elsewhere_can_be_given_on_the_map(
    page: Page, studio: Served
) -> None:
    lasso(page, [0, 1])
    with page.expect_event("requestfinished", lambda done: done.url.endswith("/overview")):
        studio.ask("/projects/sample/intents", {"name": "made beside the map"})
    settle(page)
    page.get_by_role("combobox", name="Choose the label").fill("beside the map")
    expect(page.get_by_role("option", name="made beside the map")).to_be_visible()


def test_late_colours_are_not_shown_under_the_name_of_others(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Predictions came after the split was chosen, and coloured a map that said split."""
    page = visit(studio)
    held = hold(page, "**/map/colours?*by=prediction*")  # the map asks for them when it is loaded
    page.goto(f"{studio.base}/map?project=sample")
    page.wait_for_selector(".map[data-ready=true]")
    legend = page.locator(".legend .entry")
    by = page.get_by_label("Colour by")
    by.select_option("prediction")
    held.arrived()
    by.select_option("split")
    expect(legend.first).to_contain_text("examples")
    held.release()
    expect(legend.first).to_contain_text("examples")
    expect(legend).to_have_count(3)


def test_what_the_legend_hides_stays_hidden_when_labels_change_and_no_lasso_takes_it(
    page: Page, studio: Served
) -> None:
    """Each label, also somebody else's, brought all hidden points back; hidden ones got labels."""
    first = page.locator(".legend .entry").first
    all_points = page.evaluate(_BRIGHT)
    first.click()
    expect(first).to_have_attribute("aria-pressed", "true")
    seen = page.evaluate(_BRIGHT)
    assert 0 < seen < all_points
    coloured_anew(page, studio)
    assert page.evaluate(_BRIGHT) == seen
    expect(first).to_have_attribute("aria-pressed", "true")
    lasso(page, list(range(len(studio.ask("/projects/sample/map")["ids"]))))
    expect(page.locator("[data-role=picked]")).to_have_text(f"{seen:,} texts selected")


def test_what_is_looked_for_is_marked_on_every_map(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Whoever typed before the map was there got an error, and no mark once it was."""
    page = visit(studio)
    held = hold(page, "**/projects/sample/map?*")
    page.goto(f"{studio.base}/map?project=sample")
    held.arrived()
    page.get_by_label("Highlight texts").fill("bill")
    expect(page.get_by_text("texts with “bill”")).to_be_visible()
    held.release()
    page.wait_for_function("document.querySelector('.map').probe().marked.length > 0")
    expect(page.locator(".toast")).to_have_count(0)


def test_the_highlight_is_that_of_the_selection(page: Page, studio: Served) -> None:
    """After a lasso all points were faint, and other points or colours took a selection's light."""
    all_points = page.evaluate(_BRIGHT)
    lasso_five(page)
    selected = page.locator("[data-role=picked]")
    expect(selected).to_have_text("5 texts selected")
    assert page.evaluate(_BRIGHT) == 5
    last = page.locator(".legend .entry").last
    last.click()
    last.click()
    page.mouse.move(640, 300)
    coloured_anew(page, studio)
    assert page.evaluate(_BRIGHT) == 5
    with page.expect_response("**/map/islands?*model=1*"):
        page.get_by_role("combobox", name="Version").select_option("1")
    expect(page.locator("[data-role=layout]")).to_contain_text("Clearer map: ")
    expect(selected).to_have_text("5 texts selected")
    assert page.evaluate(_BRIGHT) == 5
    page.get_by_role("button", name="Clear").click()
    assert page.evaluate(_BRIGHT) == all_points
    page.get_by_role("combobox", name="Version").select_option("")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_tool_in_use_is_seen(page: Page, scheme: str) -> None:
    """The button of the lasso was white on white."""
    colour, accent = page.evaluate(_TOOL, scheme)
    assert colour == accent


def test_a_map_without_its_first_colours_comes_with_others_or_on_another_try(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Where the first colours failed, the page had to be loaded again."""
    page = visit(studio)
    failing = "**/map/colours?*"
    page.route(failing, lambda route: route.fulfill(status=500, json={"message": "No colours."}))
    page.goto(f"{studio.base}/map?project=sample")
    again = page.get_by_role("button", name="Try again")
    again.click()
    expect(again).to_be_visible()
    page.unroute(failing)
    page.get_by_label("Colour by").select_option("split")
    page.wait_for_selector(".map[data-ready=true]")
    expect(page.locator(".legend .entry").first).to_contain_text("examples")


def test_a_late_search_does_not_go_over_a_newer_one(page: Page) -> None:
    """The marks of words that were typed over came last, and stood beside the newer words."""
    held = hold(page, "**/utterances?*text=*")
    for place, words in enumerate(("wifi", "bill")):
        page.get_by_label("Highlight texts").fill(words)
        held.arrived(place + 1)
    note = page.locator("[data-role=map-note]")
    held.release(1)
    expect(note).to_contain_text("“bill”")
    held.release(0)
    expect(note).to_contain_text("“bill”")


def test_a_label_of_ones_own_colours_the_map_once(page: Page, studio: Served) -> None:
    """The page asked for colours after the label, and again when the status told of it."""
    rows = studio.ask("/projects/sample/utterances?state=unlabelled&size=1")["rows"]
    ids = studio.ask("/projects/sample/map")["ids"]
    asked: list[Request] = []
    page.on("request", lambda one: asked.append(one) if "/map/colours" in one.url else None)
    rest(page)  # of the map that the test before this one chose
    asked.clear()
    lasso(page, [ids.index(rows[0]["id"])])
    with page.expect_request("**/map/colours?*by=intent*"):  # two statuses may be of before the act
        page.get_by_role("button", name="Flag").click()
        expect(page.locator("[data-role=newest]", has_text="flagged")).to_be_visible()
    for _ in range(2):
        page.wait_for_event("requestfinished", lambda done: done.url.endswith("/status"))
    settle(page)
    assert len([one for one in asked if "by=intent" in one.url]) == 1


def test_a_second_click_does_not_roll_back_a_second_time(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Two clicks on "Roll back" went back two champions."""
    page = visit(studio)
    page.route("**/projects/sample/versions", two_versions)
    page.goto(f"{studio.base}/versions?project=sample")
    held = hold(page, "**/rollback", "POST")
    button = page.get_by_role("button", name="Roll back")
    button.click()
    held.arrived()
    expect(button).to_have_attribute("aria-disabled", "true")
    button.dispatch_event("click")
    settle(page)
    assert [route.request.post_data_json for route in held.routes] == [{"champion": 2}]
    held.release()
    expect(page.locator(".toast.bad")).to_contain_text("Version 2 is not live any more")
    expect(button).not_to_have_attribute("aria-disabled", "true")


def two_versions(route: Route) -> None:
    """Tell of a second version, which was the champion a moment ago."""
    found: dict[str, Any] = route.fetch().json()
    first = {**found["models"][0], "champion": False}
    found["models"] = [first, {**first, "number": 2, "champion": True}]
    found["states"] = {"1": "former champion", "2": "champion"}
    found["previous"] = 1
    route.fulfill(json=found)


def test_what_is_told_of_a_version_is_what_was_asked_last(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Where a version comes from came late, and took the place of the report asked for since."""
    page = visit(studio, "/versions?project=sample")
    held = hold(page, "**/models/1/lineage")
    page.locator("[data-role=models]").get_by_text("More", exact=True).click()
    page.get_by_role("button", name="Where it comes from").click()
    held.arrived()
    page.get_by_role("button", name="Report").click()
    title = page.get_by_role("heading", name="Report about version 1")
    expect(title).to_be_visible()
    held.release()
    expect(title).to_be_visible()


def test_a_late_list_of_examples_does_not_go_under_another_intent(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The examples of an intent came late and were listed as those of the one chosen since."""
    page = visit(studio, "/review?project=sample&tab=reshape")
    page.locator("select[data-key=intent]").select_option(index=3)
    page.locator("select[data-key=how]").select_option("relabel")
    examples = page.locator("[aria-label='Reshape intents'] li label")
    expect(examples).not_to_have_count(0)
    held = hold(page, "**/utterances?intent=*")
    intent = page.locator("select[data-key=intent]")
    for place in (1, 2):
        intent.select_option(index=place)
    held.arrived(2)
    before = examples.first.inner_text()
    held.release(1)
    expect(examples.first).not_to_have_text(before)
    newest = examples.all_inner_texts()
    held.release(0)
    assert examples.all_inner_texts() == newest


def coloured_anew(page: Page, studio: Served) -> None:
    """Let somebody else change something, and wait until the map has its new colours."""
    held = hold(page, "**/map/colours?*", most=1)
    row = studio.ask("/projects/sample/utterances?state=unlabelled&size=1")["rows"][0]
    for kind in ("flag", "unflag"):
        edit = {"filter": {"ids": [row["id"]]}, "kind": kind, "value": "", "expected": 1}
        studio.ask("/projects/sample/edits", edit)
    held.arrived()
    held.release()


def test_a_clicked_point_can_be_labelled_and_a_lasso_of_nothing_says_so(page: Page) -> None:
    """A click showed neighbours and reasons, and to label the text one had to draw a lasso."""
    page.locator(".legend .entry", has_text="unlabelled").click()
    state = page.evaluate("document.querySelector('.map').probe()")
    page.mouse.click(*state["points"][state["seen"][-1]])
    panel = page.locator("[data-role=selection]")
    expect(panel.get_by_role("heading", name="Nearest examples")).to_be_visible()
    about = panel.locator("[data-role=about]")
    expect(about).to_contain_text("no label")
    panel.get_by_role("combobox", name="Choose the label").fill("roaming")
    page.keyboard.press("Enter")
    panel.get_by_role("button", name="Label 1 text").click()
    expect(about).to_contain_text("roaming")
    panel.get_by_role("button", name="Undo").click()
    expect(about).to_contain_text("no label")
    left, top = state["box"]["x"] + 3, state["box"]["y"] + 3
    page.mouse.move(left, top)
    page.mouse.down()
    for right, down in ((0, 12), (12, 12), (12, 0), (0, 0)):
        page.mouse.move(left + right, top + down)
    page.mouse.up()
    expect(page.locator(".toast", has_text="The lasso caught no point.")).to_be_visible()
    expect(panel.get_by_role("heading", name="Selection")).to_be_visible()


def test_other_colours_do_not_wait_for_the_comparison_of_examples(
    visit: Callable[..., Page], studio: Served
) -> None:
    """With 50,000 points other colours came after 4.3 s, because both were computed at once."""
    page = visit(studio, "/map?project=sample")
    mixed_up = page.locator("[data-role=mixed-up] button").first
    expect(mixed_up).to_be_visible()  # the page asks for nothing more by itself
    held = hold(page, "**/map/colours*by=prediction*")
    compared: list[str] = []
    page.on("request", lambda one: "kind=confusion" in one.url and compared.append(one.url))
    page.reload()
    page.wait_for_selector(".map[data-ready=true]")
    held.arrived()
    settle(page)
    assert compared == []
    # On a small screen the panel scrolls, and keys did not reach it meanwhile.
    panel = page.get_by_role("region", name="Selection")
    panel.focus()
    expect(panel).to_be_focused()
    held.release()
    expect(mixed_up).to_be_visible()
    page.unroute_all(behavior="wait")


def test_panel_and_tooltip_tell_one_label_while_the_colours_are_on_their_way(page: Page) -> None:
    """The panel told the new label, and the tooltip beside it the one of before."""
    page.locator(".legend .entry", has_text="unlabelled").click()
    state = page.evaluate("document.querySelector('.map').probe()")
    place = state["points"][state["seen"][-1]]
    tip, panel = page.locator("[data-role=tip]"), page.locator("[data-role=selection]")
    label, about = tip.locator("dd").first, panel.locator("[data-role=about]")
    page.mouse.move(*place)
    expect(label).to_have_text("no label")
    page.mouse.click(*place)
    expect(about).to_contain_text("no label")
    hold(page, "**/map/colours?*")  # for as long as this test runs
    panel.get_by_role("combobox", name="Choose the label").fill("roaming")
    page.keyboard.press("Enter")
    panel.get_by_role("button", name="Label 1 text").click()
    expect(about).to_contain_text("roaming")
    page.mouse.move(*place)
    expect(label).to_have_text("roaming")
    panel.get_by_role("button", name="Undo").click()
    expect(about).to_contain_text("no label")
    page.mouse.move(*place)
    expect(label).to_have_text("no label")
