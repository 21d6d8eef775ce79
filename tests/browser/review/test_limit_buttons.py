"""Save and Discard of the limit keep their places, and the tab says for which version it is."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.builders.served_studio import Served

pytestmark = pytest.mark.usefixtures("foretold")


def test_save_keeps_its_place_when_a_limit_is_chosen(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“Discard changes” came to where “Save” stood, and a press there lost the choice."""
    page = visit(studio, "/review?project=sample&tab=fence")
    save = page.get_by_role("button", name="Save", exact=True)
    discard = page.get_by_role("button", name="Discard changes")
    for width, height in ((1280, 800), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        expect(save).to_be_disabled()
        page.locator(".decision").evaluate("one => one.scrollIntoView({block: 'center'})")
        at, beside = save.bounding_box(), discard.bounding_box()
        slider = page.get_by_role("slider", name="Limit")
        slider.evaluate("one => one.focus({preventScroll: true})")
        page.keyboard.press("ArrowLeft")
        expect(save).to_be_enabled()
        assert (save.bounding_box(), discard.bounding_box()) == (at, beside)
        assert at is not None
        assert beside is not None
        assert at["x"] + at["width"] <= beside["x"]
        discard.click()
        expect(discard).to_be_disabled()


def test_the_tab_says_for_which_version_the_limit_is(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Version 2 waited, and nothing said whose limit was chosen."""
    page = visit(studio, "/review?project=sample&tab=fence")
    said = page.locator("[data-role=version]")
    expect(said).to_contain_text("for version 1, which answers now")


def test_a_limit_that_somebody_saved_meanwhile_stays(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Save replaced it, and Undo brought back the one before it."""
    page = visit(studio, "/review?project=sample&tab=fence")
    page.wait_for_selector(".figure")

    def saved_by_another(limit: float | None) -> None:
        answer = page.request.put(
            f"{studio.base}/api/projects/sample/fence",
            data={"limit": limit, "limits": {}},
            headers={"Authorization": f"Bearer {studio.token}"},
        )
        assert answer.ok

    def stands() -> float:
        return float(studio.ask("/projects/sample/fence/what-if", {})["stands"]["limit"])

    save = page.get_by_role("button", name="Save", exact=True)
    in_force = page.locator("[data-role='in force']")
    told = page.locator(".toast.bad", has_text="The limit was changed meanwhile")
    page.get_by_role("slider", name="Limit").press("ArrowLeft")
    expect(save).to_be_enabled()
    saved_by_another(0.61)
    save.click()
    expect(told).to_have_count(1)
    expect(in_force).to_contain_text("61.0")
    assert stands() == 0.61
    save.click()  # now the page has shown what it replaces
    done = page.locator(".toast", has_text="The new limit decides now.")
    expect(done).to_be_visible()
    saved_by_another(0.62)
    done.get_by_role("button", name="Undo").click()
    expect(told).to_have_count(2)
    expect(in_force).to_contain_text("62.0")
    expect(page.locator(".fence b.tabular")).to_have_text("62.0")
    assert stands() == 0.62
    saved_by_another(None)


def test_another_method_of_the_fence_starts_where_as_many_are_in_scope(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Another method began with a line that refused many more texts than now."""
    page = visit(studio, "/review?project=sample&tab=fence")
    kept = page.locator("[data-role=fence] > div", has_text="not refused").locator(".figure")
    expect(kept).to_contain_text("%")
    share = kept.inner_text()
    page.get_by_text("Another measure").click()
    page.get_by_label("Measure").select_option("nearest")
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_enabled()
    expect(kept).to_have_text(share)
