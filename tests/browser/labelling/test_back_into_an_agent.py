"""A designer drops an agent's zip, repairs a label, and takes the same zip back with one change."""

import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.exchange.agent_steps import take_all, take_back
from tests.builders.served_studio import Served, StudioPool, run
from tests.core.platforms.exports import read_export, write_export


@pytest.fixture
def shop(tmp_path: Path, studios: StudioPool) -> Iterator[Served]:
    run(tmp_path / "home", "new", "shop")
    with studios.serving(tmp_path / "home") as served:
        yield served


def test_an_agent_comes_in_is_repaired_and_goes_back(
    visit: Callable[..., Page], shop: Served, tmp_path: Path
) -> None:
    package = write_export("dialogflow-es", tmp_path)
    page = visit(shop, "/data?project=shop")
    page.get_by_label("File to import").set_input_files(package)
    preview = page.locator("[data-role=preview]")
    expect(preview).to_contain_text("Dialogflow ES: phrases in 4 files.")
    unread = preview.locator("[data-role=unread]")
    expect(unread).to_contain_text("Texts and their labels are read, and no responses, contexts,")
    expect(unread).to_contain_text("“Back into an agent” keeps these")
    expect(preview).to_contain_text("Values for the slot book: to_city (1).")
    expect(preview.get_by_role("row", name="who won the match")).to_contain_text("out of scope")
    take_all(page)
    expect(page.locator("[data-role=imported]")).to_contain_text("5 new texts")
    repair = tmp_path / "repair.csv"
    repair.write_text("text,intent\nget me my money back,refund\n")
    run(tmp_path / "home", "import", "shop", str(repair), "--conflicts", "file")
    out = tmp_path / "back.zip"
    sheet = take_back(page, package, out)
    expect(sheet).to_contain_text("Your labels in “dialogflow-es.zip”, Dialogflow ES")
    before, after = read_export(package), read_export(out)
    changed = [name for name in before if before[name] != after[name]]
    assert changed == [
        "intents/book flight_usersays_en.json",
        "intents/refund_usersays_en.json",
    ]
    assert [one["id"] for one in json.loads(after[changed[1]])] == ["p-4", "p-2"]
    sheet.get_by_role("button", name="Close").click()
    expect(sheet).to_be_hidden()


def test_a_foreign_file_is_refused_in_words(
    visit: Callable[..., Page], shop: Served, tmp_path: Path
) -> None:
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("notes.txt", "nothing")
    page = visit(shop, "/data?project=shop")
    page.get_by_label("File that the platform exported").set_input_files(other)
    sheet = page.get_by_role("region", name="Back into an agent")
    expect(sheet.get_by_role("alert")).to_contain_text("other.zip is no export of a platform")
    with page.expect_file_chooser():
        sheet.get_by_role("button", name="Choose the export").click()
    sheet.get_by_role("button", name="Close").click()
    expect(sheet).to_be_hidden()


def test_half_a_zip_is_told_as_damaged_and_the_message_can_be_closed(
    visit: Callable[..., Page], shop: Served, tmp_path: Path
) -> None:
    whole = write_export("dialogflow-es", tmp_path).read_bytes()
    cut = tmp_path / "cut.zip"
    cut.write_bytes(whole[: len(whole) // 2])
    page = visit(shop, "/data?project=shop")
    page.get_by_label("File to import").set_input_files(cut)
    told = page.get_by_role("alert").filter(has_text="cut.zip is a damaged or incomplete ZIP")
    expect(told).to_contain_text("Download it again")
    told.get_by_role("button", name="Close this message").click()
    expect(told).to_be_hidden()
    page.get_by_label("File that the platform exported").set_input_files(cut)
    sheet = page.get_by_role("region", name="Back into an agent")
    expect(sheet.get_by_role("alert")).to_contain_text("cut.zip is a damaged or incomplete ZIP")


def test_a_deleted_phrase_leaves_the_agent_by_a_box(
    visit: Callable[..., Page], shop: Served, tmp_path: Path
) -> None:
    package = write_export("dialogflow-es", tmp_path)
    run(tmp_path / "home", "import", "shop", str(package))
    page = visit(shop, "/data?project=shop")
    row = page.get_by_role("row", name="refund my ticket")
    row.get_by_role("button", name="Delete").click()
    expect(page.locator(".toast")).to_contain_text("is deleted")
    page.locator("summary", has_text="Export").click()
    page.get_by_role("button", name="Back into an agent").click()
    sheet = page.get_by_role("region", name="Back into an agent")
    expect(sheet).to_contain_text("Choose the file that the platform exported")
    page.get_by_label("File that the platform exported").set_input_files(package)
    expect(sheet).to_contain_text("Nothing changes: 5 phrases stay as they are.")
    expect(sheet.get_by_role("link", name="Download")).to_have_count(0)
    expect(sheet).to_contain_text("phrases deleted or reworded in the project: left as they are")
    box = sheet.get_by_role("checkbox", name="1 phrase of the agent was deleted or reworded here")
    expect(box).not_to_be_checked()
    box.check()
    expect(sheet).to_contain_text("1 phrase would be removed, 4 phrases stay as they are.")
    expect(box).to_be_checked()
    sheet.get_by_text("Phrases that change (1)").click()
    expect(sheet).to_contain_text("“refund my ticket”: removed from refund")
    with page.expect_download() as downloading:
        sheet.get_by_role("link", name="Download").click()
    assert downloading.value.suggested_filename == "dialogflow-es-labelled.zip"
    out = tmp_path / "back.zip"
    downloading.value.save_as(out)
    assert json.loads(read_export(out)["intents/refund_usersays_en.json"]) == []
