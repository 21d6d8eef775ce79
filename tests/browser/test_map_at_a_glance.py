"""The map is read at a glance: names, tooltip, legend and keyboard, and nothing hidden is taken."""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from core.maps.palette import GREY, position_colour
from tests.builders.served_studio import Served, probe

_STATE = "document.querySelector('.map').probe()"
_NAMES = """() => [...document.querySelectorAll('.names span[data-shown=true]')].map(node => {
    const {left, right, top, bottom} = node.getBoundingClientRect();
    return {name: node.textContent, left, right, top, bottom};
})"""
_SIXTY_FOUR = """async () => {
    const {Names} = await import('/studio/js/map/names.js');
    const {Camera} = await import('/studio/js/map/camera.js');
    const names = new Names(), camera = new Camera();
    document.querySelector('.map').append(names.element);
    names.show(Array.from({length: 64}, (_, at) => ({
        name: `an_intent_with_a_long_name_${at}`, at: [(at % 8) / 7, Math.floor(at / 8) / 7],
    })));
    camera.resize(600, 400);
    camera.fit(new Float32Array([0, 0, 1, 1]));
    const shown = (isFirst = () => false) => {
        names.place(camera, {isShown: () => true, isFirst, side: 'at'});
        return [...names.element.querySelectorAll('[data-shown=true]')].map(node => {
            const {left, right, top, bottom} = node.getBoundingClientRect();
            return {name: node.textContent, left, right, top, bottom};
        });
    };
    const whole = shown();
    const lit = shown(({name}) => name.endsWith('_61') || name.endsWith('_62'));
    camera.zoomAt(4, 200, 150);
    const quarter = shown();
    names.element.remove();
    return [whole, quarter, lit];
}"""
_UNPLACED = """async () => {
    const {Names} = await import('/studio/js/map/names.js');
    const names = new Names();
    document.querySelector('.map').append(names.element);
    names.show([{name: 'one', at: [0, 0]}, {name: 'two', at: [1, 1]}]);
    const seen = [...names.element.children].map(node => getComputedStyle(node).opacity);
    names.element.remove();
    return seen;
}"""
_NARROW = """async () => {
    const {Names} = await import('/studio/js/map/names.js');
    const {Camera} = await import('/studio/js/map/camera.js');
    const names = new Names(), camera = new Camera();
    document.querySelector('.map').append(names.element);
    const places = [[0, 0.5], [1, 0.5], [0.5, 1], [0.5, 0], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5]];
    names.show(places.map((at, place) => ({name: `a_rather_long_name_${place}`, at})));
    camera.resize(600, 400);
    camera.fit(new Float32Array([0, 0, 1, 1]));
    const shown = (spots, isShown = () => true) => {
        names.place(camera, {isShown, side: 'at', spots});
        return [...names.element.querySelectorAll('[data-shown=true]')].map(node => {
            const {left, right, top, bottom} = node.getBoundingClientRect();
            return {name: node.textContent, left, right, top, bottom};
        });
    };
    const whole = shown();
    camera.zoomAt(50, 300, 100);
    const deep = shown(() => new Map([['a_rather_long_name_2', [0.5, 0.8]]]));
    names.element.remove();
    return [whole, deep];
}"""
_LOOKS = """async ([legend, grounds]) => {
    const {sceneOf} = await import('/studio/js/map/scene.js');
    const codes = Uint16Array.from(legend.keys());
    const kinds = legend.map(({kind}) => kind);
    const none = new Set(), view = {hidden: none, lit: none, glanced: none, marked: []};
    return grounds.map(ink => {
        const {places, colours, looks} = sceneOf({...view, colours: {codes, legend, kinds}, ink});
        return Array.from(places, (place, at) => [place, colours[4 * at + 3], looks[2 * at + 1]])
            .sort((a, b) => a[0] - b[0]);
    });
}"""
_CONTRAST = """scheme => {
    document.body.classList.toggle('dark', scheme === 'dark');
    const light = colour => {
        const [r, g, b] = colour.match(/[\\d.]+/g).map(value => {
            const share = value / 255;
            return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const style = one => getComputedStyle(document.querySelector(one));
    const {color, backgroundColor: behind} = style('.names span');
    const [ink, ground] = [color, style('.map').backgroundColor].map(light);
    document.body.classList.remove('dark');
    const contrast = (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
    return {contrast, cover: Number(behind.match(/([\\d.]+)\\)$/)[1])};
}"""
_SCENE = """async () => {
    const {sceneOf} = await import('/studio/js/map/scene.js');
    const kinds = ['labelled', 'unlabelled', 'outside', 'unlabelled', 'labelled'];
    const legend = [{name: 'a', colour: '#ff0000'}, {name: 'b', colour: '#00ff00'}];
    const colours = {codes: new Uint16Array([0, 1, 1, 1, 0]), legend, kinds};
    const none = new Set();
    const view = {colours, hidden: none, lit: none, glanced: none, marked: [], ink: '#000000'};
    const told = ({places, colours, looks}) => Array.from(places, (place, at) => ({
        place, opacity: colours[4 * at + 3], size: looks[2 * at], shape: looks[2 * at + 1],
    }));
    return {all: told(sceneOf(view)), lit: told(sceneOf({...view, lit: new Set([1])}))};
}"""
_WITHOUT_GRAPHICS = """async () => {
    const {painterOn} = await import('/studio/js/map/painter.js');
    const {Camera} = await import('/studio/js/map/camera.js');
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = 100;
    const pen = canvas.getContext('2d'); // now it has no other context
    const camera = new Camera();
    camera.resize(100, 100);
    const painter = painterOn(canvas);
    const scene = {places: new Uint32Array([0]), colours: [255, 0, 0, 255], looks: [10, 0]};
    painter.load({...scene, colours: new Uint8Array(scene.colours)}, new Float32Array([0.5, 0.5]));
    painter.draw(camera, 1);
    return [50, 90].map(at => Array.from(pen.getImageData(at, at, 1, 1).data));
}"""


@pytest.fixture
def page(shared_map: Page) -> Iterator[Page]:
    """The whole map with nothing selected, searched for or shown alone."""
    yield shared_map
    shared_map.get_by_label("Find in the legend").fill("")
    everything = shared_map.locator("[data-role=show-all]")
    if everything.is_visible():
        everything.click()
    shared_map.get_by_label("Highlight texts").fill("")
    shared_map.locator(".map").focus()
    for key in ("0", "Escape", "Escape"):
        shared_map.keyboard.press(key)
    shared_map.mouse.move(5, 5)


def test_a_clear_map_is_made_by_itself_and_the_page_says_what_it_shows_until_then(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The first thing on the page was a cloud by PCA, and UMAP a button that few found."""
    done = False

    def sketch(route: Route) -> None:
        url = route.request.url if done else route.request.url.replace("=auto", "=pca")
        route.fulfill(response=route.fetch(url=url))

    def told(route: Route) -> None:
        found: dict[str, Any] = route.fetch().json()
        job = {"id": "j", "kind": "layout", "state": "running", "progress": 0.4}
        stage = {"stage": "laying out 5 texts", "eta_seconds": None}
        route.fulfill(json={**found, "job": None if done else {**job, **stage}})

    page = visit(studio)
    page.route("**/projects/sample/map?*", sketch)
    page.route("**/status", told)
    page.route("**/map/layout", lambda route: route.fulfill(status=202, json={"job": "j"}))
    with page.expect_request("**/map/layout") as asked:
        page.goto(f"{studio.base}/map?project=sample")
    assert asked.value.post_data_json == {"method": "umap", "model": 1}
    layout = page.locator("[data-role=layout]")
    expect(layout).to_contain_text("A first sketch. The clearer map is on its way")
    page.wait_for_selector(".map[data-ready=true]")  # it does not wait for the other one
    sketched = page.evaluate(f"{_STATE}.points")
    done = True
    offer = page.locator("[data-role=map-offer]")
    expect(offer).to_contain_text("A clearer map is ready.")
    expect(layout).to_have_count(0)
    assert page.evaluate(f"{_STATE}.points") == sketched  # a hand may be selecting
    offer.get_by_role("button", name="Show it").click()
    expect(layout).to_contain_text("Clearer map: ")
    expect(offer).to_be_hidden()
    assert page.evaluate(f"{_STATE}.points") != sketched


def test_each_choice_says_what_it_chooses(page: Page) -> None:
    """Three of four boxes bore no caption: “Automatic”, “live version”, “compare with …”."""
    for caption in ("Layout", "Version", "Compare with", "Colour by"):
        expect(page.locator(".map-choices").get_by_text(caption, exact=True)).to_be_visible()
        expect(page.get_by_role("combobox", name=caption)).to_be_visible()


def test_names_do_not_overlap_and_more_of_them_come_as_the_map_is_enlarged(page: Page) -> None:
    """Sixty names lay over one another, or the map had none; at first they lay in a pile."""
    assert page.evaluate(_UNPLACED) == ["0", "0"]
    assert len(no_overlap(page.evaluate(_NAMES))) >= 3
    whole, quarter, lit = (no_overlap(names) for names in page.evaluate(_SIXTY_FOUR))
    # Of two intents that are mixed up one had no name, since larger ones had taken the room.
    highlighted = {f"an_intent_with_a_long_name_{at}" for at in (61, 62)}
    assert highlighted - whole
    assert highlighted <= lit
    assert 4 <= len(whole) < 64
    assert len(quarter) > len([name for name in whole if name in quarter])
    assert page.evaluate(_SIXTY_FOUR) == page.evaluate(_SIXTY_FOUR)
    for scheme in ("light", "dark"):
        seen = page.evaluate(_CONTRAST, scheme)
        assert seen["contrast"] > 7
        assert 0.7 < seen["cover"] < 1  # names were hard to read over points


def test_islands_at_the_edge_together_or_close_up_have_names(page: Page) -> None:
    """A name that the edge would cut, or with its middle out of view, was missing at any zoom."""
    whole, deep = page.evaluate(_NARROW)
    assert len(no_overlap(whole)) == 7
    assert "a_rather_long_name_2" in no_overlap(deep)


def test_intents_of_like_colours_have_different_shapes(page: Page) -> None:
    """Sixty intents had colours that nobody could tell apart."""
    colours = [position_colour(at) for at in range(60)]
    legend = [{"name": colour, "colour": colour, "kind": "labelled"} for colour in colours]
    ((*looks,),) = page.evaluate(_LOOKS, [legend, ["#000000"]])
    shapes = [shape for _, _, shape in looks]
    assert set(shapes[:13]) == {0}
    assert not set(shapes) & {1, 2}  # these are out of scope, and marked
    for one, other in combinations(range(60), 2):
        steps = (other - one) * 137.50776405 % 360
        assert shapes[one] != shapes[other] or min(steps, 360 - steps) > 15 or other - one > 50


def test_unlabelled_points_are_visible_on_light_and_on_dark_ground(page: Page) -> None:
    """Grey dots of half the contrast that an eye needs were taken for dirt."""
    legend = [{"name": "unlabelled", "colour": GREY, "kind": "unlabelled"}]
    grounds = {"#1a1d23": "#f7f8fa", "#e8eaed": "#111317"}  # by the ink on them
    for ground, ((_, opacity, _),) in zip(
        grounds.values(), page.evaluate(_LOOKS, [legend, list(grounds)]), strict=True
    ):
        behind, dot = (int(colour[1:3], 16) for colour in (ground, GREY))
        seen = behind + (dot - behind) * opacity / 255
        one, other = (((value / 255 + 0.055) / 1.055) ** 2.4 + 0.05 for value in (behind, seen))
        assert 2.9 < max(one, other) / min(one, other) < 3.5


def test_the_legend_is_by_name_and_hides_what_is_unlabelled(page: Page) -> None:
    """Its order was that of the file, and “unlabelled” stood below sixty names."""
    entries = page.locator(".legend .entry .grow").all_inner_texts()
    assert entries[0] == "unlabelled"
    names = [name for name in entries if name not in ("unlabelled", "out of scope")]
    assert names == sorted(names)
    everything = page.evaluate(f"{_STATE}.seen.length")
    page.get_by_role("button", name="Hide unlabelled").click()
    hidden = page.locator(".legend .entry .tabular").first.inner_text()
    assert page.evaluate(f"{_STATE}.seen.length") == everything - int(hidden.replace(",", ""))
    expect(page.locator(".legend [aria-pressed=true]")).to_have_count(0)
    page.get_by_role("button", name="Show unlabelled").click()
    assert page.evaluate(f"{_STATE}.seen.length") == everything
    page.locator(".legend .entry", has_text=names[-1]).hover()
    page.wait_for_function(f"({_NAMES})().map(one => one.name).join() === {names[-1]!r}")


def no_overlap(names: list[dict[str, Any]]) -> set[str]:
    """Return names by the boxes in which they are shown, whose grounds have a pixel between."""
    apart = 5  # each ground reaches 2 pixels beyond its box
    for a, b in combinations(names, 2):
        beside = a["right"] + apart <= b["left"] or b["right"] + apart <= a["left"]
        below = a["bottom"] + apart <= b["top"] or b["bottom"] + apart <= a["top"]
        assert beside or below, (a, b)
    return {name["name"] for name in names}


def test_a_click_or_lasso_takes_nothing_that_is_hidden_or_out_of_view(page: Page) -> None:
    """What the legend had hidden, and what lay outside the view, was selected and labelled."""
    everything = page.evaluate(_STATE)
    page.locator(".legend .entry").nth(1).click()
    alone = page.evaluate(_STATE)
    shown = [everything["points"][place] for place in alone["seen"]]
    assert 0 < len(shown) < len(everything["seen"])
    far = max(
        (point for at, point in enumerate(everything["points"]) if at not in alone["seen"]),
        key=lambda one: min((one[0] - x) ** 2 + (one[1] - y) ** 2 for x, y in shown),
    )
    page.mouse.click(*far)
    expect(page.locator("[data-role=selection] h2")).to_have_text("Selection")  # no neighbours
    page.evaluate(probe("lasso"), everything["seen"])
    picked = page.locator("[data-role=picked]")
    expect(picked).to_have_text(f"{len(shown)} texts selected")
    page.locator("[data-role=show-all]").click()
    box = everything["box"]
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.wheel(0, -600)
    page.wait_for_function(f"{_STATE}.zoom > 2")
    near = page.evaluate(_STATE)
    inside = [
        place
        for place in near["seen"]
        if 0 <= near["points"][place][0] - box["x"] <= box["width"]
        and 0 <= near["points"][place][1] - box["y"] <= box["height"]
    ]
    assert 0 < len(inside) < len(near["seen"])
    page.evaluate(probe("lasso"), near["seen"])
    expect(picked).to_have_text(f"{len(inside)} texts selected")


def test_the_tooltip_at_the_pointer_tells_text_label_and_answer(page: Page, studio: Served) -> None:
    """The text of a point stood below the map, far from the pointer and without the answer."""
    found = studio.ask("/projects/sample/map?method=auto")
    place = page.evaluate(_STATE)["seen"][-1]  # drawn last, so labelled
    (row,) = studio.ask("/projects/sample/utterances/by-ids", {"ids": [found["ids"][place]]})
    x, y = page.evaluate(_STATE)["points"][place]
    page.mouse.move(x, y)
    tip = page.locator("[data-role=tip]")
    expect(tip).to_contain_text(row["text"])
    expect(tip.locator("dt")).to_have_text(["Label", "Answer"])
    expect(tip.locator("dd").first).not_to_have_text("unlabelled")
    box = tip.bounding_box()
    assert box is not None
    assert abs(box["x"] - x) < box["width"] + 30
    assert abs(box["y"] - y) < box["height"] + 30
    page.mouse.move(5, 5)
    expect(tip).to_be_hidden()


def test_the_legend_is_searched_and_shows_an_entry_alone_by_the_keyboard(page: Page) -> None:
    """Among sixty entries each had to be found by eye and hidden by one click each."""
    entries = page.locator(".legend .entry")
    n = entries.count()
    everything = page.evaluate(f"{_STATE}.seen.length")
    search = page.get_by_label("Find in the legend")
    search.fill("unlabelled")
    expect(entries).to_have_count(1)
    count = int(entries.first.locator(".tabular").inner_text().replace(",", ""))
    search.press("ArrowDown")
    expect(entries.first).to_be_focused()
    page.keyboard.press("Enter")
    expect(entries.first).to_have_attribute("aria-pressed", "true")
    expect(entries.first).to_be_focused()
    assert page.evaluate(f"{_STATE}.seen.length") == count < everything
    page.keyboard.press("Enter")
    assert page.evaluate(f"{_STATE}.seen.length") == everything
    search.fill("")
    expect(entries).to_have_count(n)
    entries.first.focus()
    page.keyboard.press("ArrowDown")
    expect(entries.nth(1)).to_be_focused()


def test_the_keyboard_goes_from_point_to_point_and_opens_one(page: Page) -> None:
    """Without a pointer no point could be read."""
    page.locator(".map").focus()
    page.keyboard.press("ArrowRight")
    cursor, spoken = page.locator(".map .cursor"), page.locator("[data-role=spoken]")
    expect(cursor).to_be_visible()
    expect(spoken).to_contain_text("Label: ")
    words, start = spoken.inner_text(), cursor.bounding_box()
    page.keyboard.press("ArrowRight")
    expect(spoken).not_to_have_text(words)
    expect(spoken).to_contain_text("Answer: ")
    end = cursor.bounding_box()
    assert start is not None
    assert end is not None
    assert end["x"] > start["x"]
    text = page.locator("[data-role=tip] .tip-text").inner_text()
    page.keyboard.press("Enter")
    expect(page.locator("[data-role=selection] h2")).to_have_text(text)
    page.keyboard.press("Escape")
    expect(cursor).to_be_hidden()


def test_unlabelled_points_are_small_and_underneath_and_out_of_scope_has_its_own_shape(
    page: Page,
) -> None:
    """Two thousand grey points lay over six hundred labelled ones, all of one size."""
    scene = page.evaluate(_SCENE)
    assert [point["place"] for point in scene["all"]] == [1, 3, 2, 0, 4]
    unlabelled, _, outside, labelled, _ = scene["all"]
    assert unlabelled["size"] < labelled["size"]
    assert outside["shape"] != labelled["shape"] == unlabelled["shape"]
    dimmed = scene["lit"][:-1]
    assert scene["lit"][-1]["place"] == 1
    assert all(point["opacity"] < 40 < scene["lit"][-1]["opacity"] for point in dimmed)
    page.get_by_label("Highlight texts").fill("bill")
    page.wait_for_function(f"{_STATE}.marked.length > 0")
    state = page.evaluate(_STATE)
    assert sorted(state["bright"]) == sorted(state["marked"])
    assert len(state["bright"]) < len(state["seen"])


def test_without_graphics_the_points_are_drawn_too(page: Page) -> None:
    """On a remote desktop the map stayed empty."""
    assert page.evaluate(_WITHOUT_GRAPHICS) == [[255, 0, 0, 255], [0, 0, 0, 0]]
