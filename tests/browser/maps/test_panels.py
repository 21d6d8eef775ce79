"""The map on a phone, what its legend and lasso take, and the list of intents that are mixed up."""

import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from playwright.sync_api import Page, Route, expect

from tests.builders.held_answers import reroute
from tests.builders.served_studio import Served, probe

_STATE = "document.querySelector('.map').probe()"
_UNTRAINED = """async () => {
  const {Note} = await import('/studio/js/map/note.js');
  const note = new Note(() => {}, () => {});
  note.describe({ids: [1], missing: 0, compared: null, method: 'pca', model: 0}, '', true);
  return [...note.element.childNodes].map(one => one.textContent);
}"""
"""What stands under the map of a project without a model."""
_PATTERNS = """async () => {
  const {Note} = await import('/studio/js/map/note.js');
  const note = new Note(() => {}, () => {});
  note.offerTemplates(1200, () => {});
  return note.element.textContent;
}"""


@pytest.fixture
def page(shared_map: Page) -> Iterator[Page]:
    """The map, as wide as a desk's screen again after each test."""
    yield shared_map
    shared_map.set_viewport_size({"width": 1280, "height": 900})


def test_on_a_phone_the_legend_is_a_drawer(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    legend, opener = page.locator(".legend"), page.get_by_role("button", name="Legend", exact=True)
    expect(legend).to_be_hidden()
    opener.click()
    expect(legend).to_be_visible()
    expect(page.get_by_label("Find in the legend")).to_be_focused()
    box = legend.bounding_box()
    assert box is not None
    assert (box["x"], box["width"]) == (0, 390)
    page.keyboard.press("Escape")
    expect(legend).to_be_hidden()
    expect(opener).to_be_focused()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_on_a_phone_the_map_comes_first_and_a_button_says_what_it_shows(page: Page) -> None:
    """Five rows of controls stood before the map, which began below the middle of the screen.

    Then the chosen values, cut off, did not say that it opens four choices. Later the map moved
    down by a line once the next step was known: its reason wrapped below its button.
    """
    checking = {
        "action": "Check 17 labels",
        "reason": "A wrong label makes answers wrong, and the next training would learn it.",
    }
    page.route(
        "**/projects/sample/next",
        lambda route: route.fulfill(json={**route.fetch().json(), **checking}),
    )
    page.set_viewport_size({"width": 390, "height": 844})
    page.reload()
    page.wait_for_selector(".map[data-ready=true]")
    plot, colours = page.locator(".map"), page.get_by_label("Colour by")
    expect(page.locator(".next-line")).to_contain_text(checking["reason"])
    box = plot.bounding_box()
    assert box is not None
    assert box["y"] < 844 / 4
    expect(plot).to_be_in_viewport(ratio=0.95)
    expect(colours).to_be_hidden()
    opener = page.get_by_role("button", name="Change view: by intent")
    expect(opener).to_be_in_viewport(ratio=1)
    opener.click()
    colours.select_option("split")
    page.keyboard.press("Escape")
    expect(colours).to_be_hidden()
    opener = page.get_by_role("button", name="Change view: by set")
    expect(opener).to_be_focused()
    opener.click()
    colours.select_option("intent")
    page.get_by_role("button", name="Close: What the map shows").click()
    page.unroute_all(behavior="wait")


@pytest.mark.parametrize("size", [(390, 844), (1280, 900)])
def test_a_wide_map_stands_upright_in_the_high_frame_of_a_phone(
    visit: Callable[..., Page], studio: Served, size: tuple[int, int]
) -> None:
    """It filled a third of its frame."""
    page = visit(studio, viewport=dict(zip(("width", "height"), size, strict=True)))

    def widened(route: Route) -> None:
        answer = route.fetch()
        xy = np.frombuffer(answer.body(), np.float32).reshape(-1, 2) * np.float32([1.0, 0.3])
        route.fulfill(response=answer, body=xy.astype(np.float32).tobytes())

    page.route("**/map/xy?*", widened)
    page.goto(f"{studio.base}/map?project=sample")
    page.wait_for_selector(".map[data-ready=true]")
    found = page.evaluate(_STATE)
    across, down = np.ptp(np.array(found["points"]), axis=0)
    assert (down > 2 * across) == (size[0] < size[1])
    frame = found["box"]
    assert max(across / frame["width"], down / frame["height"]) > 0.7


def test_a_square_map_fills_the_frame_of_a_phone(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The frame was half as high again as broad, and the map filled half of it."""
    page = visit(studio, viewport={"width": 390, "height": 844})

    def squared(route: Route) -> None:
        answer = route.fetch()
        xy = np.frombuffer(answer.body(), np.float32).reshape(-1, 2)
        xy = (xy - xy.min(0)) / np.ptp(xy, axis=0)
        route.fulfill(response=answer, body=xy.astype(np.float32).tobytes())

    page.route("**/map/xy?*", squared)
    page.goto(f"{studio.base}/map?project=sample")
    page.wait_for_selector(".map[data-ready=true]")
    found = page.evaluate(_STATE)
    size = np.ptp(np.array(found["points"]), axis=0)
    frame = np.array([found["box"]["width"], found["box"]["height"]])
    assert (size / frame > 0.7).all()


def test_a_list_that_goes_on_below_its_edge_shows_a_shade(page: Page) -> None:
    """Legend and selection were cut, and neither a bar nor a shade said that they go on."""
    page.set_viewport_size({"width": 1280, "height": 860})
    for place in (".legend .entries", ".map-side [data-role=selection]"):
        look = page.locator(place).evaluate("one => getComputedStyle(one).backgroundAttachment")
        assert "local" in look


def test_layouts_are_named_in_plain_words(page: Page) -> None:
    """“Best there is” and “Clear (UMAP)” told a designer nothing."""
    choices = page.get_by_label("Layout").locator("option")
    expect(choices).to_have_text(["Automatic", "Quick map", "Clearer map", "Tight groups"])
    layout = page.locator("[data-role=layout]")
    # "This is the clearer map." did not say clearer than what.
    said = r"^(Quick map: a first overview|Clearer map: texts .* than on the quick map)"
    expect(layout).to_have_text(re.compile(said + r"\.$"))
    expect(layout).to_have_attribute("title", re.compile("^Laid out by (PCA|UMAP)$"))


def test_the_legend_has_most_of_the_room_and_says_what_its_signs_mean(page: Page) -> None:
    """Three of 17 intents were in view, and nothing said why some points are squares."""
    page.set_viewport_size({"width": 1280, "height": 860})
    expect(page.locator("[data-role=mixed-up] button").first).to_be_visible()
    room = page.locator(".legend .entries").evaluate(
        "list => Math.floor(list.clientHeight / list.firstElementChild.offsetHeight)"
    )
    assert room >= 9
    expect(page.locator(".legend [data-role=signs]")).to_have_text(
        "Shapes only tell apart intents of similar colours. "
        "Names in italics are groups of Discover, without a label."
    )


def test_a_press_in_the_legend_adds_to_what_is_shown_alone(page: Page) -> None:
    """With two intents shown, a press on "unlabelled", to see it beside them, hid them both."""
    everything = page.evaluate(f"{_STATE}.seen.length")
    entries = page.locator(".legend .entry")
    pressed = page.locator(".legend [aria-pressed=true]")
    counts = [
        int(words.replace(",", "")) for words in entries.locator(".tabular").all_inner_texts()
    ]
    for place in (1, 2, 0):
        entries.nth(place).click()
    expect(pressed).to_have_count(3)
    assert page.evaluate(f"{_STATE}.seen.length") == sum(counts[:3])
    expect(entries.first).to_have_attribute("title", "Take this out")
    entries.first.click()
    assert page.evaluate(f"{_STATE}.seen.length") == sum(counts[1:3])
    page.locator("[data-role=show-all]").click()
    assert page.evaluate(f"{_STATE}.seen.length") == everything


def test_a_lasso_takes_no_point_that_is_dimmed(page: Page) -> None:
    """Of 30 texts that a lasso took, 20 were faded: the highlight had not found them."""
    page.get_by_label("Highlight texts").fill("bill")
    page.wait_for_function(f"{_STATE}.marked.length > 0")
    state = page.evaluate(_STATE)
    assert 1 < len(state["bright"]) < len(state["seen"])
    picked = page.locator("[data-role=picked]")
    page.evaluate(probe("lasso"), state["seen"])
    expect(picked).to_have_text(f"{len(state['bright'])} texts selected")
    # What the last lasso took dims the rest, and is dropped while another is drawn.
    page.evaluate(probe("lasso"), state["bright"][:1])
    expect(picked).to_have_text("1 text selected")
    page.evaluate(probe("lasso"), state["seen"])
    expect(picked).to_have_text(f"{len(state['bright'])} texts selected")
    page.get_by_label("Highlight texts").fill("")
    page.wait_for_function(f"{_STATE}.marked.length === 0")
    page.evaluate(probe("lasso"), state["seen"])
    expect(picked).to_have_text(f"{len(state['seen'])} texts selected")
    page.get_by_role("button", name="Clear").click()


def test_a_selection_says_how_many_of_it_the_legend_hides(page: Page) -> None:
    """“Label 40 texts” took 12 that the map did not show any more, and nothing told that."""
    entries = page.locator(".legend .entry")
    ones, others = (
        int(words.replace(",", "")) for words in entries.locator(".tabular").all_inner_texts()[1:3]
    )
    for place in (1, 2):
        entries.nth(place).click()
    page.evaluate(probe("lasso"), page.evaluate(f"{_STATE}.seen"))
    picked = page.locator("[data-role=picked]")
    all_of_them = f"{ones + others:,} texts selected"
    expect(picked).to_have_text(all_of_them)
    entries.nth(2).click()
    expect(picked).to_have_text(f"{all_of_them}, {others:,} of them hidden by the legend")
    page.locator("[data-role=show-all]").click()
    expect(picked).to_have_text(all_of_them)
    page.get_by_role("button", name="Clear").click()


def test_the_intents_mixed_up_most_are_listed_and_a_press_shows_two_alone(
    page: Page, studio: Served
) -> None:
    """Which islands lie too close was to be found by eye among sixty."""
    cells = studio.ask("/projects/sample/review?kind=confusion&limit=5")["findings"]
    names = {i["id"]: i["name"] for i in studio.ask("/projects/sample/overview")["intents"]}
    listed = page.locator("[data-role=mixed-up] button")
    expect(listed).to_have_count(len(cells))
    # A report counts the test texts alone: “6 texts” here stood against 1 there.
    for row, cell in zip(listed.all_inner_texts(), cells, strict=True):
        assert row.endswith(cell["measure"])
    expect(page.locator("[data-role=counted]")).to_contain_text("both ways")
    whole = page.evaluate(_STATE)
    listed.first.click()
    shown = page.locator(".legend [aria-pressed=true] .grow")
    expect(shown).to_have_count(2)
    # Of sixty intents one of the two lay out of sight.
    expect(page.locator(".legend li:nth-child(-n+2) [aria-pressed=true]")).to_have_count(2)
    two = frozenset(shown.all_inner_texts())
    assert two == {names[key] for key in cells[0]["intents"]}
    told = cells[0]["measure"]
    expect(page.locator("[data-role=selection]")).to_contain_text(f"{told} of one of the two")
    alone = page.evaluate(_STATE)
    assert 0 < len(alone["seen"]) < len(whole["seen"])
    assert alone["zoom"] > whole["zoom"]
    panel = page.locator("[data-role=selection]")
    texts = panel.locator("[data-role=mixed-texts] li")
    expect(texts).to_have_count(int(cells[0]["figure"]))
    expect(panel.locator("a[href*='tab=border']")).to_have_text("Walk along their border")
    panel.get_by_role("button", name="Clear").click()
    expect(shown).to_have_count(0)
    assert page.evaluate(f"{_STATE}.seen.length") == len(whole["seen"])
    assert page.evaluate(f"{_STATE}.zoom") == whole["zoom"]


def test_two_intents_that_are_mixed_up_have_colours_far_apart(page: Page) -> None:
    """The two islands were two nearly equal greens."""
    page.locator("[data-role=mixed-up] button").first.click()
    shapes = page.locator(".legend [aria-pressed=true] .shape")
    expect(shapes).to_have_count(2)
    own = "all => all.map(one => one.style.getPropertyValue('--dot'))"
    dots = shapes.evaluate_all(own)
    one, other = ([int(dot[at : at + 2], 16) for at in (1, 3, 5)] for dot in dots)
    assert sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) >= 150**2
    chips = page.locator("[data-role=mixed-texts] .chip")
    assert set(chips.evaluate_all(own)) <= set(dots)
    near = page.evaluate(
        """async () => {
        const {apart} = await import('/studio/js/map/pair.js');
        const pair = [{name: 'a', color: '#2f8f4e'}, {name: 'b', color: '#35934a'}];
        return [...apart(pair).values()];
    }"""
    )
    assert near[0] == "#2f8f4e"
    assert near[1] in ("#2b7bba", "#d5482c", "#b5820c")
    page.get_by_role("button", name="Clear").click()


def test_a_clearer_map_that_is_refused_says_why_and_is_tried_again(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“The clearer map could not be made.” stood there without a reason or a way on."""

    def sketch(route: Route) -> None:
        route.fulfill(response=route.fetch(url=route.request.url.replace("=auto", "=pca")))

    page = visit(studio)
    refusal = {"message": "UMAP is not installed.", "hint": "Choose PCA."}
    reroute(page, "**/projects/sample/map?*", sketch)
    reroute(page, "**/map/layout", lambda route: route.fulfill(status=422, json=refusal))
    page.goto(f"{studio.base}/map?project=sample")
    note = page.locator("[data-role=map-note]")
    expect(note).to_contain_text("The clearer map could not be made. UMAP is not installed.")
    with page.expect_request("**/map/layout") as asked:
        note.get_by_role("button", name="Try again").click()
    assert asked.value.post_data_json == {"method": "umap", "model": 1}


def test_a_map_before_the_first_training_has_failed_at_nothing(page: Page) -> None:
    """The number of the version that is not there, 0, stood between the sketch and its points."""
    assert page.evaluate(_UNTRAINED) == [
        "A first sketch. After the first training, a clearer map is made by itself.",
        "1 point",
    ]


def test_what_is_read_before_names_are_ignored_is_called_as_elsewhere(page: Page) -> None:
    """“3 templates must be read first”: the dialog that makes texts calls them patterns."""
    assert page.evaluate(_PATTERNS) == "1,200 patterns must be read first.Read them"
