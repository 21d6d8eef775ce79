"""A version is handed over as a file that says what is in it."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

from tests.builders.held_answers import hold
from tests.builders.served_studio import Served


def test_handing_over_says_what_the_file_is_before_it_comes(
    visit: Callable[..., Page], twice: Served
) -> None:
    """A file came without a word of its size, or of labels given since the training."""
    page = visit(twice, "/versions?project=sample")
    stands = page.get_by_role("region", name="Versions").locator("[data-role=stands]")
    expect(stands).to_contain_text("of 100 texts get a wrong answer, or no answer.")
    made = hold(page, "**/models/*/bundle*")
    for number, words in (
        (1, "All labels given up to now are in it: none came after its training."),
        (2, "Labels given since its training"),
    ):
        row = page.locator(f"[data-role=models] > li[data-version='{number}']")
        row.get_by_role("button", name="Hand over").click()
        dialog = page.get_by_role("dialog", name=f"Hand over version {number}")
        expect(dialog).to_contain_text(re.compile(rf"sample-v{number}\.zip, about \d+ MB"))
        expect(dialog.locator("[data-role=labels-since]")).to_contain_text(words)
        contents = dialog.locator("[data-role=contents]")  # "all your labels" told nobody what
        expect(contents).to_contain_text(re.compile(r"and its \d+ examples as texts\."))
        expect(contents).to_contain_text("Not in it: unlabelled texts")
        link = dialog.get_by_role("link", name="Download")
        box = dialog.get_by_label("Leave out the texts of the examples")
        # What it costs was said only once it was ticked.
        expect(dialog.locator("[data-role=price]")).to_contain_text("answers the same, and cannot")
        box.check()
        expect(contents).to_contain_text("examples as hashes, without their texts.")
        expect(contents).to_contain_text("Nobody reads a text in it")
        expect(link).to_have_attribute("href", re.compile(r"/bundle\?without_texts=true$"))
        box.uncheck()
        shown = re.search(r"about (\d+) MB", dialog.inner_text())
        link.click()
        made.arrived()
        expect(dialog).to_contain_text(f"sample-v{number}.zip is being made …")
        with page.expect_download() as coming:
            made.routes.pop().fallback()
        assert coming.value.suggested_filename == f"sample-v{number}.zip"
        # The dialog was gone at once, and for 15 s nothing was said; 97 MB were told of 87.5.
        expect(dialog).to_be_hidden()
        saved = page.locator(".toast", has_text=f"sample-v{number}.zip is saved")
        told = saved.inner_text()  # it goes by itself, perhaps before the file is on the disk
        size = coming.value.path().stat().st_size / 1e6
        assert f"is saved, {size:.1f} MB." in told
        assert shown is not None
        assert abs(int(shown[1]) - size) <= 0.03 * size + 1


def came_without_texts(route: Route) -> None:
    """Answer that version 2 came without the texts of its examples."""
    versions = route.fetch().json()
    for model in versions["models"]:
        model["texts_left_out"] = model["number"] == 2
    route.fulfill(json=versions)


def test_a_version_that_came_without_texts_promises_none(
    visit: Callable[..., Page], twice: Served
) -> None:
    """“Its 58 examples as texts” was said of a file that has no text, and a box left them out."""
    page = visit(twice, "/")
    page.route("**/projects/sample/versions", came_without_texts)
    page.goto(f"{twice.base}/versions?project=sample")
    for number, told in ((2, "as hashes, without their texts."), (1, "examples as texts.")):
        row = page.locator(f"[data-role=models] > li[data-version='{number}']")
        row.get_by_role("button", name="Hand over").click()
        dialog = page.get_by_role("dialog", name=f"Hand over version {number}")
        expect(dialog.locator("[data-role=contents]")).to_contain_text(told)
        box = dialog.get_by_label("Leave out the texts of the examples")
        expect(box).to_have_count(0 if number == 2 else 1)
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
