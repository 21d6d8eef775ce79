"""A manager reads a report: ready or not, what changed, what to do; its file opens anywhere."""

import re
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
    reach = panel.locator("[data-role=reach-of-link]")
    expect(reach).to_have_text("For anybody else, send the PDF or the HTML file.")
    with page.expect_download() as coming:
        panel.get_by_role("button", name="Download HTML").click()
    file = tmp_path / "report.html"
    coming.value.save_as(file)
    page.set_viewport_size({"width": 390, "height": 844})
    page.set_content(file.read_text(encoding="utf-8"))
    # It never said whether version 2 is ready.
    expect(page.locator(".ready .lead")).to_have_text(
        re.compile(r"Not ready yet\. Worse than version 1: keep version 1")
    )
    expect(page.locator(".figures > div")).to_have_count(3)
    expect(page.locator(".sentences > li")).to_have_count(5)
    names = ["What to do next", "What changed since version 1", "Appendix: the figures in detail"]
    headings = page.locator("h2").all_inner_texts()
    assert headings == names
    for title in ("Better: ", "Worse: "):
        side = page.locator(".columns > div", has_text=title)
        told = side.locator(".pair").first  # "now B; right would be A, as before" was in no order
        expect(told).to_contain_text(re.compile(r"before .*now "))
    # "Its examples: 193 unlabelled" read as if it had learned from texts without a label.
    expect(page.locator("body")).to_contain_text(re.compile("data: .*no longer labelled"))
    expect(page.locator("footer")).to_contain_text("only on this computer")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.goto(f"{twice.base}/reports/sample/2")  # it was a dead end
    expect(page.locator(".figures > div").first).to_contain_text("test texts answered right today")
    expect(page.locator(".ready")).to_contain_text("both with all labels up to now")
    page.get_by_role("link", name="Back to Versions").click()
    page.wait_for_url("**/versions?project=sample")


def test_a_report_gives_one_verdict_one_accuracy_and_the_decision_first(
    visit: Callable[..., Page], twice: Served
) -> None:
    page = visit(twice, "/versions?project=sample")
    page.goto(f"{twice.base}/reports/sample/2")
    # "Taken alone: Ready to use" stood under "keep version 1 live".
    expect(page.locator(".by-rule")).not_to_contain_text(re.compile("Ready|Taken alone"))
    expect(page.locator(".by-rule")).to_contain_text("worse than version 1")
    first = (
        page.locator("section", has=page.get_by_role("heading", name="What to do next"))
        .locator("li")
        .first
    )
    expect(first).to_have_text("Decide: keep version 1 live.")
    # Two accuracies of one moment stood under one heading, 96.5 % and 95.3 %.
    checked = page.locator("table", has_text="Give or take")
    expect(checked.locator("tr").first).to_contain_text("Right answers")
    expect(checked).not_to_contain_text("refused")


def test_a_report_is_shared_by_a_link_and_no_longer_when_it_is_stopped(
    visit: Callable[..., Page], twice: Served
) -> None:
    """One link opened every receipt and report of a home, for ever."""
    page = visit(twice, "/versions?project=sample")
    page.locator("li[data-version='2']").get_by_role("button", name="Report").click()
    sharing = page.locator("[data-role=sharing]")
    expect(
        sharing.get_by_role("button", name="Make a link")
    ).to_be_hidden()  # nobody else could open it
    sharing.get_by_text("A link that works only on this computer").click()
    # "for 30 days", "Stop sharing" and "never opened" were said of a link for nobody else.
    expect(sharing.get_by_label("How long the link opens")).to_have_count(0)
    sharing.get_by_role("button", name="Make a link").click()
    link = sharing.locator("[data-role=link]").input_value()
    said = sharing.inner_text()
    assert said.count("only on this computer") == 1  # it stood there three times
    line = sharing.locator("[data-role=links] li")
    expect(line).to_have_count(1)
    expect(sharing).not_to_contain_text(
        re.compile("shar|never opened|without an end", re.IGNORECASE)
    )

    browser = page.context.browser
    assert browser is not None
    with browser.new_context() as context:
        reader = context.new_page()
        reader.goto(link)
        expect(reader.get_by_role("link", name="Back to Versions")).to_have_count(0)
        expect(reader.locator("h1")).to_contain_text("sample")
        assert "token" not in reader.url
        assert "token" not in reader.title()
        assert reader.goto(f"{twice.base}/reports/sample/1").status == 403
        line.get_by_role("button", name="Remove the link").click()
        expect(line).to_have_count(0)
        assert reader.goto(f"{twice.base}/reports/sample/2").status == 401
