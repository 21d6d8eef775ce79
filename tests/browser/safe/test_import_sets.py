"""A team's sheet says of each row whether it is for training or a test; an import keeps to it."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.safe.test_import import choose, lead
from tests.builders.served_studio import Served

SAYS = (
    "2 texts become examples: the model learns from them. "
    "2 texts become test texts: they check the model, which never learns from them."
)


def test_the_test_rows_of_a_teams_sheet_become_test_texts(
    visit: Callable[..., Page], serve: Callable[..., Served], tmp_path: Path
) -> None:
    """1,110 test texts would have been learned from without a word: the sheet's “Set” was ignored.

    He split the file by hand. What was said of all rows applies where no column says it of each.
    """
    studio = serve()
    sheet = tmp_path / "team sheet test.csv"  # its name alone would make tests of all rows
    sheet.write_text(
        "Utterance,Intent,Set\nhow many minutes went by,data_usage,train\n"
        "which share is left now,data_usage,Train\nhow much did I surf,data_usage,test\n"
        "who won the cup,out of scope,TEST\n",
        encoding="utf-8",
    )
    page = visit(studio, "/data?project=sample")
    preview = choose(page, sheet)
    column, destination = preview.get_by_label("Train or test is in"), "[data-role=destination]"
    expect(column).to_have_value("Set")
    expect(preview.get_by_label("Take them as")).to_have_count(0)
    expect(preview.locator(destination)).to_have_text(SAYS)
    column.select_option("no column")
    expect(preview.locator(destination)).to_have_text("The model learns from them.")
    preview.get_by_label("Take them as").select_option("test texts")
    expect(preview.locator(destination)).to_contain_text("They become test texts")
    column.select_option("Set")
    expect(preview.locator(destination)).to_have_text(SAYS)
    expect(preview.get_by_label("“out of scope” (1 row)")).to_have_value("out-of-scope")
    lead(page)
    preview.get_by_role("button", name="Import 4 texts").click()
    expect(page.locator("[data-role=imported]")).to_contain_text(SAYS)
    rows = studio.ask("/projects/sample/utterances?size=4&order=newest")["rows"]
    assert {row["text"]: row["split"] for row in rows} == {
        "how many minutes went by": "train",
        "which share is left now": "train",
        "how much did I surf": "test",
        "who won the cup": "test",
    }


def test_a_file_that_was_not_imported_is_deleted_as_the_page_is_left(
    visit: Callable[..., Page], studio: Served, tmp_path: Path
) -> None:
    """It lay on the server for a day, with the personal data in it."""
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("text,intent\ncall me at home,other\n")
    page = visit(studio, "/data?project=sample")
    choose(page, sheet)
    with page.expect_response(lambda answer: answer.request.method == "DELETE") as left:
        page.evaluate("window.dispatchEvent(new PageTransitionEvent('pagehide'))")
    assert "/uploads/" in left.value.url
    assert left.value.status == 204


def test_rows_for_validation_are_told(
    visit: Callable[..., Page], studio: Served, tmp_path: Path
) -> None:
    """The studio has no third set; its rows do not change sides without a word."""
    sheet = tmp_path / "three sets.csv"
    sheet.write_text("text,intent,split\na new one,other,train\na newer one,other,dev\n")
    page = visit(studio, "/data?project=sample")
    preview = choose(page, sheet)
    told = preview.locator("[data-role=validation]")
    expect(told).to_contain_text("1 row is marked for validation. There is no such set here")
    preview.get_by_role("button", name="Cancel").click()
