"""A new designer, from an empty studio to a bundle: sixty intents, no terminal, no dead end."""

import csv
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.browser.stories.sixty_intents import is_foreign, sixty_intents
from tests.builders.served_studio import Served

NONSENSE = "qwertz uiop penguins knitting jazz"


class Designer:
    """Somebody with a mouse, who counts the clicks from one step to the next."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0

    def click(self, target: Locator) -> None:
        target.click()
        self.clicks += 1
        assert self.clicks <= 3, f"the fourth click since the last step: {target}"

    def has_done_a_step(self) -> None:
        self.clicks = 0

    def does_what_home_says(self, action: str) -> None:
        """From whichever page: the studio's name leads home, and one button on."""
        self.click(self.page.get_by_role("link", name="Intent Studio"))
        step = self.page.locator("[data-role=next] a")
        expect(step).to_contain_text(action)
        self.click(step)


def test_a_new_designer_reaches_a_bundle(
    visit: Callable[..., Page], serve: Callable[..., Served], tmp_path: Path
) -> None:
    studio = serve(empty=True)
    designer = Designer(visit(studio))
    makes_a_project(designer)
    imports_sixty_intents(designer, tmp_path)
    trains(designer, 1)
    labels_some(designer)
    trains(designer, 2)
    looks_at_the_map(designer)
    tries_something_else(designer)
    hands_over(designer, tmp_path)


def makes_a_project(designer: Designer) -> None:
    page = designer.page
    page.get_by_label("Name").fill("bank")
    designer.click(page.get_by_role("button", name="Create project"))
    page.wait_for_selector("h1:has-text('Data')")
    designer.has_done_a_step()


def imports_sixty_intents(designer: Designer, folder: Path) -> None:
    page, file = designer.page, folder / "bank.csv"
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["text", "intent", "split"])
        writer.writerows([row.text, row.intent, row.split] for row in sixty_intents())
    page.get_by_label("File to import").set_input_files(file)
    preview = page.locator("[data-role=preview]")
    expect(preview.locator(".note")).to_contain_text("60 new intents")
    designer.click(preview.get_by_role("button", name="Import"))
    expect(page.locator("[data-role=imported]")).to_contain_text("198 new texts")
    designer.has_done_a_step()


def trains(designer: Designer, number: int) -> None:
    page = designer.page
    designer.does_what_home_says("Train")
    page.get_by_role("radio", name="Quick").click()
    designer.click(page.get_by_role("button", name=re.compile("^(Train|Retrain)$")))
    expect(page.locator("[data-role=job-state]")).to_have_text("done", timeout=600_000)
    designer.has_done_a_step()
    if number > 1:
        designer.click(page.get_by_role("button", name=f"Use version {number}"))
    expect(page.locator("[data-role=champion]")).to_contain_text(f"v{number}")
    designer.has_done_a_step()


def labels_some(designer: Designer) -> None:
    page = designer.page
    designer.does_what_home_says("Label these 20")
    labelled = 0
    while labelled < 12:
        first = page.locator("[data-role=utterance]")
        decided = first.get_attribute("data-id")
        page.wait_for_selector(".option >> nth=0")
        foreign = is_foreign(first.inner_text())
        labelled += not foreign
        page.keyboard.press("0" if foreign else "1")
        expect(first).not_to_have_attribute("data-id", decided or "")
    page.wait_for_selector("[data-role=saved]:has-text('all saved')")
    designer.has_done_a_step()


def looks_at_the_map(designer: Designer) -> None:
    page = designer.page
    designer.click(page.get_by_role("link", name="Map"))
    page.wait_for_selector(".map[data-ready=true]")
    designer.has_done_a_step()


def tries_something_else(designer: Designer) -> None:
    page = designer.page
    designer.click(page.get_by_role("link", name="Try"))
    page.get_by_label("Text to try").fill(NONSENSE)
    expect(page.locator("[data-role=answer]")).to_contain_text("Closest")
    designer.has_done_a_step()


def hands_over(designer: Designer, folder: Path) -> None:
    page = designer.page
    designer.click(page.get_by_role("link", name="Versions"))
    row = page.locator("[data-role=models] > li[data-version='2']")
    with page.expect_download() as coming:
        designer.click(row.get_by_role("button", name="Hand over"))
        designer.click(page.get_by_role("link", name="Download", exact=True))
    coming.value.save_as(folder / "bank.zip")
    with zipfile.ZipFile(folder / "bank.zip") as bundle:
        assert bundle.testzip() is None
