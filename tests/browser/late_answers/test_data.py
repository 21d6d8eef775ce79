"""Data and History while answers are late: the newest wish stands, and no press is lost."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

from playwright.sync_api import Page, expect

from tests.builders.held_answers import hold, settle
from tests.builders.served_studio import Served, add_intent_elsewhere

ROWS = "[data-role=utterances] tr[data-id]"
SIZE = 50  # rows of a page


def test_a_change_that_comes_while_the_page_loads_is_no_error(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The page went on without its intents, and told “Cannot read properties of null”."""
    page = visit(studio)
    overviews = hold(page, "**/projects/sample/overview")
    page.goto(f"{studio.base}/data?project=sample")
    overviews.arrived()
    add_intent_elsewhere(studio)
    overviews.arrived(2)
    overviews.release(0)
    overviews.release(0)
    expect(page.locator(ROWS).first).to_be_visible()
    expect(page.locator("[data-role=splits] button").first).to_be_visible()
    expect(page.locator(".toast")).to_have_count(0)


def test_of_two_labels_given_to_a_text_the_later_one_stays(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Both were sent at once, and whichever came last to the server was the label."""
    names = {one["name"]: one["id"] for one in studio.ask("/projects/sample/overview")["intents"]}
    page = visit(studio, "/data?project=sample&state=unlabelled")
    row = page.locator(ROWS).first
    key = str(row.get_attribute("data-id"))
    edits = hold(page, "**/projects/sample/edits", "POST")
    for name in ("roaming", "data_usage"):
        row.get_by_role("button", name="Add label").click()
        page.get_by_role("combobox", name="Find an intent").fill(name)
        page.keyboard.press("Enter")
    edits.arrived()
    settle(page)
    assert len(edits.routes) == 1
    for _ in range(2):
        edits.arrived()
        edits.release()
    [labelled] = studio.ask("/projects/sample/utterances/by-ids", {"ids": [key]})
    assert labelled["labels"] == [names["data_usage"]]


def test_what_somebody_else_has_changed_meanwhile_is_not_overwritten(
    visit: Callable[..., Page], studio: Served
) -> None:
    """While a row is ticked the page does not follow: a label of somebody else was lost, untold."""
    names = {one["name"]: one["id"] for one in studio.ask("/projects/sample/overview")["intents"]}
    page = visit(studio, "/data?project=sample&state=unlabelled")
    ticked, labelled, deleted = (page.locator(ROWS).nth(at) for at in range(3))
    ticked.get_by_role("checkbox").check()
    keys = [str(row.get_attribute("data-id")) for row in (labelled, deleted)]
    for key in keys:
        label = {"filter": {"ids": [key]}, "kind": "label", "value": names["roaming"]}
        assert studio.ask("/projects/sample/edits", {**label, "expected": 1})["changed"] == 1
    told = page.locator(".toast.bad", has_text="A text was changed meanwhile.")
    labelled.get_by_role("button", name="Add label").click()
    page.get_by_role("combobox", name="Find an intent").fill("data_usage")
    page.keyboard.press("Enter")
    expect(told).to_contain_text("Nothing was overwritten. Look at it once more.")
    told.get_by_label("Close").click()
    page.goto(f"{studio.base}/data?project=sample&intent={names['roaming']}&split=train")
    for key in keys:
        expect(page.locator(f"tr[data-id='{key}'] .label-cell .chip")).to_have_text("roaming")


def test_a_text_that_somebody_else_has_labelled_is_not_deleted_unseen(
    visit: Callable[..., Page], studio: Served
) -> None:
    names = {one["name"]: one["id"] for one in studio.ask("/projects/sample/overview")["intents"]}
    page = visit(studio, "/data?project=sample&state=unlabelled")
    page.locator(ROWS).first.get_by_role("checkbox").check()
    row = page.locator(ROWS).nth(1)
    key = str(row.get_attribute("data-id"))
    label = {"filter": {"ids": [key]}, "kind": "label", "value": names["roaming"], "expected": 1}
    assert studio.ask("/projects/sample/edits", label)["changed"] == 1
    row.get_by_role("button", name="Delete this text").click()
    expect(page.locator(".toast.bad", has_text="A text was changed meanwhile.")).to_be_visible()
    [kept] = studio.ask("/projects/sample/utterances/by-ids", {"ids": [key]})
    assert kept["labels"] == [names["roaming"]]
    expect(page.locator(f"tr[data-id='{key}']")).to_have_count(0)  # it has a label, says the page


def test_a_second_press_does_not_go_beyond_the_last_page(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Two presses of Next on the last page but one showed “Nothing fits this filter”."""
    pages = -(-studio.ask("/projects/sample/utterances?size=1")["total"] // SIZE)
    page = visit(studio, f"/data?project=sample&page={pages - 2}")
    total = page.locator("[data-role=total]")
    expect(total).to_contain_text(f"page {pages - 1} of {pages}")
    rows = hold(page, "**/projects/sample/utterances?*")
    for asked in (1, 2):
        page.get_by_role("button", name="Next", exact=True).click()
        rows.arrived(asked)
    while rows.routes:
        rows.release()
    expect(total).to_contain_text(f"page {pages} of {pages}")
    expect(page.locator(ROWS).first).to_be_visible()


def test_when_the_last_page_is_empty_the_one_before_it_is_shown(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“Nothing fits this filter” stood below “50 texts”, and no button led back."""
    texts = [{"text": f"one of several pages, {number}"} for number in range(SIZE + 1)]
    assert studio.ask("/projects/sample/texts", {"texts": texts})["added"] == SIZE + 1
    page = visit(studio, "/data?project=sample&text=one of several pages&page=1")
    total = page.locator("[data-role=total]")
    expect(total).to_have_text(f"{SIZE + 1} texts, page 2 of 2")
    page.locator(ROWS).get_by_role("button", name="Delete this text").click()
    expect(total).to_have_text(f"{SIZE} texts")
    expect(page.locator(ROWS)).to_have_count(SIZE)


def test_all_texts_of_a_filter_stay_picked_on_its_other_pages(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Their boxes were empty, and yet a bulk act took them."""
    page = visit(studio, "/data?project=sample")
    boxes = page.locator(ROWS).get_by_role("checkbox")
    boxes.first.check()
    page.get_by_role("button", name="Pick all").click()
    expect(boxes.last).to_be_checked()
    picked = page.get_by_text(re.compile(r"^[\d,]+ texts picked"))
    words = picked.inner_text()
    page.get_by_role("button", name="Next", exact=True).click()
    expect(page.locator("[data-role=total]")).to_contain_text("page 2")
    for box in (page.get_by_label("Pick all of this page"), boxes.first, boxes.last):
        expect(box).to_be_checked()
    expect(picked).to_have_text(words)
    boxes.first.uncheck()  # what was picked on other pages is out of sight
    expect(picked).to_have_text(f"{SIZE - 1} texts picked")


def test_older_acts_end_with_the_first_one(visit: Callable[..., Page], studio: Served) -> None:
    """Two presses of Older showed “Nothing was done that fits”."""
    for _ in range(SIZE + 10):
        add_intent_elsewhere(studio)
    page = visit(studio, "/history?project=sample")
    older = page.get_by_role("button", name="Older")
    expect(older).to_be_enabled()
    acts = hold(page, "**/projects/sample/acts?*")
    for asked in (1, 2):
        older.click()
        acts.arrived(asked)
    while acts.routes:
        acts.release()
    expect(page.locator("[data-role=acts] tbody tr").first).to_be_visible()
    expect(page.locator("[data-role=acts]")).not_to_contain_text("Nothing was done that fits")


def test_the_beginning_of_a_log_is_masked_as_it_is_ticked(
    visit: Callable[..., Page], studio: Served, tmp_path: Path
) -> None:
    """A change of the tick and its taking back overlapped: the text stood there unmasked."""
    file = tmp_path / "log.csv"
    said = "1,0,user,write to ann@example.org\n1,1,agent,we do\n"
    file.write_text(f"conversation id,turn,speaker,text\n{said}")
    page = visit(studio, "/data?project=sample")
    page.get_by_role("link", name="Conversations").click()
    page.get_by_label("Log of conversations to import").set_input_files(file)
    preview = page.locator("[data-role=log-preview]")
    expect(preview).to_contain_text("[e-mail]")
    # What would be stored as it was said was told once it was stored.
    bare, mask = preview.locator("[data-role=unmasked]"), preview.get_by_label("Mask e-mail")
    mask.uncheck()
    expect(bare).to_contain_text("personal data is stored as it was said (1 e-mail)")
    mask.check()
    expect(bare).to_have_count(0)
    looks = hold(page, "**/dialogues/waiting/*?mask=*")
    for asked in (1, 2):
        preview.get_by_label("Mask e-mail").click()
        looks.arrived(asked)
    looks.release(1)
    looks.release(0)
    expect(preview).to_contain_text("[e-mail]")
    expect(preview).not_to_contain_text("ann@example.org")


def test_an_import_that_ends_late_leaves_the_preview_of_the_next_file(
    visit: Callable[..., Page], studio: Served, tmp_path: Path
) -> None:
    """What was imported was told in place of the file that had been chosen since."""
    for name in ("one", "two"):
        (tmp_path / f"{name}.csv").write_text(f"text,intent\nonly in file {name},roaming\n")
    page = visit(studio, "/data?project=sample")
    box, preview = page.get_by_label("File to import"), page.locator("[data-role=preview]")
    box.set_input_files(tmp_path / "one.csv")
    imports = hold(page, "**/uploads/*/import", "POST")
    preview.get_by_role("button", name="Import 1 text").click()
    imports.arrived()
    box.set_input_files(tmp_path / "two.csv")
    heading = preview.get_by_role("heading", name="two.csv")
    expect(heading).to_be_visible()
    imports.release()
    expect(page.locator(".toast")).to_contain_text("1 new text, labelled.")
    expect(heading).to_be_visible()


def test_a_change_that_came_under_a_dialog_is_shown_when_it_closes(
    visit: Callable[..., Page], studio: Served
) -> None:
    """It was passed over for good, and so was one that came while a row was picked."""
    page = visit(studio, "/data?project=sample")
    row = page.locator(ROWS).first
    row.get_by_role("checkbox").check()
    page.keyboard.press("Control+k")
    expect(page.locator("dialog")).to_be_visible()
    edit = {"filter": {"ids": [row.get_attribute("data-id")]}, "kind": "flag", "expected": 1}
    studio.ask("/projects/sample/edits", {**edit, "value": "look at it"})
    for _ in range(2):
        page.wait_for_event("requestfinished", lambda done: done.url.endswith("/status"))
    page.keyboard.press("Escape")
    settle(page)
    expect(row).not_to_contain_text("look at it")
    row.get_by_role("checkbox").uncheck()
    expect(row).to_contain_text("look at it")


def intent_of(studio: Served, name: str) -> Any:
    found = studio.ask("/projects/sample/overview")["intents"]
    return next(one for one in found if one["name"] == name)


def test_a_dialog_of_an_intent_takes_nothing_back_that_somebody_changed_under_it(
    visit: Callable[..., Page], studio: Served
) -> None:
    """It sent name and description as it had shown them, whatever they were by then."""
    page = visit(studio, "/data?project=sample")
    key = intent_of(studio, "roaming")["id"]
    dialog = page.get_by_role("dialog")
    described = dialog.get_by_label("What belongs to it, and what does not")

    def described_by_somebody(words: str) -> None:
        repair = {"kind": "describe", "intent": key, "value": words}
        studio.ask("/projects/sample/review/act", {"key": uuid4().hex, "repair": repair})

    page.get_by_role("region", name="Intents").get_by_role("button", name="roaming").click()
    described_by_somebody("what costs abroad")
    dialog.get_by_label("Name").fill("roaming_abroad")
    dialog.get_by_role("button", name="Save").click()
    entry = page.get_by_role("region", name="Intents").get_by_role("button", name="roaming_abroad")
    expect(entry).to_be_visible()
    assert intent_of(studio, "roaming_abroad")["description"] == "what costs abroad"
    entry.click()
    expect(described).to_have_value("what costs abroad")
    described_by_somebody("what is said abroad")
    described.fill("what is done abroad")
    dialog.get_by_role("button", name="Save").click()
    told = page.locator(".toast.bad", has_text="was changed meanwhile")
    expect(told).to_contain_text("Nothing was overwritten.")
    assert intent_of(studio, "roaming_abroad")["description"] == "what is said abroad"
    dialog.get_by_role("button", name="Cancel").click()
    expect(entry).to_have_attribute("title", "what is said abroad")
    entry.click()
    expect(described).to_have_value("what is said abroad")


def test_a_typed_name_is_not_dropped_by_another_act(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“Archive …” and the way to Review left the dialog, and what was typed went with it."""
    page = visit(studio, "/data?project=sample")
    page.get_by_role("region", name="Intents").get_by_role("button", name="lost_sim").click()
    dialog = page.get_by_role("dialog", name="Intent lost_sim")
    name = dialog.get_by_label("Name", exact=True)
    name.fill("lost card")
    archive = dialog.get_by_role("button", name="Archive …")
    for act in (dialog.get_by_role("link", name="Merge it in Review"), archive):
        act.click()
        told = page.locator(".toast", has_text="is not saved yet")
        expect(told).to_be_visible()
        told.get_by_role("button", name="Close this message").click()
        expect(name).to_have_value("lost card")
    name.fill("lost_sim")
    archive.click()
    expect(page.get_by_role("dialog", name="Archive lost_sim?")).to_be_visible()


def test_an_intent_whose_texts_do_not_come_back_stays_archived(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    """Undo brought it back first: it was an answer again, and none of its texts had it."""
    served = serve()
    page = visit(served, "/data?project=sample")
    roaming = intent_of(served, "roaming")
    entry = page.get_by_role("region", name="Intents").get_by_role("button", name="roaming")
    entry.click()
    page.get_by_role("button", name="Turn into out of scope …").click()
    page.get_by_label(f"Also {roaming['tests']} test texts").check()
    page.get_by_role("button", name="out of scope and archive roaming").click()
    told = page.locator(".toast", has_text="roaming is archived.")
    expect(entry).to_contain_text("archived")
    [row, *_] = served.ask("/projects/sample/utterances?state=out-of-scope&order=changed")["rows"]
    label = intent_of(served, "lost_sim")["id"]
    edit = {"filter": {"ids": [row["id"]]}, "kind": "label", "value": label, "expected": 1}
    served.ask("/projects/sample/edits", {**edit, "also": ["labelled", "test"]})
    told.get_by_role("button", name="Undo").click()
    expect(page.locator(".toast.bad")).to_contain_text("changed meanwhile")
    assert intent_of(served, "roaming")["archived"]
