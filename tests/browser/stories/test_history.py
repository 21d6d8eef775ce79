"""The History page lists every act, by person and by what was done."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.builders.served_studio import Served


def test_an_act_is_listed_with_person_and_origin_and_can_be_filtered(
    visit: Callable[..., Page], twice: Served
) -> None:
    page = visit(twice, "/versions?project=sample")
    page.locator("li[data-version='2']").get_by_role("button", name="Report").click()
    sharing = page.locator("[data-role=sharing]")
    sharing.get_by_text("A link that works only on this computer").click()
    sharing.get_by_role("button", name="Make a link").click()
    expect(page.locator("[data-role=links] li").first).to_be_visible()
    page.get_by_role("link", name="History").click()
    rows = page.locator("[data-role=acts] tbody tr")
    expect(rows.first).to_contain_text("Share report on version 2")
    expect(rows.first).to_contain_text("a page")
    before = rows.count()
    # “not known” stood as chosen, while the acts of all were listed.
    chosen = page.get_by_label("Who", exact=True).locator("option:checked")
    expect(chosen).to_have_text("all")
    expect(rows.first).to_contain_text("this computer")
    # Acts were called as the log calls them: "Unlabel", "Mark slots", "Save fence".
    what = page.get_by_label("What", exact=True).locator("option")
    expect(what.filter(has_text="Take a label away")).to_have_count(1)
    expect(rows.filter(has_text="Take a label away")).to_have_count(1)
    expect(rows.filter(has_text="Unlabel")).to_have_count(0)
    page.get_by_label("What", exact=True).select_option("import")
    expect(rows.first).to_contain_text("Import")
    assert 0 < rows.count() < before
    expect(rows.filter(has_text="Share report")).to_have_count(0)
    # Five squeezed columns broke each time over three lines on a phone.
    page.set_viewport_size({"width": 390, "height": 844})
    row, what = rows.first, rows.first.locator(".what")
    cells = [cell.bounding_box() for cell in (row, what, row.locator("td").first)]
    assert all(cells)
    whole, first, time = (cell or {} for cell in cells)
    assert first["y"] + first["height"] <= time["y"] + 1
    assert whole["height"] < 80
    label = "node => getComputedStyle(node, '::before').content"
    assert what.evaluate(label) == "none"  # "What: " stood before each act
    page.set_viewport_size({"width": 1280, "height": 844})
    page.reload()
    expect(page.get_by_label("What", exact=True)).to_have_value("import")
