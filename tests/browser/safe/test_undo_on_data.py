"""Undo and Redo stand on the Data page where they do something, in one row with Export."""

import json
import re
import urllib.request
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.builders.held_answers import hold
from tests.builders.served_studio import Served


def test_to_save_a_text_without_a_change_is_no_act(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    """The field has line ends of its own, and a text from Windows was changed by Save alone."""
    served = serve(empty=True)
    served.ask("/projects", {"name": "lines", "task": "single-label"})
    served.ask("/projects/lines/texts", {"texts": [{"text": "hello\r\ngood day"}]})
    page = visit(served, "/data?project=lines")
    page.get_by_title("Edit the text").click()
    dialog = page.get_by_role("dialog", name="Edit the text")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    page.wait_for_timeout(300)
    [row] = served.ask("/projects/lines/utterances")["rows"]
    assert row["text"] == "hello\r\ngood day"


def test_undo_and_redo_are_usable_only_where_they_do_something(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    """On a project where nothing had been done both looked usable, and did nothing."""
    served = serve(empty=True)
    served.ask("/projects", {"name": "fresh", "task": "single-label"})
    page = visit(served, "/data?project=fresh")
    acts = page.locator(".data-acts")
    undo, redo = (acts.get_by_role("button", name=name) for name in ("Undo", "Redo"))
    expect(page.get_by_role("heading", name="No texts yet")).to_be_visible()
    expect(undo).to_have_count(0)
    expect(redo).to_have_count(0)
    expect(page.get_by_label("Search in texts")).to_be_hidden()  # there was nothing to find
    served.ask("/projects/fresh/intents", {"name": "first", "description": ""})
    expect(undo).to_have_text("Undo: create intent first")  # it did not say what it would take back
    expect(undo).to_have_attribute(
        "title", re.compile(r"^Takes back the newest action: .* \(Ctrl Z\)$")
    )
    undo.click()
    expect(undo).to_have_count(0)
    expect(redo).to_be_focused()
    expect(redo).to_have_attribute("title", re.compile(r"\(Ctrl Shift Z\)$"))
    redo.click()
    expect(undo).to_be_visible()
    expect(redo).to_have_count(0)


def test_undo_takes_back_what_its_button_names_alone(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    """The button named one's own act, and the press took back another person's newer one."""
    served = serve(empty=True)
    served.ask("/projects", {"name": "both", "task": "single-label"})
    served.ask("/projects/both/intents", {"name": "mine", "description": ""})
    page = visit(served, "/data?project=both")
    undo = page.locator("[data-key=undo]")
    expect(undo).to_have_text("Undo: create intent mine")
    held = hold(page, "**/projects/both/status")
    served.ask("/projects/both/intents", {"name": "theirs", "description": ""})
    undo.click()
    expect(page.locator(".toast")).to_contain_text("Something else was done meanwhile")
    intents = served.ask("/projects/both/overview")["intents"]
    assert {one["name"] for one in intents} == {"mine", "theirs"}
    page.unroute_all(behavior="ignoreErrors")
    for route in held.routes:
        route.fallback()
    expect(undo).to_have_text("Undo: create intent theirs")
    undo.click()
    expect(undo).to_have_text("Undo: create intent mine")


def test_redo_does_again_what_was_taken_back_on_this_page_alone(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    """Another person took back something else just before the press, and that was done again."""
    served = serve(empty=True)
    served.ask("/projects", {"name": "again", "task": "single-label"})
    for name in ("first", "second"):
        served.ask("/projects/again/intents", {"name": name, "description": ""})
    page = visit(served, "/data?project=again")
    undo, redo = page.locator("[data-key=undo]"), page.locator("[data-key=redo]")
    expect(undo).to_have_text("Undo: create intent second")
    undo.click()
    expect(undo).to_have_text("Undo: create intent first")
    expect(redo).to_be_visible()
    held = hold(page, "**/projects/again/status")
    served.ask("/projects/again/undo", {})
    redo.click()
    expect(page.locator(".toast.bad")).to_contain_text("Something else was done meanwhile")
    assert served.ask("/projects/again/overview")["intents"] == []
    page.unroute_all(behavior="ignoreErrors")
    for route in held.routes:
        route.fallback()


def test_on_a_phone_undo_leaves_room_for_export_beside_it(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Undo named a file, and Export stood in a row of its own, askew."""
    page = visit(studio, "/data?project=sample", viewport={"width": 390, "height": 844})
    acts = page.locator(".data-acts")
    undo, export = acts.locator("[data-key=undo]"), acts.get_by_text("Export", exact=True)
    expect(undo).to_contain_text("Undo: ")
    first, last = undo.bounding_box(), export.bounding_box()
    assert first
    assert last
    assert abs(first["y"] - last["y"]) <= 1
    assert last["x"] + last["width"] <= 390 - 15


def test_undo_of_a_large_act_asks_first(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    """One press took an import of 300 texts back, beside Export."""
    served = serve(empty=True)
    served.ask("/projects", {"name": "large", "task": "single-label"})
    texts = "\n".join(f"text number {at}" for at in range(21))
    page = visit(served, "/data?project=large")
    file = {"name": "many.txt", "mimeType": "text/plain", "buffer": texts.encode()}
    page.get_by_label("File to import").set_input_files([file])
    preview = page.locator("[data-role=preview]")
    preview.get_by_role("button", name=re.compile("^Import")).click()
    undo = page.locator("[data-key=undo]")
    page.locator("[data-role=imported]").get_by_label("Close this message").click()
    expect(undo).to_have_text("Undo: import of many.txt (21 texts) …")
    undo.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("This undoes: import of many.txt (21 texts).")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.keyboard.type("undo the last")
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("This undoes: import of many.txt (21 texts).")
    page.keyboard.press("Escape")
    assert served.ask("/projects/large/overview")["counts"]["total"] == 21
    undo.click()
    dialog.get_by_role("button", name="Undo", exact=True).click()
    expect(page.locator("[data-key=redo]")).to_be_visible()
    assert served.ask("/projects/large/overview")["counts"]["total"] == 0


def test_one_undo_and_one_train_stand_on_the_page_at_a_time(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    """After an import two buttons Train and two Undo stood there, after a deletion two Undo."""
    served = serve(empty=True)
    served.ask("/projects", {"name": "once", "task": "single-label"})
    page = visit(served, "/data?project=once")
    rows = "\n".join(f"text {at} of {name},{name}" for at in range(20) for name in ("a", "b"))
    file = {"name": "few.csv", "mimeType": "text/csv", "buffer": f"text,intent\n{rows}".encode()}
    page.get_by_label("File to import").set_input_files([file])
    page.get_by_role("button", name=re.compile("^Import 40 texts")).click()
    told = page.locator("[data-role=imported]")
    trains = page.locator(".beside-rail a:visible", has_text=re.compile("^Train"))
    undos = page.locator(".studio button:visible", has_text="Undo")
    expect(told.get_by_role("link", name="Train")).to_be_visible()
    expect(page.locator(".next-line [data-role=next]")).to_have_count(1)
    expect(trains).to_have_count(1)
    expect(undos).to_have_text("Undo")
    told.get_by_label("Close this message").click()
    expect(trains).to_have_count(1)
    expect(undos).to_have_text("Undo: import of few.csv (40 texts) …")
    page.get_by_role("button", name="Delete this text").first.click()
    toast = page.locator(".toast", has_text="is deleted")
    expect(undos).to_have_text("Undo")
    toast.get_by_label("Close this message").click()
    expect(undos).to_have_text(re.compile("^Undo: delete “text"))


def told_by_customers(studio: Served, *texts: str) -> None:
    """Bring a log of one conversation for each text into the project `talk`."""
    lines = "\n".join(json.dumps([text, "One moment."]) for text in texts)
    part = '--x\r\nContent-Disposition: form-data; name="file"; filename="chats.jsonl"\r\n\r\n'
    headers = {
        "Authorization": f"Bearer {studio.token}",
        "Content-Type": "multipart/form-data; boundary=x",
    }
    request = urllib.request.Request(
        f"{studio.base}/api/projects/talk/dialogues",
        f"{part}{lines}\r\n--x--\r\n".encode(),
        headers,
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        key = json.load(answer)["key"]
    studio.ask(f"/projects/talk/dialogues/waiting/{key}/import", {})


def test_a_log_takes_no_label_and_no_test_text_along_unless_they_are_ticked(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    """“These 4 texts” were test texts, too, and the dialog never said so.

    Their Undo brought the log back first, and no text where that was refused.
    """
    served = serve(empty=True)
    served.ask("/projects", {"name": "talk", "task": "single-label"})
    told_by_customers(served, "hello", "good day", "a bill", "a refund")
    ids = {row["text"]: row["id"] for row in served.ask("/projects/talk/utterances")["rows"]}
    for text, kind, value in (("a bill", "move", "test"), ("a refund", "out-of-scope", "")):
        edit = {"filter": {"ids": [ids[text]]}, "kind": kind, "value": value, "expected": 1}
        served.ask("/projects/talk/edits", edit)
    page = visit(served, "/data?project=talk")
    page.goto(f"{served.base}/data?project=talk#conversations")
    page.get_by_role("button", name="Delete chats.jsonl").click()
    asked = page.locator("[data-role=deletion]")
    labelled, test = (
        asked.get_by_label(f"Delete 1 {kind} text, too") for kind in ("labelled", "test")
    )
    expect(test).to_be_disabled()
    asked.get_by_label("Delete 2 unlabelled texts, too").check()
    expect(labelled).to_be_enabled()
    test.check()
    page.get_by_role("button", name="Delete log", exact=True).click()
    said = page.locator(".toast", has_text="chats.jsonl is deleted.")
    expect(said).to_contain_text("3 texts went with it. 1 text of it stays on Data.")
    rows = served.ask("/projects/talk/utterances")["rows"]
    assert [row["text"] for row in rows] == ["a refund"]
    told_by_customers(served, "something else")
    said.get_by_role("button", name="Undo").click()
    expect(page.locator(".toast.bad")).to_contain_text("another log was added since")
    expect(page.locator(".toast", has_text="The texts of chats.jsonl are back.")).to_be_visible()
    texts = {row["text"] for row in served.ask("/projects/talk/utterances")["rows"]}
    assert texts == {*ids, "something else"}
