"""Versions is understood at first sight: one word for what learned, another for what it read."""

import re
import urllib.request
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.builders.held_answers import reroute
from tests.builders.served_studio import Served

_CHAIN = """async () => {
  const {chainWords} = await import('/studio/js/shared/words.js');
  return chainWords(['bundled', 'shop@1 dialogues', 'sample@1 convfit'], 'sample');
}"""
"""The trainings behind a version that started from a version of another project."""

_COMPARED = """async () => {
  const {comparisonOf} = await import('/studio/js/shared/comparison.js');
  const lists = {answers: [], pins: [], words: ['Micro F1: 90 %.'], intents: []};
  const figures = {before: 0.5, after: 0.75, difference: null, n: 40, f1: [0.8, 0.9]};
  const names = {champion: 'p@1', candidate: 'p@2', basis: 'test split', task: 'multi-label'};
  const comparison = {...lists, ...figures, ...names, outcome: 'better', verdict: 'Better.'};
  const gate = {promote: true, reasons: []};
  return comparisonOf({comparison, gate, advice: null}).querySelector('.figures').textContent;
}"""
"""The figures of two versions of a project in which a text may have several intents."""


def test_a_version_and_the_data_that_it_learned_from_have_a_word_each(
    visit: Callable[..., Page], twice: Served
) -> None:
    """“Version 2 … learned from data version 1” stood on one line: which of them answers?"""
    page = visit(twice, "/versions?project=sample")
    models = page.get_by_role("region", name="Versions", exact=True)
    made = models.locator("[data-role=made-by]").first
    expect(made).to_contain_text("learned from data snapshot")
    models.get_by_text("More", exact=True).first.click()
    models.get_by_role("button", name="Where it comes from").first.click()
    origin = page.get_by_role("region", name="Comparison")
    # A table of raw fields, such as “tree sha256”, was all that it said.
    expect(origin).to_contain_text("learned from data snapshot")
    origin.get_by_text("For researchers").click()
    expect(origin.get_by_role("cell", name="data snapshot", exact=True)).to_be_visible()
    page.get_by_text("Data snapshots: what each training learned from").click()
    data = page.locator("[data-role=data-versions]")
    expect(data.locator("th").first).to_have_text("Snapshot")
    expect(data.get_by_label("Older data snapshot").locator("option").last).to_have_text(
        "data snapshot 2"
    )
    data.get_by_role("button", name="What changed").click()
    expect(origin.get_by_role("heading")).to_contain_text("to now")
    report = page.request.get(f"{twice.base}/api/projects/sample/models/2/report.html").text()
    assert "data snapshot 2" in report
    for read in (page.locator(".content").inner_text(), report):
        assert "data version" not in read
        assert "dataset version" not in read


def test_a_version_that_cannot_be_measured_is_left_out(
    visit: Callable[..., Page], twice: Served
) -> None:
    """“Measuring …” stood there for ever."""
    page = visit(twice, "/versions?project=sample")
    broken = {"message": "A file of this version is missing.", "hint": ""}
    reroute(page, "**/models/2/shape", lambda route: route.fulfill(status=409, json=broken))
    page.get_by_text("Charts and figures for researchers").click()
    basis = page.locator("[data-role=shapes-basis]")
    expect(basis).to_contain_text("Measured on")
    expect(basis).not_to_contain_text("Measuring")


def test_an_imported_version_that_answers_already_is_said_to_answer(
    visit: Callable[..., Page], twice: Served
) -> None:
    """“Use version” was to let it answer: no button had that name, and the first one was live."""
    page = visit(twice, "/versions?project=sample")
    expect(page.get_by_role("button", name="Use version 2")).to_be_visible()
    file = {"name": "made.zip", "mimeType": "application/zip", "buffer": b"PK"}
    made = {"model": "sample@2"}
    reroute(page, "**/bundles", lambda route: route.fulfill(json=made))
    picker = page.get_by_label("File of the version to import")
    picker.set_input_files(file)
    expect(page.locator(".toast", has_text="“Use version 2” lets it answer.")).to_be_visible()
    made["model"] = "sample@1"
    picker.set_input_files(file)
    expect(page.locator(".toast", has_text="Imported: version 1 answers now.")).to_be_visible()


def test_a_link_to_a_version_that_was_deleted_says_so_below_the_list(
    visit: Callable[..., Page], serve_copy: Callable[[Path], Served], twice_home: Path
) -> None:
    """The page offered to load itself again, which ended in the same error each time."""
    served = serve_copy(twice_home)
    address = f"{served.base}/api/projects/sample/models/2?even_so=true"
    headers = {"Authorization": f"Bearer {served.token}"}
    request = urllib.request.Request(address, headers=headers, method="DELETE")
    with urllib.request.urlopen(request, timeout=60):
        pass
    page = visit(served, "/versions?project=sample&candidate=2&champion=1")
    gone = page.locator("[data-role=gone]")
    expect(gone).to_contain_text("There is no model version 2 any more: it was deleted.")
    models = page.get_by_role("region", name="Versions", exact=True)
    expect(models.locator("[data-role=made-by]")).to_have_count(1)
    expect(page.locator("[data-role=failed]")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("candidate"))


def test_a_version_of_another_project_is_named_by_its_project(
    visit: Callable[..., Page], twice: Served
) -> None:
    """“version 1 → version 1” stood there: the first of them was another project's."""
    words = visit(twice, "/versions?project=sample").evaluate(_CHAIN)
    assert words == "the model that comes with the studio → version 1 of shop → version 1"


def test_figures_of_several_intents_say_what_they_count(
    visit: Callable[..., Page], twice: Served
) -> None:
    """“exact match; F1 80.0 %” stood there; F1 has a sentence below, which says what it is."""
    words = visit(twice, "/versions?project=sample").evaluate(_COMPARED)
    assert words.count("exactly right") == 2
    assert not [old for old in ("exact match", "F1") if old in words]
