"""What a designer does on Data with the package of an agent."""

from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.builders.held_answers import settle


def take_all(page: Page) -> None:
    """Choose what is asked about the file that is previewed, and import it."""
    questions = page.locator("[data-key=questions]")
    while questions.count():  # it goes by itself once all choices were in sight
        questions.evaluate_all("all => all.forEach(one => one.click())")
        settle(page)
    page.locator("[data-key=import]").click()


def take_back(page: Page, package: Path, out: Path) -> Locator:
    """Write one changed label onto the package, as a download; return what tells of it."""
    page.get_by_label("File that the platform exported").set_input_files(package)
    sheet = page.get_by_role("region", name="Back into an agent")
    expect(sheet).to_contain_text("1 phrase would get another intent, 0 texts would be added")
    expect(sheet).not_to_contain_text("Not carried")
    with page.expect_download() as downloading:
        sheet.get_by_role("link", name="Download").click()
    downloading.value.save_as(out)
    return sheet
