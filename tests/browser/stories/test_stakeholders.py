"""A manager reads a report: ready or not, what changed, what to do; its file opens anywhere."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.builders.served_studio import Served


def test_a_manager_reads_whether_it_is_ready_and_gets_a_file(
    visit: Callable[..., Page], twice: Served, tmp_path: Path
) -> None:
    """The report began with macro F1; its link opened nowhere else, and nothing said so."""
    page = visit(twice, "/versions?project=sample")
    page.locator("li[data-version='2']").get_by_role("button", name="Report").click()
    panel = page.get_by_role("region", name="Comparison")
    expect(panel.get_by_role("button").first).to_have_text("Download HTML")
    expect(panel.get_by_role("button").nth(1)).to_have_text("Download PDF")
    expect(panel.locator("[data-role=reach-of-link]")).to_contain_text("on this computer only")
    with page.expect_download() as coming:
        panel.get_by_role("button", name="Download HTML").click()
    file = tmp_path / "report.html"
    coming.value.save_as(file)
    page.set_viewport_size({"width": 390, "height": 844})
    page.set_content(file.read_text(encoding="utf-8"))
    expect(page.locator(".ready .lead")).to_contain_text("Not ready yet")
    expect(page.locator(".ready")).to_contain_text("worse than the version before")
    expect(page.locator(".figures > div")).to_have_count(3)
    expect(page.locator(".sentences > li")).to_have_count(5)
    names = ["What to do next", "What changed since version 1", "Appendix: the figures in detail"]
    headings = page.locator("h2").all_inner_texts()
    assert headings == names
    for title in ("Better: ", "Worse: "):
        side = page.locator(".columns > div", has_text=title)
        expect(side.locator(".pair").first).to_contain_text("now ")
    expect(page.locator("footer")).to_contain_text("on this computer only")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
