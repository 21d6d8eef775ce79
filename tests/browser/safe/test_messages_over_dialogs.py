"""Messages are read, heard and pressed, over a dialog, too, for as long as somebody is at them."""

import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from tests.builders.held_answers import hold
from tests.builders.served_studio import Served


def test_what_is_offered_to_be_undone_can_be_undone_over_a_dialog(
    visit: Callable[..., Page], studio: Served
) -> None:
    """A press on Undo met the dialog's shade, and the message was gone before it was closed."""
    page = visit(studio, "/data?project=sample&split=train")
    rows = page.locator("[data-role=utterances] tr[data-id]")
    key = rows.first.get_attribute("data-id")
    rows.first.get_by_role("button", name="Delete this text").click()
    expect(page.locator(f"tr[data-id='{key}']")).to_have_count(0)
    message = page.locator(".toast", has_text="is deleted.")
    rows.nth(1).get_by_title("Edit the text").click()
    dialog = page.get_by_role("dialog", name="Edit the text")
    expect(dialog).to_be_visible()
    expect(message).to_be_in_viewport(ratio=1)
    expect_heard(page, "is deleted.")
    message.get_by_role("button", name="Undo").click()
    told = page.locator(".toast", has_text="Taken back: “")
    told.hover()  # which keeps it however long the rest takes
    expect_heard(page, "Taken back: “")
    dialog.get_by_role("button", name="Cancel").press("Enter")
    expect(dialog).to_be_hidden()
    expect(told).to_be_visible()  # it outlives the dialog
    expect_heard(page, "Taken back: “")
    expect(page.locator(f"tr[data-id='{key}']")).to_be_visible()


def test_a_message_that_comes_under_a_dialog_stands_over_it(
    visit: Callable[..., Page], studio: Served
) -> None:
    """What the act before had done was told behind the list of keys."""
    page = visit(studio, "/label?project=sample")
    expect(page.locator(".option .share")).to_have_count(5)
    similar = hold(page, "**/similar", "POST")
    page.keyboard.press("m")
    similar.arrived()
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys of this page")
    expect(keys).to_be_visible()
    similar.routes.pop().fulfill(status=500, json={"message": "The disk is full.", "hint": ""})
    message = page.locator(".toast.bad", has_text="The disk is full.")
    expect(message).to_be_in_viewport(ratio=1)
    expect_heard(page, "The disk is full.")
    page.set_viewport_size({"width": 390, "height": 844})
    message.get_by_role("button", name="Close this message").click()
    expect(message).to_have_count(0)
    expect(keys).to_be_visible()


def test_a_message_stays_while_the_pointer_or_the_focus_is_on_it(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Undo vanished under the hand that was about to press it."""
    page = visit(studio, "/data?project=sample&split=train")
    rows = page.locator("[data-role=utterances] tr[data-id]")
    key = rows.first.get_attribute("data-id")
    page.clock.install()
    rows.first.get_by_role("button", name="Delete this text").click()
    message = page.locator(".toast", has_text="is deleted.")
    message.hover()
    page.clock.run_for(60_000)
    expect(message).to_be_visible()
    undo = message.get_by_role("button", name="Undo")
    undo.focus()
    page.mouse.move(1, 1)
    page.clock.run_for(60_000)
    expect(message).to_be_visible()
    undo.press("Enter")
    expect(page.locator(f"tr[data-id='{key}']")).to_be_visible()
    back = page.locator(".toast", has_text="Taken back: “")
    expect(back).to_be_visible()
    page.clock.run_for(60_000)
    expect(back).to_have_count(0)


def expect_heard(page: Page, words: str) -> None:
    """The browser tells screen readers what moved some time after it draws it."""
    given_up = time.monotonic() + 5
    while not is_heard(page, words):
        assert time.monotonic() < given_up, f"no live region says {words!r}"
        page.wait_for_timeout(50)


def is_heard(page: Page, words: str) -> bool:
    """Whether a live region tells a screen reader these words: what a dialog hides it does not."""
    session = page.context.new_cdp_session(page)
    nodes = {one["nodeId"]: one for one in session.send("Accessibility.getFullAXTree")["nodes"]}
    session.detach()

    def is_told(node: dict[str, Any]) -> bool:
        """Whether a node is a live region that is not hidden, or lies in one."""
        parent = nodes.get(node.get("parentId", ""))
        is_live = node.get("role", {}).get("value") == "status" and not node["ignored"]
        return is_live or (parent is not None and is_told(parent))

    said = [one for one in nodes.values() if words in one.get("name", {}).get("value", "")]
    return any(is_told(one) for one in said if not one["ignored"])
