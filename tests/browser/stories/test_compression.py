"""A designer slides texts towards their templates, and sees neighbours, map and versions."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.bootstrap import open_studio
from app.settings import Settings
from core.templates.slots import Slot
from storage import projects
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset
from tests.builders.served_studio import Served, StudioPool, copy_home

ROOMS = ("bedroom", "garden", "kitchen", "bathroom", "attic", "hallway")
ASKED = "the wifi does not reach my garden"
NOTE_SIZE = """new MutationObserver(([{target}]) => {
  if (target.probe) window.sizeWhenReady = target.probe().box.height;
}).observe(document, {subtree: true, attributes: true, attributeFilter: ['data-ready']});"""


@pytest.fixture
def valued(sample_home: Path, tmp_path: Path, studios: StudioPool) -> Iterator[Served]:
    """The sample's studio with rooms marked in its examples."""
    home = copy_home(sample_home, tmp_path / "valued")
    studio = open_studio(Settings(home=home, device="cpu"))
    with studio.database.write() as connection:
        project = projects.find(connection, "sample")
        found = []
        for row in dataset.utterances(connection, project.id, "train"):
            room = next((room for room in ROOMS if room in row.text), None)
            if room is not None:
                start = row.text.index(room)
                found.append(edits.mark(row, [Slot(start, start + len(room), "room")]))
        assert len(found) >= 5
        events.record(connection, project.id, Action("mark", "local"), found)
    studio.database.close()
    with studios.serving(home) as served:
        yield served


def test_a_slider_moves_neighbours_and_points(visit: Callable[..., Page], valued: Served) -> None:
    page = visit(valued, f"/try?project=sample&text={ASKED.replace(' ', '+')}")
    compresses_an_answer(page)
    compresses_the_map(page, valued)
    page.goto(f"{valued.base}/versions?project=sample")
    page.get_by_text("Charts and figures for researchers").click()
    expect(page.locator("[data-role=shapes] .scatterlayer .point")).to_have_count(2)
    expect(page.locator("[data-role=shapes-basis]")).to_contain_text("labelled test texts")
    page.goto(f"{valued.base}/train?project=sample")
    page.get_by_text("More ways", exact=True).click()
    page.get_by_role("radio", name="Marked values").click()
    expect(page.get_by_role("radio", name="Marked values")).to_contain_text("with marked values")
    expect(page.get_by_role("button", name="Train", exact=True)).to_be_enabled()


def compresses_an_answer(page: Page) -> None:
    panel = page.get_by_role("region", name="What if it ignored names and dates?")
    # what stands above it grows until then: on a busy machine a click fell beside the heading
    expect(page.locator("[data-role=landing-words]")).to_contain_text("Rings mark")
    panel.locator("summary").click()
    slider = panel.get_by_role("slider")
    expect(slider).to_be_enabled(timeout=60_000)
    expect(panel.locator("[data-role=suggested]")).to_contain_text("right")
    near = panel.locator("[data-role=nearest] li")
    expect(near).to_have_count(5)
    before = near.all_inner_texts()
    slider.fill("1")
    template = panel.locator("[data-role=template]")
    expect(template).to_contain_text("does not reach my {SLOT}: room “garden”")
    expect(panel.locator("[data-role=compressed]")).to_contain_text("was ")
    assert near.all_inner_texts() != before
    expect(page.locator("[data-role=landing-words]")).to_contain_text(
        "Rings mark the 10 most similar examples."
    )


def compresses_the_map(page: Page, studio: Served) -> None:
    page.add_init_script(NOTE_SIZE)
    page.goto(f"{studio.base}/map?project=sample")
    plot = page.locator(".map[data-ready=true]")
    plot.wait_for(timeout=60_000)
    places = "document.querySelector('.map').probe().points.reduce((sum, [x]) => sum + x, 0)"
    # a line that came above it made it lower a moment later, and moved all points
    height = page.evaluate("document.querySelector('.map').probe().box.height")
    assert page.evaluate("window.sizeWhenReady") == height
    before = page.evaluate(places)
    slider = page.get_by_role("slider", name="Strength of compression")
    slider.fill("0.8")
    expect(page.locator("[data-role=drift]")).to_contain_text("ignored, strength 0.8")
    page.wait_for_selector(".map:not([data-moving])")
    assert page.evaluate(places) != before
    slider.fill("0")
    expect(page.locator("[data-role=drift]")).not_to_contain_text("strength")
    page.wait_for_selector(".map:not([data-moving])")
    assert page.evaluate(places) == before
